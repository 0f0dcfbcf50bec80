"""Guests of a hotel: comments with stars from 1 to 5, and months in which the house was renovated."""

from collections.abc import Sequence
from random import Random

from headcount.data.examples.files import csv_text, truth_text
from headcount.data.examples.phrases import Writer

__all__ = ["STAYS_SEED", "stay_files"]

STAYS_SEED = 2025
STARS = (1, 2, 3, 4, 5)
_PHRASES = (
    (
        "never again", "the room was filthy", "bed bugs", "the shower did not work at all", "they charged us twice",
        "we left after one night", "the staff shouted at us", "mould in the bathroom",
    ),
    (
        "rather dirty", "hardly slept, the street is so loud", "the heating was broken", "breakfast was cold",
        "waited an hour for {thing}", "the room smelled of smoke", "nobody answered the phone", "not worth the price",
    ),
    (
        "it was all right", "small room but you can sleep there", "breakfast as everywhere", "a bit worn",
        "fine for one night", "neither good nor bad", "the lift is slow", "average for {place}",
    ),
    (
        "friendly staff", "clean and quiet", "good breakfast", "close to {place}", "comfortable bed",
        "good value", "we would come again", "nice view of {place}",
    ),
    (
        "the best stay in years", "wonderful people at the desk", "the breakfast is a dream", "spotless",
        "they upgraded us without being asked", "perfect in every way", "we did not want to leave", "a hidden gem",
    ),
)  # fmt: skip
_ASIDES = (
    "we came by train", "third floor", "two nights in {place}", "booked it for a conference", "our children were with us",
    "we had the corner room", "stayed here before", "one suitcase each", "it rained all weekend",
)  # fmt: skip
_SLOTS = {
    "place": ("the harbour", "the old town", "the station", "the park"),
    "thing": ("the key", "a towel", "the bill", "a taxi"),
}
_OWN, _NEXT, _ASIDE = 0.36, 0.13, 0.30
"""Weights of further phrases of a comment's own stars, of one star more or less, and of asides; the rest is of other stars."""
_USUAL, _RENOVATED = (0.05, 0.08, 0.17, 0.38, 0.32), (0.16, 0.22, 0.27, 0.22, 0.13)
_RENOVATION = {1: 0.0, 2: 0.0, 3: 0.6, 4: 1.0, 5: 0.5, 6: 0.0}
"""How far the shares of stars in each month are from the usual ones towards those of the renovation."""


def stay_files(n_each: int = 150, n_month: int = 400, seed: int = STAYS_SEED) -> dict[str, str]:
    r"""Make the files of the example: content as CSV, by file name.

    Examples
    --------
    >>> files = stay_files(n_each=2, n_month=5)
    >>> list(files), files["new_stays.csv"].count("\n")
    (['stays.csv', 'new_stays.csv', 'true_stars.csv'], 31)
    """
    generator = Random(seed)  # of the standard library: the same for all versions
    writer = Writer(generator, _SLOTS, slip=0.15)
    rated = [(_comment(stars, generator, writer), stars) for stars in STARS for _ in range(n_each)]
    generator.shuffle(rated)
    new, groupings = [], []
    for month, weight in _RENOVATION.items():
        shares = [(1.0 - weight) * usual + weight * other for usual, other in zip(_USUAL, _RENOVATED, strict=True)]
        drawn = generator.choices(STARS, shares, k=n_month)
        days = sorted(generator.randrange(1, 29) for _ in range(n_month))
        new += [
            (f"2025-{month:02}-{day:02}", _comment(s, generator, writer)) for day, s in zip(days, drawn, strict=True)
        ]
        groupings += [(f"2025-{month:02}", str(stars)) for stars in drawn]
    return {
        "stays.csv": csv_text(("comment", "stars"), rated),
        "new_stays.csv": csv_text(("date", "comment"), new),
        "true_stars.csv": truth_text(groupings, [str(stars) for stars in STARS]),
    }


def _comment(stars: int, generator: Random, writer: Writer) -> str:
    kinds: Sequence[Sequence[str]] = (*_PHRASES, _ASIDES)
    off = [abs(star - stars) for star in STARS]
    weights = [(_OWN, _NEXT)[d] if d < 2 else 0.04 for d in off]
    phrases = writer.several(_PHRASES[stars - 1], kinds, [*weights, _ASIDE], generator.randrange(2, 6))
    return writer.with_slips(", ".join(phrases))
