"""griffe extension: in docstrings, convert formulas to MathML (which needs no script) and Sphinx roles to code."""

import re
from textwrap import dedent
from typing import Any

from griffe import Alias, Extension
from latex2mathml.converter import convert

_BLOCK = re.compile(r"^([ ]*)\.\. math:: ?(.*(?:\n(?:[ ]*\n)*\1[ ]+\S.*)*)", re.M)
_INLINE = re.compile(r"(?:(?<=\S)\n[ ]*)?:math:`([^`]*)`")
"""Joined to the line before: Markdown treats a formula at the start of a line as a block."""
_SESSION = re.compile(r"(?:^>>> .*\n?(?:^(?!\s*$).*\n?)*)", re.M)
_CHOICE = re.compile(r"^([ ]*[\w, ]+ : )\{([^}]*)\}", re.M)
"""Rewritten as "one of": mkdocstrings would show the first of several values as the default."""
_ROLE = re.compile(r":(?:class|func|meth|mod|attr|exc):`~?\.?([^`]*)`")


class Formulas(Extension):
    """Convert numpydoc docstrings to Markdown."""

    def on_object(self, *, obj: Any, **_: Any) -> None:
        """Rewrite the docstring of a module, class, function or attribute."""
        if obj.docstring is not None:
            obj.docstring.value = readable(obj.docstring.value)

    def on_package(self, *, pkg: Any, **_: Any) -> None:
        """Resolve `headcount.estimate` to the function, not to the module of `headcount.intervals` with the same name."""
        if pkg.name == "headcount":
            pkg.set_member("estimate", Alias("estimate", "headcount.intervals.estimate.estimate", parent=pkg))


def readable(text: str) -> str:
    """Return a docstring with its formulas as MathML, its roles as code, and examples without a heading as code."""
    text = _BLOCK.sub(lambda m: f"{m[1]}{_formula(' '.join(dedent(m[2]).split()), 'block')}", text)
    text = _INLINE.sub(lambda m: ("" if m[0].startswith(":") else " ") + _formula(m[1], "inline"), text)
    text = _CHOICE.sub(lambda m: f"{m[1]}one of {m[2]}", text)
    text = _ROLE.sub(r"`\1`", text)
    return text if "Examples\n---" in text else _SESSION.sub(lambda m: f"```python\n{m[0].rstrip()}\n```\n", text)


def _formula(latex: str, display: str) -> str:
    return convert(re.sub(r"\\[lr]Vert\b", r"\\Vert ", latex), display=display)
