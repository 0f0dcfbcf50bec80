"""Support conversations: was the customer's problem solved? Three language models judged all of them, people some."""

from collections.abc import Callable
from random import Random

from headcount.data.examples.files import csv_text, truth_text

__all__ = ["CONVERSATION_SEED", "conversation_files"]

CONVERSATION_SEED = 23
_CLASSES = ("no", "partly", "yes")
_CHANCES = {"2025-01": (0.18, 0.22, 0.60), "2025-02": (0.22, 0.24, 0.54), "2025-03": (0.34, 0.26, 0.40)}
"""Shares of the classes in each month."""
_LABELLED = {"2025-01": 60, "2025-02": 60, "2025-03": 60}
_STRICT = {"no": (0.86, 0.11, 0.03), "partly": (0.30, 0.58, 0.12), "yes": (0.08, 0.14, 0.78)}
"""What the large model answers about conversations of each class."""
_LENIENT = {"no": (0.45, 0.25, 0.30), "partly": (0.08, 0.34, 0.58), "yes": (0.02, 0.06, 0.92)}
"""What the small model answers: it believes polite words."""
_WORDS = {
    "no": ("No.", "no, unsolved"),
    "partly": ("Partly.", "Only in part"),
    "yes": ("Yes.", "YES - solved", "solved"),
}
_REFUSAL = "I cannot judge this conversation."


def conversation_files(n_month: int = 600, seed: int = CONVERSATION_SEED) -> dict[str, str]:
    r"""Make the files of the example: content as CSV, by file name.

    Examples
    --------
    >>> files = conversation_files(n_month=100)
    >>> list(files), files["judged.csv"].count("\n")
    (['judged.csv', 'phrases.csv', 'true_answers.csv'], 301)
    """
    generator = Random(seed)  # of the standard library: the same for all versions

    def answer(truth: str, chances: dict[str, tuple[float, float, float]]) -> str:
        return generator.choices(_CLASSES, chances[truth])[0]

    def words(label: str) -> str:
        return _REFUSAL if generator.random() < 0.06 else generator.choice(_WORDS[label])

    rows, groups = [], []
    for month, chances in _CHANCES.items():
        labelled = set(generator.sample(range(n_month), min(_LABELLED[month], n_month)))
        for number in range(n_month):
            truth = generator.choices(_CLASSES, chances)[0]
            judged = (answer(truth, _STRICT), words(answer(truth, _LENIENT)), _guess(generator.choice))
            rows.append((f"{month}-{number + 1:03}", month, *judged, truth if number in labelled else ""))
            groups.append((month, truth))
    phrases = [(phrase, label) for label, known in _WORDS.items() for phrase in known] + [(_REFUSAL, "")]
    return {
        "judged.csv": csv_text(("conversation", "month", "large", "small", "tiny", "human"), rows),
        "phrases.csv": csv_text(("answer", "class"), phrases),
        "true_answers.csv": truth_text([*(("all", label) for _, label in groups), *groups], _CLASSES),
    }


def _guess(choice: Callable[[tuple[str, ...]], str]) -> str:
    """Return what the tiny model answers: anything, most often yes."""
    return choice(("yes", "yes", "yes", "partly", "no"))
