"""Follow a page of the documentation from top to bottom: run its commands and its Python, in one folder.

``python docs/pages.py docs/cases/tickets.md`` writes what they print now into the page; the tests compare it with what is there.
"""

import doctest
import re
import shlex
import sys
import tempfile
import textwrap
from contextlib import chdir
from pathlib import Path

FENCE = re.compile(r"^```(\w*)[^\n]*\n(.*?)^```", re.M | re.S)
"""A block of code: its language and its text."""
_TABLE_WIDTH, _SENTENCE_WIDTH = 110, 100
_TITLED = re.compile(r'^```csv title="([^"]+)"\n(.*?)^```', re.M | re.S)


def followed(text: str, folder: Path) -> str:
    """Return a page with what its commands and its Python print, run one after another in a folder.

    Tables with a title are written first. A block of ``console`` is a command and what it prints.
    """
    for name, table in _TITLED.findall(text):
        (folder / name).write_text(table, encoding="utf-8")
    names: dict[str, object] = {}
    done, end = [], 0
    with chdir(folder):
        for block in FENCE.finditer(text):
            language, body = block.groups()
            done.append(text[end : block.start(2)])
            end = block.end(2)
            if language == "console":
                done.append(_command_and_output(body))
            elif ">>> " in body:
                done.append(_python_and_output(body, names))
            else:
                done.append(body)
    return "".join(done) + text[end:]


def _command_and_output(body: str) -> str:
    from typer.testing import CliRunner

    from headcount.cli.app import app

    line = body.partition("\n")[0]
    printed = CliRunner().invoke(app, shlex.split(line.removeprefix("$ headcount "))).output
    return "\n".join([line, *(part for row in printed.splitlines() for part in _wrapped(row.rstrip()))]) + "\n"


def _wrapped(line: str) -> list[str]:
    """Break a long sentence, as terminals do; tables stay as they are."""
    if len(line) <= _TABLE_WIDTH or "  " in line.strip():
        return [line]
    return textwrap.wrap(line, _SENTENCE_WIDTH, subsequent_indent="  ", break_long_words=False)


def _python_and_output(body: str, names: dict[str, object]) -> str:
    """Run examples; where they print what is there but for white space, it is left as it is."""
    flags = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS
    lines, printed = body.splitlines(keepends=True), {}

    class Runner(doctest.DocTestRunner):
        def report_failure(self, out: object, test: object, example: doctest.Example, got: str) -> None:  # noqa: ARG002
            printed[example] = got

        def report_unexpected_exception(self, out: object, test: object, example: object, exc_info: object) -> None:  # noqa: ARG002
            raise exc_info[1]  # type: ignore[index]

    test = doctest.DocTestParser().get_doctest(body, names, "page", "page", 0)
    Runner(optionflags=flags).run(test, clear_globs=False)
    names.update(test.globs)
    for example in reversed(list(printed)):
        first = example.lineno + example.source.count("\n")
        lines[first : first + example.want.count("\n")] = [printed[example]]
    return "".join(lines)


if __name__ == "__main__":
    for path in map(Path, sys.argv[1:]):
        with tempfile.TemporaryDirectory() as folder:
            path.write_text(followed(path.read_text(encoding="utf-8"), Path(folder)), encoding="utf-8")
