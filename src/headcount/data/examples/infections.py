"""Tests for an infection: a study of people with known results, 16 weeks of others at three sites, and a bad batch of kits."""

from collections import Counter
from datetime import date
from random import Random

from headcount.data.examples.files import csv_text, truth_text

__all__ = ["INFECTION_SEED", "infection_files"]

INFECTION_SEED = 2020
_NEGATIVE, _POSITIVE = "negative", "positive"
_READINGS = (_NEGATIVE, "unclear", _POSITIVE)
_SITES = ("airport", "clinic", "school")
_SITE_ODDS = (0.6, 1.8, 0.9)
"""Factor of the odds of an infection at each site."""
_WEEKLY = (
    0.010,
    0.012,
    0.016,
    0.022,
    0.032,
    0.048,
    0.070,
    0.095,
    0.118,
    0.125,
    0.115,
    0.092,
    0.068,
    0.048,
    0.034,
    0.026,
)
"""Share of infected people in each week, before the factors of sites."""
_STUDY_INFECTED = 0.4
_SYMPTOMS = {_NEGATIVE: (0.08, 0.18, 0.02), _POSITIVE: (0.45, 0.55, 0.35)}
"""Shares of people with fever, cough and loss of smell."""
_SIGNAL = {_NEGATIVE: (0.22, 0.16), _POSITIVE: (0.82, 0.34)}
"""Mean and standard deviation of the signal of the assay."""
_READ_AS = (0.45, 0.60)
"""Signals below the first are read as negative, from the second on as positive, and as unclear between them."""
_BAD_WEEKS, _BAD_SITE, _BAD_SIGNAL = (13, 14), "airport", 0.25
"""Weeks and site of a bad batch of kits, and what it adds to each signal."""


def infection_files(n_study: int = 1_000, n_site: int = 150, seed: int = INFECTION_SEED) -> dict[str, str]:
    r"""Make the files of the example: content as CSV, by file name.

    Examples
    --------
    >>> files = infection_files(n_study=20, n_site=1)
    >>> list(files), files["new_tests.csv"].count("\n")
    (['study.csv', 'new_tests.csv', 'confusion.csv', 'counts.csv', 'true_infections.csv'], 49)
    """
    generator = Random(seed)  # of the standard library: the same for all versions
    study = [_person(generator.random() < _STUDY_INFECTED, generator) for _ in range(n_study)]
    new = []
    for number, share in enumerate(_WEEKLY, 1):
        for site, factor in zip(_SITES, _SITE_ODDS, strict=True):
            odds = factor * share / (1.0 - share)
            added = _BAD_SIGNAL if number in _BAD_WEEKS and site == _BAD_SITE else 0.0
            for _ in range(n_site):
                infected = generator.random() < odds / (1.0 + odds)
                tested = date.fromisocalendar(2025, number, generator.randrange(1, 6))
                new.append((f"2025-W{number:02}", tested.isoformat(), site, *_person(infected, generator, added)))
    new.sort(key=lambda row: row[:2])
    columns = ("age", "fever", "cough", "smell_loss", "signal")
    of_study = Counter((row[-1], _reading(row[-2])) for row in study)
    of_weeks = Counter((row[0], _reading(row[-2])) for row in new)
    weeks = list(dict.fromkeys(row[0] for row in new))
    matrix = [(status, *(of_study[status, reading] for reading in _READINGS)) for status in (_NEGATIVE, _POSITIVE)]
    counts = [(week, reading, of_weeks[week, reading]) for week in weeks for reading in _READINGS]
    groups = [(row[0], row[-1]) for row in new] + [(site, row[-1]) for site in _SITES for row in new if row[2] == site]
    return {
        "study.csv": csv_text((*columns, "pcr"), study),
        "new_tests.csv": csv_text(("tested", "site", *columns), (row[1:-1] for row in new)),
        "confusion.csv": csv_text(("pcr", *_READINGS), matrix),
        "counts.csv": csv_text(("week", "class", "count"), counts),
        "true_infections.csv": truth_text(groups, (_NEGATIVE, _POSITIVE)),
    }


def _person(infected: bool, generator: Random, added: float = 0.0) -> tuple[int, int, int, int, float, str]:
    """Draw age, symptoms and signal of a person; what a bad kit adds to the signal comes last before the result."""
    status = _POSITIVE if infected else _NEGATIVE
    mean, deviation = _SIGNAL[status]
    fever, cough, smell_loss = (int(generator.random() < share) for share in _SYMPTOMS[status])
    signal = max(0.01, generator.gauss(mean, deviation)) + added
    return generator.randrange(6, 85), fever, cough, smell_loss, round(signal, 3), status


def _reading(signal: float) -> str:
    """Return what the quick test says at a signal."""
    unclear, positive = _READ_AS
    return _READINGS[(signal >= unclear) + (signal >= positive)]
