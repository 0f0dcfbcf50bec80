"""The documentation without building it: its pages and links are there, its examples run, its commands exist."""

import doctest
import inspect
import re
import runpy
import shlex
import sys
from importlib import import_module
from pathlib import Path

import pytest
import yaml
from typer.main import get_command
from typer.testing import CliRunner

import headcount
from headcount.cli.app import app

ROOT = Path(__file__).parent.parent
DOCS = ROOT / "docs"
HOOKS = runpy.run_path(str(DOCS / "hooks.py"))
PAGES = {path.relative_to(DOCS).as_posix(): path.read_text(encoding="utf-8") for path in sorted(DOCS.rglob("*.md"))}
PAGES |= {page: HOOKS["taken"](page) for page in HOOKS["TAKEN"]}
TEXTS = PAGES | {"README.md": (ROOT / "README.md").read_text(encoding="utf-8")}
_FENCE = re.compile(r"^```(\w*)[^\n]*\n(.*?)^```", re.M | re.S)
_LINK = re.compile(r"\]\(([^)\s]+)\)")


def blocks(text, *languages):
    return [body for language, body in _FENCE.findall(text) if language in languages]


def plain(text):
    """Return a page without its code."""
    return re.sub(r"`[^`\n]*`", "", _FENCE.sub("", text))


def in_nav(part):
    if isinstance(part, str):
        return [part]
    return [page for entry in (part.values() if isinstance(part, dict) else part) for page in in_nav(entry)]


def test_every_page_is_in_the_nav_once_and_exists():
    nav = in_nav(yaml.safe_load((ROOT / "mkdocs.yml").read_text(encoding="utf-8"))["nav"])
    assert sorted(nav) == sorted(PAGES)


def anchors(text):
    """Return the names of a page's headings as the site makes them, and those of the objects that it describes."""
    headings = re.findall(r"^#+ (.+)$", _FENCE.sub("", text), re.M)
    words = (re.sub(r"[^\w\s-]", "", heading).strip().lower() for heading in headings)
    return {re.sub(r"[-\s]+", "-", one) for one in words} | set(re.findall(r"^::: (\S+)$", text, re.M))


@pytest.mark.parametrize("page", sorted(PAGES))
def test_links_lead_somewhere(page):
    known = {*PAGES, *HOOKS["SHOWN"], *HOOKS["pictures"]()}
    for link in _LINK.findall(plain(PAGES[page])):
        if link.startswith("https://"):
            continue
        target, _, anchor = link.partition("#")
        place = (DOCS / page).parent.joinpath(target).resolve() if target else DOCS / page
        name = place.relative_to(DOCS.resolve()).as_posix()
        assert name in known, f"{page}: {link}"
        if anchor:
            assert anchor in anchors(PAGES[name]), f"{page}: {link}"


def test_links_of_the_readme_lead_somewhere():
    for link in _LINK.findall(plain(TEXTS["README.md"])):
        assert link.startswith("https://") or (ROOT / link.partition("#")[0]).exists(), link


@pytest.mark.parametrize("page", sorted(page for page, text in PAGES.items() if ">>> " in text))
def test_examples_run(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    test = doctest.DocTestParser().get_doctest(PAGES[page].replace("```", ""), {}, page, page, 0)
    runner = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS)
    told = []
    assert runner.run(test, out=told.append).attempted
    assert not runner.failures, "".join(told)


def test_the_side_for_headcount_runs_and_that_for_quapy_is_python():
    """QuaPy's names were looked up in 0.2.3; it is no part of the tests' environment."""
    from sklearn.datasets import make_classification
    from sklearn.linear_model import LogisticRegression

    from headcount import CC, Samples

    X, y = make_classification(1500, flip_y=0.1, random_state=0)
    known = {"LogisticRegression": LogisticRegression, "X": X[:600], "y": y[:600], "X_new": X[600:], "X_test": X[600:]}
    known |= {
        "y_test": y[600:],
        "X_val": X[600:900],
        "y_val": y[600:900],
        "samples": Samples.from_groups([0, 1, 2] * 300),
    }
    known |= {"cc": CC().fit(X[:600], y[:600]), "classifier": LogisticRegression().fit(X[:600], y[:600])}
    sides = re.findall(r'^```python title="(\w+)"\n(.*?)^```', PAGES["start/quapy.md"], re.M | re.S)
    assert len(sides) == 10
    for whose, block in sides:
        code = compile(block, whose, "exec")
        if whose == "Headcount":
            exec(code, known)


def shell_lines():
    for page, text in TEXTS.items():
        for block in blocks(text, "sh", "console"):
            for line in block.replace("\\\n", " ").splitlines():
                yield page, line.removeprefix("$ ")


def commands():
    for page, line in shell_lines():
        words = shlex.split(line, comments=True) if line.startswith("headcount ") else []
        if words[1:] and words[1:] != ["--version"]:
            yield pytest.param(words[1:], id=f"{page}: {line[:60]}")


@pytest.mark.parametrize("words", list(commands()))
def test_commands_and_their_options_exist(words):
    command = get_command(app)
    while hasattr(command, "commands"):
        assert words[0] in command.commands
        command = command.commands[words[0]]
        words = words[1:]
    command.make_context("headcount", list(words))  # raises on unknown options, missing and superfluous arguments


def test_targets_of_make_exist():
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.M))
    named = {line.split()[1] for _, line in shell_lines() if line.startswith("make ")}
    named |= {word for text in TEXTS.values() for word in re.findall(r"`make ([a-z-]+)`", text)}
    assert named <= targets


def test_scripts_that_are_run_exist():
    for page, line in shell_lines():
        if line.startswith("python ") and not line.startswith("python -m"):
            assert (ROOT / line.split()[1]).exists(), f"{page}: {line}"


@pytest.mark.parametrize("page", sorted(page for page, text in PAGES.items() if "```console" in text))
def test_what_commands_print_is_what_they_print(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name, body in re.findall(r'^```csv title="([^"]+)"\n(.*?)^```', PAGES[page], re.M | re.S):
        (tmp_path / name).write_text(body)
    for block in blocks(PAGES[page], "console"):
        line, _, expected = block.partition("\n")
        found = CliRunner().invoke(app, shlex.split(line.removeprefix("$ headcount ")))
        assert found.output.split() == expected.split()


def test_the_page_of_commands_has_them_all():
    told = HOOKS["commands"]()
    for name in ("fit", "estimate", "compare", "check", "inspect", "methods", "data list", "study report"):
        assert f"## {name}\n" in told
    assert "| `--output`, `-o` | Write .csv" in told
    assert "headcount fit reviews.csv --text review --label stars -o stars.headcount" in told


def test_every_public_name_is_in_the_api():
    described = {name for page, text in PAGES.items() for name in re.findall(r"^::: (\S+)$", text, re.M)}
    for name in described:
        module, _, last = name.rpartition(".")
        assert hasattr(import_module(module), last), name
    lacking = {f"headcount.{name}" for name in headcount.__all__ if not name.startswith("_")} - described
    assert not lacking
    # Names of modules beside: their functions and classes, but for helpers of the library itself.
    helpers = {"Fit", "Fits", "Need", "Validation", "require", "score", "validation_parts", "as_samples"}
    shown = {name.rpartition(".")[2] for name in described}
    for module in {name.rpartition(".")[0] for name in described} - {"headcount"}:
        if module.count(".") > 1:  # a function whose module has its name
            continue
        public = import_module(module)
        names = {
            n for n in public.__all__ if inspect.isclass(getattr(public, n)) or inspect.isfunction(getattr(public, n))
        }
        assert names - helpers <= shown, module


@pytest.mark.parametrize("script", HOOKS["scripts"](), ids=lambda path: path.stem)
def test_pictures_are_shown_with_their_scripts(script):
    gallery = PAGES["gallery/index.md"]
    assert f"({script.stem}.svg)" in gallery
    assert f'--8<-- "docs/gallery/{script.name}"' in gallery


def test_a_picture_is_drawn(tmp_path, monkeypatch):
    script = DOCS / "gallery" / "unseen.py"
    monkeypatch.setattr(sys, "argv", [script.name, str(tmp_path / "p.svg")])
    runpy.run_path(str(script), run_name="__main__")
    picture = (tmp_path / "p.svg").read_text()
    assert "only known classes: trust" in picture
    assert "with a third class: do not trust" in picture
