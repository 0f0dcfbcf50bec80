"""Mutated tables of all formats that are read: changed in their values, their types, their text and their bytes."""

import csv
import datetime
import decimal
import gzip
import io
import json
import random
import zipfile
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from tests.attack.forge import changed_bytes, members_of, mutated_content
from tests.attack.models import _base
from tests.attack.trial import Trial
from tests.conftest import scored_items
from tests.features.test_table_columns import tickets

__all__ = ["TEXTS", "changed_rows", "changed_text", "mutated_table"]

Rows = list[list[Any]]
"""The rows of a table, names of columns first."""
TEXTS = (
    "", " ", "nan", "NaN", "inf", "-inf", "1e400", "-1", "0", "9" * 400, "0x10", "1,5", "1_000", "٣", "½", "1e-320", "-0.0",
    "true", "None", "null", "2024-13-45", "0000-00-00", "99999-01-01", "2024-02-30T25:61:61Z", "31/12/9999", "1.1.1", "=1+1",
    "@SUM(A1)", "+1", "-a", "'=x", "\x1b[31mred\x1b[0m", "\x1b]0;title\x07", "\r", "\n", "\t", '"', '""', "a\nb", "\u202eabc",
    "\ufeff", "\x00", "\x85", "\ud800", "é", "😀" * 50, "<script>alert(1)</script>", "a|b|c", "a;b", "{}", "[1, 2]", "[0.1, 0.2",
    "../../etc/passwd", "%s%s%n", "{0.__class__}", "x" * 5000, "word " * 3000,
)  # fmt: skip
_LONG = ("y" * 100_000, "ab " * 100_000)
_ENDINGS = (
    ".csv",
    ".csv",
    ".csv",
    ".tsv",
    ".jsonl",
    ".jsonl",
    ".parquet",
    ".parquet",
    ".xlsx",
    ".csv.gz",
    ".csv.zst",
    ".jsonl.gz",
)


@cache
def _labelled() -> Rows:
    """Tickets with columns of all kinds, scores and a label."""
    frame, team = tickets(90, 3)
    P = scored_items(90, 2, 0)[1]
    codes = (team == "tech").astype(int)
    said = np.take_along_axis(P, np.stack([codes, 1 - codes], axis=1), axis=1)
    scores = {"score_billing": said[:, 1], "score_tech": said[:, 0], "team": team, "shop": ["x", "y", "z"] * 30}
    frame = frame.assign(**scores).astype({"opened": str, "closed": str})
    return [list(frame.columns), *frame.astype(object).where(frame.notna(), None).to_numpy().tolist()]


@cache
def _scored_csv() -> bytes:
    names, *rows = _labelled()
    out = io.StringIO(newline="")
    csv.writer(out).writerows([[*names], *rows])
    return out.getvalue().encode()


def changed_rows(rows: Rows, generator: random.Random) -> tuple[Rows, str]:
    """Change values, rows, columns or names."""
    rows = [list(row) for row in rows]
    if not rows or not rows[0]:
        return [["a"], ["b"]], "empty"
    what = generator.choice(
        ("value", "value", "value", "column", "name", "row", "rows", "few", "ragged", "many", "label")
    )
    i, j = generator.randrange(1, len(rows)) if len(rows) > 1 else 0, generator.randrange(len(rows[0]))
    match what:
        case "value":
            for _ in range(generator.choice((1, 1, 3, 30))):
                row = generator.choice(rows[1:] or rows)
                if row:
                    row[generator.randrange(len(row))] = generator.choice(TEXTS)
        case "column":
            values = generator.sample(TEXTS, generator.choice((1, 1, 2, 5)))
            for row in rows[1:]:
                row[j : j + 1] = [generator.choice(values)]
        case "label":
            j = rows[0].index("team") if "team" in rows[0] else j
            n = generator.choice((1, 2, 3, 10, 50, len(rows)))
            for k, row in enumerate(rows[1:]):
                row[j : j + 1] = [generator.choice((f"c{k % n}", k % n, f"\x1b[3{k % n}m", generator.choice(TEXTS)))]
        case "name":
            rows[0][j] = generator.choice((*TEXTS, *map(str, rows[0])))
        case "row":
            rows[i] = generator.choice((rows[i][:-1], [*rows[i], "more"], [], [None] * len(rows[0]), rows[0]))
        case "rows":
            rows = generator.choice(
                (rows[:1], rows[1:], rows[:2], rows + rows, [rows[0], *rows[:0:-1]], rows[:3], rows[:8])
            )
        case "few":
            keep = generator.sample(range(len(rows[0])), generator.randrange(1, len(rows[0]) + 1))
            rows = [[row[k] for k in keep if k < len(row)] for row in rows]
        case "many":
            n = generator.choice((50, 50, 50, 1000))
            rows = [
                [*rows[0], *(f"extra {k}" for k in range(n))],
                *([*row, *[k % 7] * n] for k, row in enumerate(rows[1:])),
            ]
        case "ragged":
            rows = [row[: generator.randrange(len(row) + 1)] if generator.random() < 0.1 else row for row in rows]
    if generator.random() < 0.02 and len(rows) > 1 and rows[-1]:
        rows[-1][generator.randrange(len(rows[-1]))] = generator.choice(_LONG)
    return rows or [["a"]], what


def changed_text(content: bytes, generator: random.Random) -> bytes:
    """Change what the text of a table is made of: line ends, quotes, separators, encoding, marks."""
    whole = b"\x00" * 3000
    changes: tuple[Callable[[bytes], bytes], ...] = (
        lambda c: b"\xef\xbb\xbf" + c, lambda c: b"\xef\xbb\xbf" * 2 + c, lambda c: c.replace(b"\n", b"\r"), lambda c: c.replace(b"\r\n", b"\n"),
        lambda c: c.replace(b",", b";"), lambda c: c.replace(b",", b"\t"), lambda c: c.replace(b'"', b""), lambda c: c + b'"',
        lambda c: c.replace(b"e", b'"', 3), lambda c: c.decode("utf-8", "replace").encode("utf-16"), lambda c: c[: len(c) // 2], lambda c: c + whole,
        lambda c: c.replace(b"a", b"\xe9", 2), lambda c: c.replace(b"r", b"\x00", 1), lambda _: b"", lambda _: b"\n", lambda _: b'"',
        lambda c: c + b"\n" * 1000, lambda c: b"\n" * 3 + c, lambda c: c.partition(b"\n")[0], lambda c: c.replace(b"\n", b",\n"),
        lambda c: c.replace(b"\n", b"\n\n"), lambda c: b"sep=,\n" + c, lambda c: b"# note\n" + c, lambda c: c + b"," * 100_000,
        lambda c: c + b'"' + b"z" * generator.choice((10**5, 3 * 10**6)), lambda c: b"x" * generator.choice((10**6, 3 * 10**6)) + c,
    )  # fmt: skip
    return generator.choice(changes)(content)


# --- formats


def _plain(value: Any) -> str:
    return "" if value is None else str(value)


def _text(rows: Rows, ending: str, generator: random.Random) -> bytes:
    out = io.StringIO(newline="")
    separator = "\t" if ending == ".tsv" else generator.choice((",", ",", ",", ";"))
    quoting = generator.choice((csv.QUOTE_MINIMAL, csv.QUOTE_MINIMAL, csv.QUOTE_ALL))
    line_end = generator.choice(("\n", "\n", "\r\n", "\r"))
    csv.writer(out, delimiter=separator, lineterminator=line_end, quoting=quoting).writerows(
        [*map(_plain, row)] for row in rows
    )
    return out.getvalue().encode("utf-8", "surrogatepass")


def _lines(rows: Rows, generator: random.Random) -> bytes:
    names = [_plain(name) for name in rows[0]]
    records: list[Any] = [dict(zip(names, row, strict=False)) for row in rows[1:]]
    if records and generator.random() < 0.3:
        others = (
            1,
            None,
            [1, 2],
            "text",
            {"a": {"b": [1]}},
            {},
            {names[0]: {"deep": [[]]}},
            {names[0]: 10**400},
            {names[0]: True},
        )
        records[generator.randrange(len(records))] = generator.choice(others)
    lines = [json.dumps(record, default=str, ensure_ascii=generator.random() < 0.5) for record in records]
    if lines and generator.random() < 0.15:
        broken = (
            "[" * 100_000,
            '{"a":' * 50_000,
            '{"subject": NaN}',
            '{"subject": 1, "subject": 2}',
            "{",
            '"' + "x" * 10**6,
            '{"a": 1e999}',
        )
        lines[generator.randrange(len(lines))] = generator.choice(broken)
    return "\n".join(lines).encode("utf-8", "surrogatepass")


def _arrow_column(values: list[Any], generator: random.Random) -> Any:
    """Return values as a column of some type of Arrow, mostly the plain one."""
    n = len(values)
    if generator.random() < 0.85:
        if all(isinstance(value, int | float | None) for value in values):
            return pa.array([None if value is None else float(value) for value in values])
        return pa.array([None if value is None else str(value).encode("utf-8", "replace").decode() for value in values])
    when = datetime.datetime(2024, 1, 1, tzinfo=datetime.UTC)
    columns: tuple[Callable[[], Any], ...] = (
        lambda: pa.nulls(n), lambda: pa.array([k % 3 == 0 for k in range(n)]), lambda: pa.array([b"\xff\x00"] * n, pa.binary()),
        lambda: pa.array([[k, k + 0.5] for k in range(n)]), lambda: pa.array([{"a": k} for k in range(n)]), lambda: pa.array([[]] * n, pa.list_(pa.float64())),
        lambda: pa.array([2**63 - 1 - k for k in range(n)]), lambda: pa.array([2**64 - 1] * n, pa.uint64()), lambda: pa.array([float("nan")] * n),
        lambda: pa.array([decimal.Decimal("1.5")] * n, pa.decimal128(38, 10)), lambda: pa.array([when] * n, pa.timestamp("ns", "Europe/Berlin")),
        lambda: pa.array([2**62] * n, pa.timestamp("us")), lambda: pa.array([-(2**31)] * n, pa.date32()), lambda: pa.array(["a", "b"] * n).slice(0, n).dictionary_encode(),
        lambda: pa.array([86399] * n, pa.time32("s")), lambda: pa.array([7] * n, pa.duration("ns")), lambda: pa.array(["x"] * n, pa.large_string()),
        lambda: pa.array([[0.1] * (1 + k % 2) for k in range(n)]), lambda: pa.array([None, *[1.0] * (n - 1)][:n], pa.float32()), lambda: pa.array([0.5] * n, pa.float16()),
        lambda: pa.array([[("k", 1)]] * n, pa.map_(pa.string(), pa.int64())), lambda: pa.array([[1.0, 2.0]] * n, pa.list_(pa.float64(), 2)),
    )  # fmt: skip
    return generator.choice(columns)()


def _parquet(rows: Rows, generator: random.Random) -> bytes:
    names = [_plain(name).encode("utf-8", "replace").decode() for name in rows[0]]
    body = [[*row, *[None] * len(names)][: len(names)] for row in rows[1:]]
    packed, size = generator.choice(("snappy", "none", "zstd")), generator.choice((None, 1, 20))
    while True:
        columns = [_arrow_column([row[j] for row in body], generator) for j in range(len(names))]
        out = io.BytesIO()
        try:
            pq.write_table(pa.Table.from_arrays(columns, names=names), out, compression=packed, row_group_size=size)
        except pa.ArrowException:  # a type that Parquet does not have
            continue
        return out.getvalue()


def _excel(rows: Rows, generator: random.Random) -> bytes:
    from openpyxl import Workbook
    from openpyxl.utils.exceptions import IllegalCharacterError

    book = Workbook()
    sheet = book.active
    for row in rows[:40]:
        try:
            sheet.append([str(value)[:30_000] if isinstance(value, str) else value for value in row])
        except (IllegalCharacterError, ValueError):
            sheet.append(["?"] * len(row))
    if generator.random() < 0.1:
        sheet["XFD1048576"] = "far away"
    if generator.random() < 0.2:
        sheet["A2"] = generator.choice(("=1/0", "=A2", datetime.datetime(1900, 1, 1), datetime.time(1, 2), True, 1e300))
    out = io.BytesIO()
    book.save(out)
    return out.getvalue()


def _packed(content: bytes, ending: str, generator: random.Random) -> bytes:
    if generator.random() < 0.03:  # a few kilobytes that unpack to many
        content += generator.choice((b'"' + b"z", b"z", b"0,", b"\n")) * generator.choice((10**6, 3 * 10**7))
    if ending.endswith(".zst"):
        return bytes(pa.compress(content, codec="zstd", asbytes=True))
    packed = gzip.compress(content, 1)
    return packed * 2 if generator.random() < 0.1 else packed


def _written(rows: Rows, ending: str, generator: random.Random) -> bytes:
    if ending == ".parquet":
        return _parquet(rows, generator)
    if ending == ".xlsx":
        return _excel(rows, generator)
    content = _lines(rows, generator) if ending.startswith(".jsonl") else _text(rows, ending, generator)
    if generator.random() < 0.3:
        content = changed_text(content, generator)
    return _packed(content, ending, generator) if ending.endswith((".gz", ".zst")) else content


def _damaged(content: bytes, ending: str, generator: random.Random) -> bytes:
    if ending == ".xlsx" and generator.random() < 0.7:
        try:
            return mutated_content(content, generator, members_of(content))[0]
        except (ValueError, zipfile.BadZipFile):
            pass
    return changed_bytes(content, generator)


def _svmlight(generator: random.Random) -> bytes:
    lines = [f"{k % 2} " + " ".join(f"{j + 1}:{generator.random():.2f}" for j in range(4)) for k in range(40)]
    others = (
        "1 0:1",
        "1 -5:2",
        "1 99999999999:1",
        "1 2147483648:1",
        "nan 1:1",
        "1e999 1:1",
        "1 1:x",
        "1 1:nan",
        "1 3:1 2:1",
        "1 qid:3 1:2",
        "#",
        "",
        "\x00",
        "1 1:1:1",
        "9" * 400 + " 1:1",
    )
    for _ in range(generator.choice((1, 3))):
        lines[generator.randrange(len(lines))] = generator.choice(others)
    content = "\n".join(lines).encode()
    return changed_bytes(content, generator) if generator.random() < 0.5 else content


@cache
def _model(name: str) -> bytes:
    return _base(name)[1]


def mutated_table(number: int, seed: int) -> Trial:
    """Return the trial of a number: a mutated table, and a command that reads it."""
    generator = random.Random(f"table {seed} {number}")
    if generator.random() < 0.04:
        names = ("train.svm", "test.svm")
        return Trial(
            {f"set/{name}": _svmlight(generator) for name in names}, [["data", "info", "set"]], what="svmlight"
        )
    rows, done = _labelled(), []
    for _ in range(generator.choice((1, 1, 2)) if number >= len(_ENDINGS) else 0):
        rows, what = changed_rows(rows, generator)
        done.append(what)
    ending = generator.choice(_ENDINGS) if number >= len(_ENDINGS) else _ENDINGS[number]
    content = (
        _written(rows, ending, generator)
        if number >= len(_ENDINGS)
        else _written(_labelled(), ending, random.Random(5))
    )
    if generator.random() < 0.25 and number >= len(_ENDINGS):
        content = _damaged(content, ending, generator)
        done.append("damaged")
    file, few = f"t{ending}", ["--min-items", str(generator.choice((1, 30)))]
    by = generator.choice(([], ["--by", "shop"], ["--by", "opened:month"], ["--by", "region,opened:week"]))
    where = generator.choice(
        ([], [], [], ["--where", "price>=10"], ["--where", "shop=x,y"], ["--where", "opened<2024-07-01"])
    )
    scored = ["--scored", "labelled.csv", file, "--label", "team"]
    files, outputs = {file: content}, frozenset[str]()
    chance = generator.random()
    if chance < 0.3:
        files["m.headcount"] = _model("mixed columns")
        command = [generator.choice(("estimate", "estimate", "check")), "m.headcount", file, *few, *by, *where]
    elif chance < 0.5:
        files["labelled.csv"] = _scored_csv()
        command = [generator.choice(("estimate", "check")), *scored, *few, *by, *where]
    elif chance < 0.6:
        files["labelled.csv"] = _scored_csv()
        command = ["compare", *scored, *few, *(by or ["--by", "shop"]), "--against", "first"]
    elif chance < 0.75:
        files["new.csv"] = _scored_csv()
        decided = generator.choice(([], ["--decisions", "region"], ["--scores", "tech=score_tech"]))
        command = ["estimate", "--scored", file, "new.csv", "--label", "team", *few, *decided]
    else:
        columns = generator.choice(
            (
                ["--text", "subject"],
                ["--features", "price,region"],
                ["--text", "subject", "--features", "price,opened"],
                [],
            )
        )
        learner = generator.choice(("lr", "lr", "lr", "nb"))
        label = generator.choice(("team", "team", "team", "shop", "region"))
        command = [
            "fit",
            file,
            "--label",
            label,
            "-o",
            "out.headcount",
            "--method",
            "PACC",
            "--learner",
            learner,
            "-j",
            "1",
            "--budget",
            "0.001",
            *columns,
        ]
        outputs = frozenset({"out.headcount"})
    if command[0] == "estimate" and generator.random() < 0.2:
        name = generator.choice(("out.csv", "out.json", "out.parquet", "out.html", "out.svg"))
        command += ["--html" if name == "out.html" else "--plot" if name == "out.svg" else "-o", name]
        outputs = frozenset({name})
    return Trial(files, [command], outputs, f"{ending}: {', '.join(done) or 'nothing'}")
