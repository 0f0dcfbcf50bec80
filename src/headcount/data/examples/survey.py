"""A survey of a town on a new tram line: open answers of four waves, which a campaign moves."""

from collections.abc import Sequence
from random import Random

from headcount.data.examples.files import csv_text, truth_text
from headcount.data.examples.phrases import Writer

__all__ = ["SURVEY_SEED", "survey_files"]

SURVEY_SEED = 2023
POSITIONS = ("against", "unsure", "for")
ANSWERS = {
    "against": (
        "far too expensive", "the money is needed for schools", "years of building sites in front of my shop",
        "the bus is good enough", "they will cut down the old trees", "we lose all the parking on {street}",
        "nobody asked us", "trams are noisy", "it will never pay for itself", "the rents will go up",
        "waste of tax money", "not needed in a town of this size", "leave {street} as it is", "I do not trust the cost figures",
    ),
    "unsure": (
        "it depends on the route", "I have not read the plans yet", "I can see both sides", "hard to say",
        "good idea but the cost worries me", "maybe, if the fares stay low", "I would have to know more about it",
        "do not know", "not sure that it helps us in {quarter}", "let us see what the vote says", "no strong opinion",
        "perhaps a bus lane would do",
    ),
    "for": (
        "finally less traffic on {street}", "good for the climate", "I could leave the car at home",
        "quicker to the hospital and the university", "trams are reliable", "my children could go to school alone",
        "the buses are always full", "cleaner air", "it brings people into the centre", "overdue for years",
        "other towns have done it and love it", "easier for old people and wheelchairs", "we need it in {quarter}",
        "better than more cars",
    ),
}  # fmt: skip
ASIDES = (
    "I live near {street}", "I work in {quarter}", "we moved here two years ago", "I mostly cycle", "I drive to work",
    "my neighbours talk about nothing else", "I read about it in the paper", "there was a leaflet in the post",
)  # fmt: skip
SLOTS = {
    "street": ("Mill Road", "the High Street", "Station Road", "the ring road", "Castle Street"),
    "quarter": ("the north", "Eastfield", "the old town", "Harbour Side", "the new estate"),
}
PHRASE_SHARES = {
    "against": (0.25, 0.20, 0.15, 0.40),
    "unsure": (0.20, 0.20, 0.20, 0.40),
    "for": (0.15, 0.20, 0.25, 0.40),
}
"""Shares of further phrases against, unsure and for, and of asides, in the answers of each position."""
_AGES = ("18-34", "35-54", "55+")
_AGE_SHARES = (0.25, 0.35, 0.40)
"""Shares of age groups among those who answer; the young answer less often than they are in the town."""
_WEIGHTS = {"18-34": 1.28, "35-54": 1.0, "55+": 0.82}
REGIONS = ("centre", "north", "east", "harbour")
_REGION_SHARES = (0.3, 0.3, 0.2, 0.2)
_CODED = (0.34, 0.33, 0.33)
"""Shares of positions among the answers that were coded by hand: about as many of each."""
_WAVES = {1: (0.45, 0.25, 0.30), 2: (0.42, 0.23, 0.35), 3: (0.34, 0.20, 0.46), 4: (0.31, 0.14, 0.55)}
"""Shares of positions in each wave."""
_AGE_LEAN = {"18-34": (0.7, 1.0, 1.35), "35-54": (1.0, 1.0, 1.0), "55+": (1.25, 1.0, 0.8)}
"""By what the positions of an age group are more, or less, frequent."""


def survey_files(n_coded: int = 900, n_wave: int = 600, seed: int = SURVEY_SEED) -> dict[str, str]:
    r"""Make the files of the example: content as CSV, by file name.

    Examples
    --------
    >>> files = survey_files(n_coded=10, n_wave=5)
    >>> list(files), files["new_answers.csv"].count("\n")
    (['coded_answers.csv', 'new_answers.csv', 'true_positions.csv'], 21)
    """
    generator = Random(seed)  # of the standard library: the same for all versions
    writer = Writer(generator, SLOTS, slip=0.15)
    coded = [_person(1, _CODED, generator, writer) for _ in range(n_coded)]
    new = [_person(wave, shares, generator, writer) for wave, shares in _WAVES.items() for _ in range(n_wave)]
    names = ("person", "wave", "age", "region", "weight", "answer")
    groupings = [(str(row[0]), row[-1]) for row in new]
    for column, values in ((2, REGIONS), (1, _AGES)):
        groupings += [(value, row[-1]) for value in sorted(values) for row in new if row[column] == value]
    return {
        "coded_answers.csv": csv_text((*names, "position"), ((f"A{i:04}", *row) for i, row in enumerate(coded, 1))),
        "new_answers.csv": csv_text(names, ((f"B{i:04}", *row[:-1]) for i, row in enumerate(new, 1))),
        "true_positions.csv": truth_text(groupings, POSITIONS),
    }


def _person(
    wave: int, shares: Sequence[float], generator: Random, writer: Writer
) -> tuple[int, str, str, float, str, str]:
    """Draw wave, age, region, weight, answer and position of a person."""
    age = generator.choices(_AGES, _AGE_SHARES)[0]
    region = generator.choices(REGIONS, _REGION_SHARES)[0]
    weights = [share * factor for share, factor in zip(shares, _AGE_LEAN[age], strict=True)]
    position = generator.choices(POSITIONS, weights)[0]
    kinds = (*(ANSWERS[name] for name in POSITIONS), ASIDES)
    phrases = writer.several(ANSWERS[position], kinds, PHRASE_SHARES[position], generator.randrange(2, 6))
    weight = round(_WEIGHTS[age] * generator.uniform(0.9, 1.1), 2)
    return wave, age, region, weight, writer.with_slips(", ".join(phrases)), position
