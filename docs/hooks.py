"""What the site is made of beside the pages of this folder: pages from elsewhere in the repository, pictures, the commands.

Nothing of mkdocs is imported before it is used, so that the tests can ask what there will be without it.
"""

import re
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parent.parent
TAKEN = {
    "architecture.md": "ARCHITECTURE.md",
    "changelog.md": "CHANGELOG.md",
    "contributing.md": "CONTRIBUTING.md",
    "examples.md": "examples/README.md",
    "studies/index.md": "studies/README.md",
    "studies/paper.md": "studies/paper.md",
}
"""Pages of the site that are files elsewhere in the repository."""
SHOWN = {"studies/ten-trees.toml": "studies/ten-trees.toml"}
"""Other files that pages link to."""
BEHIND = {"examples.md": '\n\n## The script\n\n```python\n--8<-- "examples/device_reviews.py"\n```\n'}
COMMANDS = "<!-- commands -->"
_LINK = re.compile(r"(?<=\]\()([^)#\s]+)(#[^)\s]*)?(?=\))")


def scripts() -> list[Path]:
    """Return the scripts of the gallery; each draws the picture of its name."""
    return sorted((ROOT / "docs" / "gallery").glob("*.py"))


def pictures() -> list[str]:
    """Return the pictures of the site."""
    return [f"gallery/{path.stem}.svg" for path in scripts()]


def draw(script: Path) -> str:
    """Run a script of the gallery and return its picture."""
    with tempfile.TemporaryDirectory() as folder:
        picture = Path(folder) / "picture.svg"
        subprocess.run([sys.executable, str(script), str(picture)], check=True, cwd=ROOT)
        return picture.read_text(encoding="utf-8")


def taken(page: str) -> str:
    """Return the text of a page that lies elsewhere, its links to other such files made links of the site."""
    source = ROOT / TAKEN[page]
    places = {(ROOT / path).resolve(): name for name, path in (TAKEN | SHOWN).items()}
    places |= {path.resolve(): path.relative_to(ROOT / "docs").as_posix() for path in (ROOT / "docs").rglob("*.md")}

    def linked(match: re.Match[str]) -> str:
        place = places.get((source.parent / match[1]).resolve())
        return match[0] if place is None else "../" * page.count("/") + place + (match[2] or "")

    text = source.read_text(encoding="utf-8").replace("\\<", "&lt;")  # an escape that Python's Markdown does not know
    return _LINK.sub(linked, text) + BEHIND.get(page, "")


def commands() -> str:
    """Return all commands of the command line with arguments and options, as Markdown."""
    from typer.main import get_command

    from headcount.cli.app import app

    return "\n".join(_told(get_command(app), "headcount"))


def _told(command: Any, name: str) -> list[str]:
    lines = []
    if hasattr(command, "commands"):
        for word, inner in command.commands.items():
            lines += _told(inner, f"{name} {word}")
        return lines
    text, examples = [], []
    for paragraph in re.split(r"\n\s*\n", command.help or ""):
        words = " ".join(paragraph.split())
        before, mark, example = words.partition("Example: ")
        text += [before.strip()] if before.strip() else []
        examples += [example] if mark else []
    lines += [f"## {name.removeprefix('headcount ')}", ""]
    for paragraph in text:
        lines += [paragraph, ""]
    lines += ["```sh", *(examples or [name]), "```", ""]
    lines += ["| | what it is |", "|---|---|"]
    for one in command.params:
        names = (
            ", ".join(f"`{word}`" for word in one.opts) if one.param_type_name == "option" else f"`{one.name.upper()}`"
        )
        if one.name == "help":
            continue
        lines.append(f"| {names} | {_cell(one)} |")
    return [*lines, ""]


def _cell(one: Any) -> str:
    default = one.default() if callable(one.default) else one.default
    known = (
        one.param_type_name == "option"
        and not getattr(one, "is_flag", False)
        and isinstance(default, int | float | str | Path)
    )
    said = (getattr(one, "help", "") or "").replace("|", "\\|").replace("*", "\\*").replace("[default", "\\[default")
    return (
        said
        + (f" Default: `{default}`." if known and "default" not in said and str(default) else "")
        + (" Required." if one.required and one.param_type_name == "option" else "")
    )


_drawn: dict[str, str] = {}


def on_files(files: Any, config: Any) -> Any:
    """Add what lies elsewhere and the pictures (called by mkdocs)."""
    from mkdocs.structure.files import File

    for page in TAKEN:
        files.append(File.generated(config, page, content=taken(page)))
    for name, path in SHOWN.items():
        files.append(File.generated(config, name, abs_src_path=str(ROOT / path)))
    for script in scripts():
        text = script.read_text(encoding="utf-8")
        if text not in _drawn:
            _drawn[text] = draw(script)
        files.append(File.generated(config, f"gallery/{script.stem}.svg", content=_drawn[text]))
    return files


def on_page_markdown(markdown: str, **_: Any) -> str:
    """Put the commands where a page asks for them (called by mkdocs)."""
    return markdown.replace(COMMANDS, commands()) if COMMANDS in markdown else markdown
