"""Take values of the command line as they are: typer validates them by pydantic, whose import takes as long as a small command."""

import os
from pathlib import Path
from typing import Any, get_args

import typer.core

__all__ = ["take_plain_values"]


def take_plain_values() -> None:
    """Change how typer converts values, in this process: those that have their type already are not validated.

    A version of typer that does not convert values by pydantic is left as it is.
    """
    build: Any = getattr(typer.core, "build_runtime_param", None)
    if build is not None and not isinstance(build, _Conversions):
        typer.core.build_runtime_param = _Conversions(build)  # type: ignore[attr-defined]


class _Conversions:
    """Makes the conversion of a parameter."""

    def __init__(self, build: Any) -> None:
        self._build = build

    def __call__(self, descriptor: Any) -> Any:
        return _Conversion(descriptor, self._build)


class _Conversion:
    """Converts the values of a parameter, by typer where they are not of its type yet."""

    def __init__(self, descriptor: Any, build: Any) -> None:
        self._descriptor, self._build = descriptor, build

    def coerce(self, value: Any, param: Any, ctx: Any) -> Any:
        several = param.multiple or param.nargs == -1
        if value is None:
            return () if several else None
        annotation, info = self._descriptor.annotation, self._descriptor.parameter_info
        if info.parser is None and not several and _has_type(value, annotation, info):
            return value
        if info.parser is None and several and get_args(annotation) == (str,) and isinstance(value, list | tuple):
            if all(type(one) is str for one in value):
                return list(value)
        elif annotation is Path and type(value) is str and _needs_no_check(value, info):
            return Path(value)
        return self._build(self._descriptor).coerce(value, param=param, ctx=ctx)


def _has_type(value: Any, annotation: Any, info: Any) -> bool:
    """Whether a value is of the type that is asked for, and in its range."""
    if annotation not in (str, int, float) or type(value) is not annotation:
        return False
    return annotation is str or ((info.min is None or value >= info.min) and (info.max is None or value <= info.max))


def _needs_no_check(path: str, info: Any) -> bool:
    """Whether nothing is asked of a path but that it can be read if it is there."""
    if info.exists or info.writable or info.resolve_path or info.path_type is not None or info.parser is not None:
        return False
    return bool(info.file_okay and info.dir_okay) and (not os.path.lexists(path) or os.access(path, os.R_OK))
