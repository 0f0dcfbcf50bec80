"""A survey from door to door on a new tram line: answers of one household are alike, and regions are drawn with unequal chances."""

from random import Random

from headcount.data.examples.files import csv_text
from headcount.data.examples.phrases import Writer
from headcount.data.examples.survey import ANSWERS, ASIDES, PHRASE_SHARES, POSITIONS, REGIONS, SLOTS

__all__ = ["HOUSEHOLDS_SEED", "household_files"]

HOUSEHOLDS_SEED = 2024
_REGION_PARTS = (0.4, 0.3, 0.2, 0.1)
"""Parts of the town's people that live in each region; as many households are drawn in each."""
_SHARES = {
    "coded": ((0.3, 0.3, 0.4), (0.3, 0.4, 0.3), (0.4, 0.3, 0.3), (0.4, 0.3, 0.3)),
    "new": ((0.25, 0.15, 0.60), (0.40, 0.20, 0.40), (0.55, 0.20, 0.25), (0.70, 0.15, 0.15)),
}
"""Shares of positions against, unsure and for in each region."""
_AGREES = 0.6
"""Chance that a member of a household has the position of the first one, whatever that of others in the region."""
_MEMBERS = (2, 6)
"""Fewest members of a household, and one more than the most."""


def household_files(n_coded: int = 240, n_new: int = 320, seed: int = HOUSEHOLDS_SEED) -> dict[str, str]:
    r"""Make the files of the example: content as CSV, by file name.

    Parameters
    ----------
    n_coded, n_new : int
        Households, a quarter of them in each region.
    seed : int

    Examples
    --------
    >>> files = household_files(n_coded=4, n_new=4)
    >>> print(files["true_town.csv"], end="")
    position,true_share
    against,0.4
    unsure,0.175
    for,0.425
    """
    generator = Random(seed)  # of the standard library: the same for all versions
    writer = Writer(generator, SLOTS, slip=0.15)
    names = ("household", "region", "weight", "answer")
    coded, new = (_answers(kind, n, generator, writer) for kind, n in (("coded", n_coded), ("new", n_new)))
    town = [sum(p * s[j] for p, s in zip(_REGION_PARTS, _SHARES["new"], strict=True)) for j in range(len(POSITIONS))]
    return {
        "coded_households.csv": csv_text((*names, "position"), coded),
        "new_households.csv": csv_text(names, [row[:-1] for row in new]),
        "true_town.csv": csv_text(
            ("position", "true_share"), [(name, round(share, 4)) for name, share in zip(POSITIONS, town, strict=True)]
        ),
    }


def _answers(kind: str, n_households: int, generator: Random, writer: Writer) -> list[tuple[str, str, float, str, str]]:
    """Draw household, region, weight, answer and position of each person."""
    kinds = (*(ANSWERS[name] for name in POSITIONS), ASIDES)
    rows = []
    for household in range(n_households):
        region = household % len(REGIONS)
        shares = _SHARES[kind][region]
        weight = round(_REGION_PARTS[region] * len(REGIONS), 2)
        first = generator.choices(POSITIONS, shares)[0]
        aside = writer.one(ASIDES)  # what a household talks about
        for member in range(generator.randrange(*_MEMBERS)):
            own = generator.choices(POSITIONS, shares)[0]
            position = first if member == 0 or generator.random() < _AGREES else own
            phrases = writer.several(ANSWERS[position], kinds, PHRASE_SHARES[position], generator.randrange(1, 5))
            text = ", ".join([*phrases, aside] if generator.random() < 0.5 else phrases)
            name = f"{'A' if kind == 'coded' else 'B'}{household + 1:03}"
            rows.append((name, REGIONS[region], weight, writer.with_slips(text), position))
    return rows
