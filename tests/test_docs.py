"""Tests of the documentation without building it: pages and links exist, examples run, commands parse."""

import inspect
import re
import runpy
import shlex
import sys
from importlib import import_module
from pathlib import Path

import matplotlib as mpl
import numpy as np
import pytest
import yaml
from typer.main import get_command

import headcount
from headcount.cli.app import app

ROOT = Path(__file__).parent.parent
DOCS = ROOT / "docs"
HOOKS = runpy.run_path(str(DOCS / "hooks.py"))
FOLLOW = runpy.run_path(str(DOCS / "pages.py"))
PAGES = {path.relative_to(DOCS).as_posix(): path.read_text(encoding="utf-8") for path in sorted(DOCS.rglob("*.md"))}
PAGES |= {page: HOOKS["included_page"](page) for page in HOOKS["INCLUDED_PAGES"]}
TEXTS = PAGES | {"README.md": (ROOT / "README.md").read_text(encoding="utf-8")}
LONG_PAGES = {"cases/survey.md"}
"""Pages that take some seconds, run by `make slow`."""
_NUMBER = re.compile(r"\d+(?:\.\d+)?")
_LINK = re.compile(r"\]\(([^)\s]+)\)")


def code_blocks(text, *languages):
    return [body for language, body in FOLLOW["FENCE"].findall(text) if language in languages]


def without_code(text):
    return re.sub(r"`[^`\n]*`", "", FOLLOW["FENCE"].sub("", text))


def pages_in_nav(entry):
    if isinstance(entry, str):
        return [entry]
    return [page for child in (entry.values() if isinstance(entry, dict) else entry) for page in pages_in_nav(child)]


def test_every_page_is_in_the_nav_once_and_exists():
    nav = pages_in_nav(yaml.safe_load((ROOT / "mkdocs.yml").read_text(encoding="utf-8"))["nav"])
    assert sorted(nav) == sorted(PAGES)


def anchors(text):
    """Return the anchors of a page: its headings as the site names them, and the API objects that it describes."""
    headings = re.findall(r"^#+ (.+)$", FOLLOW["FENCE"].sub("", text), re.M)
    words = (re.sub(r"[^\w\s-]", "", heading).strip().lower() for heading in headings)
    return {re.sub(r"[-\s]+", "-", word) for word in words} | set(re.findall(r"^::: (\S+)$", text, re.M))


@pytest.mark.parametrize("page", sorted(PAGES))
def test_links_of_a_page_exist(page):
    site_files = {*PAGES, *HOOKS["INCLUDED_FILES"], *HOOKS["pictures"]()}
    for link in _LINK.findall(without_code(PAGES[page])):
        if link.startswith("https://"):
            continue
        target, _, anchor = link.partition("#")
        path = (DOCS / page).parent.joinpath(target).resolve() if target else DOCS / page
        name = path.relative_to(DOCS.resolve()).as_posix()
        assert name in site_files, f"{page}: {link}"
        if anchor:
            assert anchor in anchors(PAGES[name]), f"{page}: {link}"


def test_links_of_the_readme_exist():
    for link in _LINK.findall(without_code(TEXTS["README.md"])):
        assert link.startswith("https://") or (ROOT / link.partition("#")[0]).exists(), link


def pages_that_run():
    for page, text in PAGES.items():
        if ">>> " in text or "```console" in text:
            yield pytest.param(page, marks=[pytest.mark.slow] * (page in LONG_PAGES))


@pytest.mark.parametrize("page", list(pages_that_run()))
def test_commands_and_examples_of_a_page_print_what_it_says(page, tmp_path):
    """If they do not, and should: python docs/pages.py docs/PAGE.md writes what they print."""
    shown, printed = (
        FOLLOW["FENCE"].findall(text) for text in (PAGES[page], FOLLOW["followed"](PAGES[page], tmp_path))
    )
    for (_, block), (_, now) in zip(shown, printed, strict=True):
        assert_same_but_for_rounding(block, now)


def assert_same_but_for_rounding(shown, printed):
    """Numbers may differ by a twentieth or by one in the last digit: classifiers depend on the processor's linear algebra."""
    assert _NUMBER.sub("0", shown).split() == _NUMBER.sub("0", printed).split()
    for one, other in zip(_NUMBER.findall(shown), _NUMBER.findall(printed), strict=True):
        digit = 10.0 ** -len(one.partition(".")[2])
        assert float(one) == pytest.approx(float(other), rel=0.05, abs=1.01 * digit), (
            f"{one} is now {other}:\n{printed}"
        )


def test_pages_are_compared_by_words_and_by_numbers():
    assert_same_but_for_rounding("low 56.4 % (p = 0.202)", "low  56.5 % (p = 0.199)")
    for other in ("low 56.4 % (p = 0.302)", "low 46.4 % (p = 0.202)", "high 56.4 % (p = 0.202)", "low 56.4 %"):
        with pytest.raises(AssertionError):
            assert_same_but_for_rounding("low 56.4 % (p = 0.202)", other)


def test_headcount_side_of_the_quapy_page_runs_and_quapy_side_compiles():
    """QuaPy is not part of the tests' environment: its names were looked up in version 0.2.3."""
    from sklearn.datasets import make_classification
    from sklearn.linear_model import LogisticRegression

    from headcount import CC, Samples

    X, y = make_classification(1500, flip_y=0.1, random_state=0)
    namespace = {"LogisticRegression": LogisticRegression, "X": X[:600], "y": y[:600], "X_new": X[600:]}
    namespace |= {"X_test": X[600:], "y_test": y[600:], "X_val": X[600:900], "y_val": y[600:900]}
    namespace |= {"samples": Samples.from_groups([0, 1, 2] * 300), "cc": CC().fit(X[:600], y[:600])}
    namespace |= {"classifier": LogisticRegression().fit(X[:600], y[:600])}
    sides = re.findall(r'^```python title="(\w+)"\n(.*?)^```', PAGES["start/quapy.md"], re.M | re.S)
    assert len(sides) == 12
    for library, block in sides:
        code = compile(block, library, "exec")
        if library == "Headcount":
            exec(code, namespace)


def shell_lines():
    for page, text in TEXTS.items():
        for block in code_blocks(text, "sh", "console"):
            for line in block.replace("\\\n", " ").splitlines():
                yield page, line.removeprefix("$ ")


def documented_commands():
    for page, line in shell_lines():
        words = shlex.split(line, comments=True) if line.startswith("headcount ") else []
        if words[1:] and words[1:] != ["--version"]:
            yield pytest.param(words[1:], id=f"{page}: {line[:60]}")


@pytest.mark.parametrize("words", list(documented_commands()))
def test_documented_commands_and_options_exist(words):
    command = get_command(app)
    while hasattr(command, "commands"):
        assert words[0] in command.commands
        command = command.commands[words[0]]
        words = words[1:]
    command.make_context("headcount", list(words))  # raises on unknown options, missing and superfluous arguments


def test_documented_make_targets_exist():
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.M))
    named = {line.split()[1] for _, line in shell_lines() if line.startswith("make ")}
    named |= {word for text in TEXTS.values() for word in re.findall(r"`make ([a-z-]+)`", text)}
    assert named <= targets


def test_documented_scripts_exist():
    for page, line in shell_lines():
        words = line.split()
        if "python" not in words[:2]:
            continue
        script, *more = words[words.index("python") + 1 :]
        if script == "-m":
            module = more[0].replace(".", "/")
            script = f"{module}/__main__.py" if (ROOT / module).is_dir() else f"{module}.py"
        assert (ROOT / script).exists(), f"{page}: {line}"


def test_command_reference_has_all_commands():
    reference = HOOKS["commands"]()
    for name in ("fit", "estimate", "compare", "check", "inspect", "methods", "data list", "study report"):
        assert f"## {name}\n" in reference
    assert "| `--output`, `-o` | Write .csv" in reference
    assert "headcount fit reviews.csv --text review --label stars -o stars.headcount" in reference


def test_every_public_name_is_in_the_api():
    described = {name for page, text in PAGES.items() for name in re.findall(r"^::: (\S+)$", text, re.M)}
    for name in described:
        module, _, attribute = name.rpartition(".")
        assert hasattr(import_module(module), attribute), name
    missing = {f"headcount.{name}" for name in headcount.__all__ if not name.startswith("_")} - described
    assert not missing
    # Of other modules: their public functions and classes, except helpers that only the library itself uses.
    helpers = {"Fit", "Fits", "Need", "Validation", "require", "score", "validation_parts", "as_samples"}
    described_attributes = {name.rpartition(".")[2] for name in described}
    for module in {name.rpartition(".")[0] for name in described} - {"headcount"}:
        if module.count(".") > 1:  # a function that has the name of its module
            continue
        public = import_module(module)
        names = {
            n for n in public.__all__ if inspect.isclass(getattr(public, n)) or inspect.isfunction(getattr(public, n))
        }
        assert names - helpers <= described_attributes, module


@pytest.mark.parametrize("script", HOOKS["gallery_scripts"](), ids=lambda path: path.stem)
def test_gallery_shows_each_picture_with_its_script(script):
    gallery = PAGES["gallery/index.md"]
    assert f"({script.stem}.svg)" in gallery
    assert f'--8<-- "docs/gallery/{script.name}"' in gallery


def draw(script, path, monkeypatch):
    monkeypatch.setattr(sys, "argv", [script.name, str(path)])
    runpy.run_path(str(script), run_name="__main__")
    return path.read_text(encoding="utf-8")


def test_gallery_script_draws_its_picture(tmp_path, monkeypatch):
    picture = draw(DOCS / "gallery" / "unseen.py", tmp_path / "unseen.svg", monkeypatch)
    assert "only known classes: trust" in picture
    assert "with a third class: do not trust" in picture


def test_picture_of_the_readme_is_what_its_script_draws(tmp_path, monkeypatch):
    """If it is not: python docs/gallery/months.py docs/gallery/months.svg."""
    checked_in = (DOCS / "gallery" / "months.svg").read_text(encoding="utf-8")
    drawn = draw(DOCS / "gallery" / "months.py", tmp_path / "months.svg", monkeypatch)

    def texts(svg):
        return re.findall(r"<text[^>]*>([^<]*)</text>", svg)

    def coordinates(svg):
        paths = re.findall(r' d="([^"]*)"', svg)
        return np.array([float(number) for path in paths for number in re.findall(r"-?\d+\.?\d*", path)])

    assert texts(drawn) == texts(checked_in)
    if f"Matplotlib v{mpl.__version__}," in checked_in:  # other versions may lay it out differently
        np.testing.assert_allclose(coordinates(drawn), coordinates(checked_in), atol=0.5)
