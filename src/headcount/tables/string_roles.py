"""Columns of strings that are neither numbers nor dates: texts, categories or ids, by their words and how many are different."""

import re
from dataclasses import replace
from typing import Any

import numpy as np

from headcount._roles import ColumnRole
from headcount._typing import AnyArray

__all__ = ["LEAST_FOR_ID", "MOST", "StringValues", "string_role"]

MOST = 0.9
"""Share of the values of a column that have a form for the others to be mistakes."""
LEAST_FOR_ID = 20
"""Rows from which a column of different values is taken for ids."""
_WORDY, _LONG, _MANY_TEXTS = 0.3, 4.0, 50
"""Texts: the share of different values with two words or more; for values that occur several times, words and different values."""
_SAMPLED = 2_000
"""Different values whose words are counted."""
_WORD = re.compile(r"\W*[^\W\d_]+(?:['’-][^\W\d_]+)*\W*")
_UNSPACED = re.compile(
    "[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]"
)
_AMOUNT = re.compile(r"[^\w\s]?\s?-?(?:\d{1,3}(?:[,.' ]\d{3})+|\d+)(?:[.,]\d+)?(\s?[^\d\s]{0,4})")
"""A number with a currency, a unit or marks between thousands, such as $12.50, 1,250 or 80 kg."""


class StringValues:
    """The different values of a column of texts, stripped, without missing ones; and which rows hold them."""

    def __init__(self, column: Any) -> None:
        from pyarrow import types

        encoded = column if types.is_dictionary(column.type) else column.dictionary_encode()
        raw = [str(value).strip() for value in encoded.dictionary.to_pylist()]
        self.texts = sorted({text for text in raw if text})
        order = {text: i for i, text in enumerate(self.texts)}
        position = np.array([*(order.get(text, -1) for text in raw), -1])
        indices = encoded.indices.fill_null(len(raw))
        self.codes: AnyArray = position[np.asarray(indices.to_pylist() if len(indices) else [], dtype=np.int64)]
        self.counts = np.bincount(self.codes[self.codes >= 0], minlength=len(self.texts))
        self.n = int(self.counts.sum())
        self.complete = self.n == len(self.codes)

    def first_row(self, chosen: AnyArray) -> int:
        """First row that holds one of the chosen values, given as a mask over the different ones."""
        held = np.append(chosen, False)[self.codes]
        return int(np.flatnonzero(held)[0])

    def share(self, chosen: AnyArray) -> float:
        """Share of the rows with a value that hold one of these."""
        return float(self.counts[chosen].sum()) / max(self.n, 1)


def string_role(values: StringValues) -> ColumnRole | str:
    """Role of a column of other texts: by how many are different, and whether they are made of words."""
    n, different = values.n, len(values.texts)
    if different == 1 and values.complete:
        return f"the same value in every row, {values.texts[0][:40]!r}"
    step = max(different // _SAMPLED, 1)
    words = np.array([_n_words(text) for text in values.texts[::step]])
    category = ColumnRole("category", values.complete, different)
    if different <= n / 2:
        return (
            replace(category, kind="text", n_values=0)
            if words.mean() >= _LONG and different > _MANY_TEXTS
            else category
        )
    if (words >= 2).mean() >= _WORDY:
        return ColumnRole("text", values.complete)
    amounts = [match for match in map(_AMOUNT.fullmatch, values.texts) if match and not match[0].isdigit()]
    if len(amounts) >= MOST * different and len({match[1].strip() for match in amounts}) <= 2:
        return f"numbers with other signs, such as {amounts[0][0]!r}; write plain numbers to learn from them"
    if n >= LEAST_FOR_ID and different >= MOST * n:
        return "a different value in nearly every row, and no words: an id"
    return category


def _n_words(text: str) -> float:
    """Count the words of a text; of scripts without spaces between words, two letters for a word.

    >>> _n_words("It's not good."), _n_words("TK-00123"), _n_words("a@b.org"), _n_words("很好的電影")
    (3, 0, 0, 2.5)
    """
    unspaced = len(_UNSPACED.findall(text))
    return unspaced / 2 if unspaced else sum(bool(_WORD.fullmatch(token)) for token in text.split())
