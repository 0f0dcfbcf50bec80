"""mkdocs hooks: add pages from elsewhere in the repository, the gallery's pictures and the reference of the command line.

mkdocs is imported only inside the hooks, so that the tests can list the site's pages without it.
"""

import re
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parent.parent
INCLUDED_PAGES = {
    "architecture.md": "ARCHITECTURE.md",
    "changelog.md": "CHANGELOG.md",
    "contributing.md": "CONTRIBUTING.md",
    "examples.md": "examples/README.md",
    "studies/index.md": "studies/README.md",
    "studies/paper.md": "studies/paper.md",
    "studies/gap.md": "studies/gap.md",
    "studies/league.md": "studies/league.md",
    "studies/league-published.md": "studies/league-published.md",
    "studies/ordinal-league.md": "studies/ordinal-league.md",
    "studies/stars-by-quarter.md": "studies/stars-by-quarter.md",
}
"""Page of the site -> the file elsewhere in the repository that it is made from."""
INCLUDED_FILES = {
    path: path
    for pattern in ("*.toml", "gap*.py", "league*.py", "league*.csv", "ordinal-*.csv", "stars*.*", "*/*.svg")
    for file in (ROOT / "studies").glob(pattern)
    for path in [file.relative_to(ROOT).as_posix()]
}
"""Other files of the repository that pages link to."""
APPENDED = {"examples.md": '\n\n## The script\n\n```python\n--8<-- "examples/device_reviews.py"\n```\n'}
"""Text that is added at the end of an included page."""
COMMANDS_MARKER = "<!-- commands -->"
_LINK = re.compile(r"(?<=\]\()([^)#\s]+)(#[^)\s]*)?(?=\))")


def gallery_scripts() -> list[Path]:
    """Return the scripts of the gallery; each draws the picture that has its name."""
    return sorted((ROOT / "docs" / "gallery").glob("*.py"))


def pictures() -> list[str]:
    """Return the paths of the gallery's pictures on the site."""
    return [f"gallery/{script.stem}.svg" for script in gallery_scripts()]


def draw(script: Path) -> str:
    """Run a script of the gallery and return its SVG."""
    with tempfile.TemporaryDirectory() as folder:
        picture = Path(folder) / "picture.svg"
        subprocess.run([sys.executable, str(script), str(picture)], check=True, cwd=ROOT)
        return picture.read_text(encoding="utf-8")


def included_page(page: str) -> str:
    """Return the text of a page from elsewhere in the repository, with its links rewritten to pages of the site."""
    source = ROOT / INCLUDED_PAGES[page]
    site_paths = {(ROOT / path).resolve(): name for name, path in (INCLUDED_PAGES | INCLUDED_FILES).items()}
    site_paths |= {path.resolve(): path.relative_to(ROOT / "docs").as_posix() for path in (ROOT / "docs").rglob("*.md")}

    def rewrite(match: re.Match[str]) -> str:
        target = site_paths.get((source.parent / match[1]).resolve())
        return match[0] if target is None else "../" * page.count("/") + target + (match[2] or "")

    text = source.read_text(encoding="utf-8").replace("\\<", "&lt;")  # an escape that Python's Markdown does not know
    return _LINK.sub(rewrite, text) + APPENDED.get(page, "")


def commands() -> str:
    """Return the reference of all commands, with their arguments and options, as Markdown."""
    from typer.main import get_command

    from headcount.cli.app import app

    return "\n".join(_command_section(get_command(app), "headcount"))


def _command_section(command: Any, name: str) -> list[str]:
    """Return the Markdown lines for a command, or for all commands of a group."""
    if hasattr(command, "commands"):
        return [line for word, inner in command.commands.items() for line in _command_section(inner, f"{name} {word}")]
    paragraphs, examples = [], []
    for paragraph in re.split(r"\n\s*\n", command.help or ""):
        text, marker, example = " ".join(paragraph.split()).partition("Example: ")
        paragraphs += [text.strip(), ""] if text.strip() else []
        examples += [example] if marker else []
    lines = [f"## {name.removeprefix('headcount ')}", "", *paragraphs]
    lines += ["```sh", *(examples or [name]), "```", ""]
    lines += ["| | what it is |", "|---|---|"]
    for parameter in command.params:
        if parameter.name == "help" or getattr(parameter, "hidden", False):
            continue
        is_option = parameter.param_type_name == "option"
        names = ", ".join(f"`{flag}`" for flag in parameter.opts) if is_option else f"`{parameter.name.upper()}`"
        lines.append(f"| {names} | {_parameter_description(parameter)} |")
    return [*lines, ""]


def _parameter_description(parameter: Any) -> str:
    """Return the help text of an argument or option as a table cell, with its default."""
    help_text = getattr(parameter, "help", "") or ""
    description = help_text.replace("|", "\\|").replace("*", "\\*").replace("[default", "\\[default")
    if parameter.param_type_name != "option":
        return description
    default = parameter.default() if callable(parameter.default) else parameter.default
    is_value = isinstance(default, int | float | str | Path) and not getattr(parameter, "is_flag", False)
    if is_value and str(default) and "default" not in description:
        description += f" Default: `{default}`."
    return description + (" Required." if parameter.required else "")


_drawn: dict[str, str] = {}
"""Source of a gallery script -> its SVG, so that `mkdocs serve` draws only what has changed."""


def on_files(files: Any, config: Any) -> Any:
    """Add the included pages and files and the gallery's pictures (called by mkdocs)."""
    from mkdocs.structure.files import File

    for page in INCLUDED_PAGES:
        files.append(File.generated(config, page, content=included_page(page)))
    for name, path in INCLUDED_FILES.items():
        files.append(File.generated(config, name, abs_src_path=str(ROOT / path)))
    for script in gallery_scripts():
        source = script.read_text(encoding="utf-8")
        if source not in _drawn:
            _drawn[source] = draw(script)
        picture = File.generated(config, f"gallery/{script.stem}.svg", content=_drawn[source])
        checked_in = files.get_file_from_path(picture.src_uri)  # the README's picture: the site draws it anew
        if checked_in is not None:
            files.remove(checked_in)
        files.append(picture)
    return files


def on_page_markdown(markdown: str, **_: Any) -> str:
    """Replace the marker on the page of commands by their reference (called by mkdocs)."""
    return markdown.replace(COMMANDS_MARKER, commands()) if COMMANDS_MARKER in markdown else markdown
