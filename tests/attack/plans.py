"""Mutated plans of studies, as TOML, and mutated confusion matrices with the counts that they are used on."""

import csv
import io
import json
import random
import tomllib
from functools import cache
from importlib.resources import files
from typing import Any

from tests.attack.forge import changed_bytes, changed_document
from tests.attack.tables import TEXTS, changed_text
from tests.attack.trial import Trial
from tests.study.conftest import PLAN, write_small_set

__all__ = ["mutated_matrix", "mutated_plan"]

_PATHS = (
    "json.dumps",
    "os.getcwd",
    "collections.OrderedDict",
    "pathlib.Path",
    "headcount.PACC",
    "sklearn.svm.SVC",
    "no.module",
    "x",
    ".",
    ":",
    "a..b",
    "headcount.cli.main",
    "sklearn.linear_model.LogisticRegression",
)
_DATA_SETS = ("synthetic-imdb", "kindle", "small", "../small", "/dev/null", "", "no-set", "\x1b[31m", "x" * 5000)
_COUNTS = (
    "",
    "-1",
    "0",
    "1",
    "2",
    "0.5",
    "1e400",
    "nan",
    "inf",
    "-inf",
    "9" * 30,
    "1e18",
    "1e15",
    "99999999",
    "20000001",
    "1,5",
    " 3 ",
    "0x1",
    "True",
)


@cache
def _plans() -> tuple[str, ...]:
    shipped = [
        files("headcount.study.plans").joinpath(f"{name}.toml").read_text()
        for name in ("stand-ins", "paper", "paper-code")
    ]
    return PLAN, PLAN, PLAN, *shipped


def _toml(value: Any) -> str:
    """Return a value as TOML has it inline."""
    match value:
        case None:
            return '"none"'
        case bool():
            return str(value).lower()
        case float() | int():
            return repr(value)
        case str():
            return json.dumps(value).replace("\x7f", "\\u007f")
        case list():
            return f"[{', '.join(map(_toml, value))}]"
        case dict():
            return "{" + ", ".join(f"{json.dumps(str(key))} = {_toml(one)}" for key, one in value.items()) + "}"
    return '"?"'


def _changed_plan(text: str, generator: random.Random) -> tuple[bytes, str]:
    chance = generator.random()
    if chance < 0.15:
        return changed_bytes(text.encode(), generator), "bytes"
    if chance < 0.25:
        lines = text.splitlines()
        i, j = generator.randrange(len(lines)), generator.randrange(len(lines))
        lines[i : i + 1] = generator.choice(
            (
                [],
                [lines[i]] * 2,
                [lines[j]],
                ["[" * 5000],
                ["x = " + "[" * 50_000],
                ["a = 1979-05-27T07:32:00Z"],
                ["[protocol]"],
            )
        )
        return "\n".join(lines).encode(), "lines"
    document = tomllib.loads(text)
    if chance < 0.4:
        where = generator.choice([*document.get("learners", {}).values(), *document["methods"]])
        where[generator.choice(("class", "method", "name", "representation"))] = generator.choice((*_PATHS, *TEXTS))
        what = "path"
    elif chance < 0.5:
        document["data_sets"] = [generator.choice(_DATA_SETS) for _ in range(generator.choice((1, 1, 2)))]
        what = "data sets"
    elif chance < 0.6:
        document["measures"] = generator.choice(
            (
                ["ae", "ae"],
                ["json.dumps"],
                [{"name": "ae", "function": "os.getcwd"}],
                [{"name": generator.choice(TEXTS), "function": generator.choice(_PATHS)}],
                ["no"],
                [""],
                [],
            )
        )
        what = "measures"
    else:
        document, what = changed_document(document, generator)
    if not isinstance(document, dict):
        return _toml(document).encode("utf-8", "surrogatepass"), what
    return "\n".join(f"{json.dumps(str(key))} = {_toml(value)}" for key, value in document.items()).encode(
        "utf-8", "surrogatepass"
    ), what


@cache
def _small_set() -> dict[str, bytes]:
    import tempfile
    from pathlib import Path

    with tempfile.TemporaryDirectory() as folder:
        write_small_set(Path(folder), n_train=60, n_test=60)
        return {f"data/small/{path.name}": path.read_bytes() for path in Path(folder, "small").iterdir()}


def mutated_plan(number: int, seed: int) -> Trial:
    """Return the trial of a number: a mutated plan, and commands that read it; a small one is run in part."""
    generator = random.Random(f"plan {seed} {number}")
    text = generator.choice(_plans()) if number else PLAN
    content, what = _changed_plan(text, generator) if number else (PLAN.encode(), "nothing")
    plan = "p.toml"
    commands = [["study", "plan", plan], ["study", "status", plan, "--store", "store"]]
    if text == PLAN and (number == 0 or generator.random() < 0.3):
        commands += [
            [
                "study",
                "run",
                plan,
                "--store",
                "store",
                "--data-dir",
                "data",
                "-j",
                "1",
                "--only",
                "learner=lr",
            ]
        ]
    commands += [["study", generator.choice(("tables", "claims", "overview")), plan, "--store", "store"]]
    return Trial({plan: content, **_small_set()}, commands, what=what, folders=("store",))


def mutated_matrix(number: int, seed: int) -> Trial:
    """Return the trial of a number: a mutated confusion matrix, or mutated counts, and commands that read them."""
    generator = random.Random(f"matrix {seed} {number}")
    k = generator.choice((2, 2, 3, 3, 4, 12))
    names = [f"c{j}" for j in range(k)]
    unsure = ["unsure"] * (generator.random() < 0.3)
    matrix: list[list[Any]] = [["true", *names, *unsure]]
    matrix += [
        [
            name,
            *(generator.randrange(40, 90) if j == i else generator.randrange(20) for j in range(k)),
            *[5] * len(unsure),
        ]
        for i, name in enumerate(names)
    ]
    counts: list[list[Any]] = [
        ["class", "count", "shop"],
        *([name, generator.randrange(200), shop] for shop in "xy" for name in [*names, *unsure]),
    ]
    done = []
    tables = {"confusion": matrix, "counts": counts}
    for _ in range(generator.choice((1, 1, 2, 4)) if number else 0):
        if generator.random() < 0.4:
            done.append(_change_alike(matrix, counts, generator))
            continue
        name = generator.choice(("confusion", "confusion", "counts"))
        done.append(f"{name} {_change_matrix(tables[name], generator)}")
    ending = generator.choice((".csv", ".csv", ".csv", ".tsv"))
    contents = {}
    for name, rows in tables.items():
        out = io.StringIO(newline="")
        csv.writer(out, delimiter="\t" if ending == ".tsv" else ",").writerows(rows)
        contents[name + ending] = out.getvalue().encode("utf-8", "surrogatepass")
        if number and generator.random() < 0.15:
            change = generator.choice((changed_bytes, changed_text))
            contents[name + ending] = change(contents[name + ending], generator)
            done.append(f"{name} {change.__name__}")
    of = ["--confusion", f"confusion{ending}", f"counts{ending}", "--min-items", "1"]
    method = generator.choice(
        (
            [],
            [],
            [],
            [],
            ["--method", "ACC"],
            ["--method", "CC"],
            ["--method", "PACC"],
            ["--method", "SLD"],
            ["--method", "HDy"],
        )
    )
    commands = [
        [
            "estimate",
            *of,
            *method,
            *generator.choice(
                ([], ["--json"], ["--by", "shop"], ["--sample"], [], ["--total", "--by", "shop"], ["--value", "points"])
            ),
        ]
    ]
    commands += [["check", *of]] if generator.random() < 0.5 else [["compare", *of, "--by", "shop", "--against", "all"]]
    return Trial(contents, commands, what=", ".join(done) or "nothing")


def _change_alike(matrix: list[list[Any]], counts: list[list[Any]], generator: random.Random) -> str:
    """Change matrix and counts so that they still fit together: other numbers, or another name of a class in all its places."""
    if generator.random() < 0.5:
        rows = matrix[1:]
        numbers = generator.choice(((0, 1, 2), (0, 10**6), (3, 50, 1000), (7,)))
        for row in rows:
            row[1:] = [generator.choice(numbers) for _ in row[1:]]
        return "numbers"
    old, new = matrix[0][-1], generator.choice(TEXTS)
    for rows in (matrix, counts):
        for row in rows:
            row[:] = [new if value == old else value for value in row]
    return "renamed"


def _change_matrix(rows: list[list[Any]], generator: random.Random) -> str:
    if not rows or not rows[0]:
        rows[:] = [["true", "c0"], ["c0", 5]]
    i, j = generator.randrange(len(rows)), generator.randrange(len(rows[0]))
    what = generator.choice(
        ("value", "value", "value", "remove row", "remove column", "twice", "zeros", "name", "swap", "equal")
    )
    if len(rows) < 2:
        what = "value"
    match what:
        case "value":
            rows[i][j : j + 1] = [generator.choice((*_COUNTS, *TEXTS))]
        case "remove row":
            del rows[i]
        case "remove column":
            for row in rows:
                del row[j : j + 1]
        case "twice":
            rows.append(list(rows[i]))
        case "zeros":
            for row in rows[1:]:
                row[1:] = [generator.choice((0, 0, 0, 10**9, 1))] * (len(row) - 1)
        case "name":
            name = generator.choice(TEXTS)
            for place in ((0, j), (min(j, len(rows) - 1), 0)):
                rows[place[0]][place[1] : place[1] + 1] = [name]
        case "swap":
            rows[i], rows[-1] = rows[-1], rows[i]
        case "equal":
            for row in rows[1:]:
                row[1:] = rows[1][1:]
    if not rows:
        rows.append(["true"])
    return what
