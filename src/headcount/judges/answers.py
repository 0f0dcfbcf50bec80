"""`JudgeAnswers`: what judges answered, as codes of classes and as predictors; `AnswerMap`: the classes of free texts."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from headcount._labels import class_positions, label_text
from headcount._typing import AnyArray, FloatArray, IntArray
from headcount._validation import plain, quoted
from headcount.exceptions import DataError

__all__ = ["AnswerMap", "JudgeAnswers", "human_codes", "is_missing", "read_answers"]

_MISSING = ("", "nan", "none", "null", "na", "n/a", "<na>", "nat")
"""Texts that stand for no answer, unless a class is called so."""
_TOLERANCE = 1e-6
"""By how much scores may leave [0, 1] or miss a sum of 1."""


@dataclass(frozen=True, eq=False)
class JudgeAnswers:
    """Answers of several judges about the same items.

    Attributes
    ----------
    names : tuple of str
    codes : array of int, shape (n_items, n_judges)
        Position of the class that a judge decided for; the number of classes where it decided for none.
    predictors : array of shape (n_items, n_judges, n_classes)
        What a judge gives each class: 1 for its decision, or its scores; zeros where it gave no usable answer.
    others : tuple of dict of str to int
        Of each judge, answers that are no class, and how often it gave them; empty answers under ``""``.
    """

    names: tuple[str, ...]
    codes: IntArray
    predictors: FloatArray
    others: tuple[dict[str, int], ...]

    def __len__(self) -> int:
        return len(self.codes)

    def chosen(self, judges: Sequence[int]) -> FloatArray:
        """Return the predictors of some of the judges."""
        return self.predictors[:, list(judges)]


class AnswerMap:
    """The class that each of a judge's free texts stands for.

    Texts are compared without regard to case and to blanks around them; a text that is not in the map, and is no class itself,
    is an answer without a class.

    Parameters
    ----------
    pairs : mapping or sequence of pairs of answer and class
        The class may be empty: that answer is then an abstention.

    Examples
    --------
    >>> AnswerMap({"Yes, clearly.": "yes", "No idea": ""}).class_of("YES, CLEARLY. ")
    'yes'
    """

    def __init__(self, pairs: Mapping[Any, Any] | Sequence[tuple[Any, Any]]) -> None:
        listed = list(pairs.items() if isinstance(pairs, Mapping) else pairs)
        keys = [_key(answer) for answer, _ in listed]
        twice = (
            [answer for (answer, _), key in zip(listed, keys, strict=True) if keys.count(key) > 1]
            if len(set(keys)) < len(keys)
            else []
        )
        if twice:
            raise DataError(
                f"The map gives the answer {quoted(dict.fromkeys(twice))} more than once (case and blanks around it do not "
                "matter): keep one row of each answer."
            )
        self.classes = {
            key: "" if is_missing(label) else label_text(label).strip()
            for key, (_, label) in zip(keys, listed, strict=True)
        }

    def class_of(self, answer: Any) -> str | None:
        """Return the text of the class of an answer, empty for an abstention, None if the map does not have it."""
        return self.classes.get(_key(answer))

    def check(self, positions: Mapping[str, int], origin: str) -> None:
        """Raise if the map leads to something that is no class."""
        unknown = sorted({label for label in self.classes.values() if label and label not in positions})
        if unknown:
            raise DataError(
                f"The map leads to {quoted(unknown)}, which is not among the classes of {origin} ({quoted(positions, 10)}): "
                "correct the map, or name all classes (--classes)."
            )


def _key(answer: Any) -> str:
    return " ".join(label_text(answer).split()).casefold()


def is_missing(value: Any) -> bool:
    """Whether a value is empty: None, NaN, or a text of blanks."""
    if value is None or value != value or type(value).__name__ in ("NAType", "NaTType"):
        return True
    return isinstance(value, str) and not value.strip()


def human_codes(labels: Any, classes: Any) -> tuple[AnyArray, IntArray]:
    """Return the classes and each item's position among them, -1 where there is no human label.

    Parameters
    ----------
    labels : sequence
        Missing (None, NaN, empty) for an item without a label.
    classes : sequence or None
        All classes, by default those of the labels, sorted.
    """
    values = [plain(value) for value in (labels.tolist() if hasattr(labels, "tolist") else labels)]
    texts = [None if is_missing(value) else label_text(value).strip() for value in values]
    if classes is None:
        present = sorted({text for text in texts if text is not None})
        typed = {text: value for text, value in zip(texts, values, strict=True) if text is not None}
        if len(present) < 2:
            n = sum(text is not None for text in texts)
            what = f"all {n} are {present[0]!r}" if present else "there are none"
            raise DataError(
                f"Human labels of at least two classes are needed to tell what the classes are, and {what}: label more items, or "
                "name all classes (--classes)."
            )
        numbers = all(
            isinstance(typed[text], int | np.integer) and not isinstance(typed[text], bool) for text in present
        )
        given: AnyArray = np.array(sorted(int(typed[text]) for text in present) if numbers else present)
    else:
        given = np.asarray(list(classes))
        if len({label_text(label) for label in given}) < len(given) or len(given) < 2:
            raise DataError(f"classes (--classes) must name at least two classes, each once; got {quoted(given, 10)}.")
    positions, text_of = class_positions(given)
    codes = np.array([-1 if text is None else positions.get(text_of(text), -2) for text in texts], dtype=np.int64)
    outside = np.flatnonzero(codes == -2)
    if outside.size:
        found = Counter(texts[i] for i in outside)
        raise DataError(
            f"The human label {quoted(found)} is not among the classes {quoted(positions, 10)}, first at item "
            f"{int(outside[0]) + 1:,}: correct it, or name all classes (--classes)."
        )
    return given, codes


def read_answers(answers: Any, classes: AnyArray, mapping: AnswerMap | None = None) -> JudgeAnswers:
    """Encode the answers of judges.

    Parameters
    ----------
    answers : mapping of name to answers, data frame, or array
        Of each judge a decision for each item, or an array of scores (n_items, n_classes) in the order of the classes. A
        one-dimensional array is of one judge, a two-dimensional one has a column for each.
    classes : array of shape (n_classes,)
    mapping : AnswerMap, optional
        For answers that are free texts.
    """
    judges = _by_name(answers)
    if not judges:
        raise DataError("There is no judge: name at least one column of answers (--judge).")
    positions, _ = class_positions(classes)
    if mapping is not None:
        mapping.check(positions, "the human labels")
    sizes = {name: len(values) for name, values in judges.items()}
    if len(set(sizes.values())) > 1:
        raise DataError(
            f"Judges answered different numbers of items: {', '.join(f'{n}: {k:,}' for n, k in sizes.items())}."
        )
    encoded = [
        _scores(name, values, len(classes)) if _is_scored(values) else _decisions(name, values, classes, mapping)
        for name, values in judges.items()
    ]
    codes, predictors, others = zip(*encoded, strict=True)
    return JudgeAnswers(tuple(judges), np.stack(codes, axis=1), np.stack(predictors, axis=1), tuple(others))


def _by_name(answers: Any) -> dict[str, Any]:
    if isinstance(answers, Mapping):
        return {str(name): values for name, values in answers.items()}
    if hasattr(answers, "columns") and hasattr(answers, "to_numpy"):
        return {str(name): answers[name].tolist() for name in answers.columns}
    array = answers if isinstance(answers, np.ndarray) else np.array(list(answers), dtype=object)
    if array.ndim == 1:
        name = getattr(answers, "name", None)
        return {"judge" if name is None else str(name): array}
    if array.ndim == 2:
        return {f"judge {j + 1}": array[:, j] for j in range(array.shape[1])}
    raise DataError(
        "answers must be a mapping of judges to their answers, a data frame, or an array with a column for each judge; got an "
        f"array of shape {array.shape}. For scores pass a mapping of the judge's name to its array."
    )


def _is_scored(values: Any) -> bool:
    return getattr(values, "ndim", 1) == 2


def _decisions(
    name: str, values: Any, classes: AnyArray, mapping: AnswerMap | None
) -> tuple[IntArray, FloatArray, dict[str, int]]:
    """Return codes, one-hot predictors, and the answers that are no class."""
    k = len(classes)
    positions, text_of = class_positions(classes)
    folded = {_key(text): j for text, j in positions.items()}
    exact = len(folded) == k  # else two classes differ in case alone
    seen: dict[Any, int] = {}
    others: Counter[str] = Counter()
    codes = np.empty(len(values), dtype=np.int64)
    for i, value in enumerate(values.tolist() if hasattr(values, "tolist") else values):
        if is_missing(value):
            codes[i] = k
            others[""] += 1
            continue
        code = seen.get(value)
        if code is None:
            text = text_of(value).strip() if isinstance(text_of(value), str) else str(value)
            mapped = None if mapping is None else mapping.class_of(value)
            code = positions.get(
                text if mapped is None else mapped, folded.get(_key(value), k) if exact and mapped is None else k
            )
            seen[value] = code
        codes[i] = code
        if code == k:
            text = str(value).strip()
            others["" if _key(value) in _MISSING else text[:60]] += 1
    if (codes == k).all():
        raise DataError(
            f"The judge {name!r} gave no answer that is one of the classes {quoted(positions, 10)}; its answers are "
            f"{quoted(text or '(empty)' for text in others)}. Map them to classes (--map), or name the right column."
        )
    return codes, np.vstack([np.eye(k), np.zeros(k)])[codes], dict(others)


def _scores(name: str, values: Any, k: int) -> tuple[IntArray, FloatArray, dict[str, int]]:
    """Return decisions (the largest score), the scores, and the number of rows without any."""
    try:
        P = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise DataError(f"The scores of the judge {name!r} are not numbers ({error}).") from error
    if P.shape[1] != k:
        raise DataError(
            f"The judge {name!r} has {P.shape[1]} scores for each item; {k} are needed, one for each class."
        )
    missing: AnyArray = np.asarray(np.isnan(P).any(axis=1))
    if missing.all():
        raise DataError(f"The judge {name!r} has no scores.")
    bad: AnyArray = ~missing & ((P < -_TOLERANCE).any(axis=1) | (np.abs(P.sum(axis=1) - 1.0) > 1e-3))
    if bad.any():
        row = int(np.flatnonzero(bad)[0])
        raise DataError(
            f"The scores of the judge {name!r} for item {row + 1:,}, {', '.join(f'{p:.4g}' for p in P[row])}, are not "
            "probabilities: they must be at least 0 and sum to 1 over the classes."
        )
    P = np.where(missing[:, None], 0.0, P)
    return np.where(missing, k, P.argmax(axis=1)), P, {"": int(missing.sum())} if missing.any() else {}
