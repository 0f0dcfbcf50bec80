"""Docstrings for the site: formulas as MathML, which needs no script, and roles as plain code."""

import re
from textwrap import dedent
from typing import Any

from griffe import Extension
from latex2mathml.converter import convert

_BLOCK = re.compile(r"^([ ]*)\.\. math:: ?(.*(?:\n(?:[ ]*\n)*\1[ ]+\S.*)*)", re.M)
_INLINE = re.compile(r":math:`([^`]*)`")
_ROLE = re.compile(r":(?:class|func|meth|mod|attr|exc):`~?\.?([^`]*)`")


class Formulas(Extension):
    """Turn what numpydoc's readers expect into what Markdown understands."""

    def on_object(self, *, obj: Any, **_: Any) -> None:
        """Rewrite the docstring of a module, class, function or attribute."""
        if obj.docstring is not None:
            obj.docstring.value = readable(obj.docstring.value)


def readable(text: str) -> str:
    """Return a docstring with its formulas as MathML and its roles as code."""
    text = _BLOCK.sub(lambda m: f"{m[1]}{convert(' '.join(dedent(m[2]).split()), display='block')}", text)
    text = _INLINE.sub(lambda m: convert(m[1]), text)
    return _ROLE.sub(r"`\1`", text)
