"""A small made-up example: labelled reviews, a year of unlabelled ones, and their true shares."""

import numpy as np

from headcount.data.examples.files import csv_text

__all__ = ["SEED", "example_files"]

SEED = 2022
_PRAISE = (
    "works perfectly", "love it", "great value for the price", "easy to set up", "the screen is bright and sharp",
    "battery lasts for days", "my kids use it every day", "would buy it again", "arrived early and well packed", "very fast",
    "exactly what I was looking for", "sound is surprisingly good", "best purchase this year", "light and comfortable to hold",
)  # fmt: skip
_BLAME = (
    "stopped working after a week", "very disappointed", "waste of money", "the screen froze again and again", "returned it",
    "battery dies within an hour", "customer service never answered", "would not recommend", "arrived broken", "painfully slow",
    "the cable does not fit", "sound is tinny", "had to restart it every day", "feels cheap and flimsy",
)  # fmt: skip
_FILLER = (
    "bought it for my mother", "I read a lot", "we have two of these", "use it on the train", "it is black", "comes with a charger",
    "this is my third one", "ordered on a Sunday", "I use it mostly for books", "it was a gift", "I compared several models",
    "had the older version before", "it sits on the kitchen table", "the box is smaller than I thought",
)  # fmt: skip
_KINDS = (_PRAISE, _BLAME, _FILLER)
_STARS = ("low", "middle", "high")
_PHRASE_SHARES = np.array([[0.10, 0.58, 0.32], [0.34, 0.33, 0.33], [0.58, 0.10, 0.32]])
"""Shares of praise, blame and filler in reviews with low, middle and high stars (rows)."""
_LABELLED_SHARES = np.array([0.15, 0.25, 0.60])
_BAD_SHARES = np.array([0.60, 0.25, 0.15])
"""Shares of stars after a bad release."""
_BAD_WEIGHTS = (0.0, 0.0, 0.05, 0.05, 0.1, 0.1, 0.8, 1.0, 0.8, 0.5, 0.3, 0.2)
"""Weight of the bad shares in each month; the rest is that of the labelled shares."""


def example_files(n_labelled: int = 3_000, n_month: int = 500, seed: int = SEED) -> dict[str, str]:
    r"""Make the files of the example: content as CSV, by file name.

    ``reviews.csv`` holds labelled reviews (columns review, stars), ``new.csv`` twelve months of unlabelled ones (date, review), and
    ``truth.csv`` the shares of each month, to compare estimates with.

    Examples
    --------
    >>> files = example_files(n_labelled=10, n_month=2)
    >>> list(files), files["new.csv"].count("\n")
    (['reviews.csv', 'new.csv', 'truth.csv'], 25)
    """
    generator = np.random.default_rng(seed)
    labelled = [
        (_review(stars, generator), stars) for stars in generator.choice(_STARS, n_labelled, p=_LABELLED_SHARES)
    ]
    new, truth = [], []
    for month, weight in enumerate(_BAD_WEIGHTS, 1):
        shares = (1.0 - weight) * _LABELLED_SHARES + weight * _BAD_SHARES
        stars = generator.choice(_STARS, n_month, p=shares)
        days = np.sort(generator.integers(1, 29, n_month))
        new += [(f"2025-{month:02}-{day:02}", _review(s, generator)) for day, s in zip(days, stars, strict=True)]
        truth.append((f"2025-{month:02}", *(round(float(np.mean(stars == s)), 4) for s in _STARS)))
    return {
        "reviews.csv": csv_text(("review", "stars"), labelled),
        "new.csv": csv_text(("date", "review"), new),
        "truth.csv": csv_text(("month", *_STARS), truth),
    }


def _review(stars: str, generator: np.random.Generator) -> str:
    kinds = generator.choice(3, generator.integers(8, 25), p=_PHRASE_SHARES[_STARS.index(stars)])
    return ", ".join(_KINDS[kind][generator.integers(len(_KINDS[kind]))] for kind in kinds)
