"""Differences between two plans, as stores keep them."""

import json
from collections.abc import Iterator
from typing import Any

__all__ = ["differences", "merged"]


def differences(old: Any, new: Any, where: str = "") -> Iterator[str]:
    """Yield what differs between two plans. Named entries that only one of them has do not count: it may be a part of the other."""
    if _named(old) and _named(new):
        before = {entry["name"]: entry for entry in old}
        for entry in new:
            yield from differences(before.get(entry["name"], entry), entry, f"{where}[{entry['name']}]")
    elif isinstance(old, dict) and isinstance(new, dict):
        for key in sorted({*old, *new}):
            yield from differences(old.get(key), new.get(key), f"{where}.{key}" if where else key)
    elif isinstance(old, list) and isinstance(new, list) and len(old) == len(new):
        for i, (a, b) in enumerate(zip(old, new, strict=True)):
            yield from differences(a, b, f"{where}[{i}]")
    elif old != new:
        yield f"{where} was {_short(old)}, is {_short(new)}"


def _named(value: Any) -> bool:
    return (
        isinstance(value, list) and bool(value) and all(isinstance(entry, dict) and "name" in entry for entry in value)
    )


def merged(old: Any, new: Any) -> Any:
    """Return the new value, with the named entries that only the old one has."""
    if not (_named(old) and _named(new)):
        return new
    names = {entry["name"] for entry in new}
    return [*new, *(entry for entry in old if entry["name"] not in names)]


def _short(value: Any) -> str:
    text = json.dumps(value)
    return text if len(text) <= 60 else f"{text[:57]}..."
