"""Thousands of mutated text files: read as Python's csv module and pandas read them, or refused with a sentence.

Files with bare carriage returns and rows of empty fields are left to the csv module: pandas reads them in a way of its own.
"""

import csv
import io
import random
import time

import pandas as pd
import pytest

from headcount.exceptions import DataError
from headcount.tables import TableFile, lines


def mutated(generator):
    """A table as csv writes it, with a few letters changed, a part cut off, or a byte that is not UTF-8."""
    columns, text = generator.choice([1, 2, 2, 3]), io.StringIO(newline="")
    letters = generator.choice(["ab", 'ab"\n,', 'ab"\r\n, ', 'ab ,"', 'ab\t "', 'aé€"\n'])
    writer = csv.writer(
        text, lineterminator=generator.choice(["\n", "\n", "\r\n", "\r"]), quoting=generator.choice([0, 1])
    )
    writer.writerow("xyz"[:columns])
    for _ in range(generator.choice([1, 3, 10, 200])):
        sizes = [generator.choice([0, 1, 3, 12]) for _ in range(columns)]
        writer.writerow(["".join(generator.choices(letters, k=size)) for size in sizes])
    content = list(text.getvalue())
    for _ in range(generator.choice([0, 1, 1, 2, 3])):
        place = generator.randrange(len(content))
        content[place : place + generator.choice([0, 1, 1])] = generator.choice(
            ['"', ",", "\n", "\r", " ", "a", "\ufeff", ""]
        )
    encoded = "".join(content).encode()
    if generator.random() < 0.1:
        encoded = encoded[: generator.randrange(len(encoded) + 1)]
    if generator.random() < 0.08:
        place = generator.randrange(len(encoded) + 1)
        encoded = encoded[:place] + bytes([generator.randrange(128, 256)]) + encoded[place:]
    return encoded


def oracle(encoded):
    """The rows of a usable table, or None."""
    try:
        rows = list(csv.reader([*io.StringIO(encoded.decode("utf-8-sig"), newline=""), "the last row"]))
    except UnicodeDecodeError:
        return None
    names = rows[0]
    body = [row or [""] for row in rows[1:-1] if row or len(names) == 1]
    whole = rows[-1] == ["the last row"] and all(len(row) == len(names) for row in body) and body
    return body if whole and all(name.strip() for name in names) and len({*names}) == len(names) else None


def pandas_rows(encoded):
    """The rows as pandas reads them; None if it can't, or if rows hold what it is known to read in a way of its own."""
    if b"\r" in encoded.replace(b"\r\n", b"") or b"\x00" in encoded:
        return None
    try:
        frame = pd.read_csv(
            io.BytesIO(encoded),
            dtype=str,
            keep_default_na=False,
            na_filter=False,
            skip_blank_lines=False,
            index_col=False,
        )
    except (pd.errors.ParserError, UnicodeDecodeError, pd.errors.EmptyDataError, ValueError):
        return None
    rows = [list(row) for row in frame.itertuples(index=False, name=None)]
    return rows if len(frame.columns) == 1 else [row for row in rows if any(row)]


@pytest.mark.slow
@pytest.mark.parametrize("block", [7, 64, 1 << 20])
def test_no_row_of_a_mutated_file_is_lost_or_counted_twice(tmp_path, monkeypatch, block):
    monkeypatch.setattr(lines, "_BLOCK", block)
    generator = random.Random(block)
    read = compared = 0
    for _ in range(1000):
        encoded = mutated(generator)
        (tmp_path / "t.csv").write_bytes(encoded)
        began, expected = time.monotonic(), oracle(encoded)
        try:
            table = TableFile(tmp_path / "t.csv")
            parts = list(table.batches(dict.fromkeys(table.columns, "group")))
        except DataError:
            assert expected is None, encoded
            continue
        coded = [[part.groups(name) for part in parts] for name in table.columns]
        columns = [[values[code] for codes, values in groups for code in codes] for groups in coded]
        rows = [list(row) for row in zip(*columns, strict=True)]
        assert rows == expected, encoded
        others = pandas_rows(encoded)
        if others is not None:
            assert [row for row in rows if any(row) or len(row) == 1] == others, encoded
            compared += 1
        assert time.monotonic() - began < 20
        read += 1
    assert read > 400
    assert compared > 200
