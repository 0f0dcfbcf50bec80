"""Groups that are in order: which form a series over periods or numbers, and which shares moved most from first to last."""

import re
from typing import Any, NamedTuple

import numpy as np

from headcount._validation import plain
from headcount.stream import GroupShares
from headcount.stream.groups import group_label
from headcount.stream.verdicts import DO_NOT_TRUST

__all__ = ["Move", "Order", "order_of", "top_moves"]

_PERIOD = re.compile(r"(1[89]|2[01])\d\d(-(\d{2}(-\d{2})?|Q\d|W\d{2}))?")
"""A year from 1800 to 2199, or a part of it: a bare number outside is rather a count or a key."""
_NUMBER = re.compile(r"-?\d+(\.\d+)?")


class Order(NamedTuple):
    """How groups are ordered.

    Attributes
    ----------
    kind : {"periods", "numbers", ""}
        Empty where groups have no order of their own.
    series : list of str
        Titles of the series: the other columns of a grouping by several; one empty title if there are none.
    members : list of lists of int
        The groups of each series, in order; a group without a period or number belongs to none.
    steps : list of str
        The period or number of each group; its name where there is no order.
    """

    kind: str
    series: list[str]
    members: list[list[int]]
    steps: list[str]


class Move(NamedTuple):
    """The share of a class in the first and the last period of a series."""

    series: str
    label: str
    first: int
    last: int
    j: int
    change: float
    apart: bool
    """Whether the two intervals have no value in common."""


def order_of(groups: GroupShares) -> Order:
    """Find the column whose values are periods, or else numbers; the last one where several are."""
    parts = [name if isinstance(name, tuple) else (name,) for name in groups.names]
    for kind, form in (("periods", _PERIOD), ("numbers", _NUMBER)):
        for position in reversed(range(len(parts[0]))):
            column = [part[position] for part in parts]
            if any(value is not None for value in column) and all(
                value is None or form.fullmatch(str(value)) for value in column
            ):
                return _by_column(kind, parts, position)
    return Order("", [""], [list(range(len(parts)))], [group_label(name) for name in groups.names])


def _by_column(kind: str, parts: list[tuple[Any, ...]], position: int) -> Order:
    members: dict[str, list[int]] = {}
    for g, part in enumerate(parts):
        if part[position] is None:
            continue
        others = part[:position] + part[position + 1 :]
        members.setdefault(group_label(others) if others else "", []).append(g)
    return Order(kind, list(members), list(members.values()), [group_label(part[position]) for part in parts])


def top_moves(groups: GroupShares, order: Order, most: int = 10) -> list[Move]:
    """Return the largest changes of a share between the first and the last usable period of a series, the largest first.

    Changes whose intervals are apart come before all others: of many series, the largest changes are mostly noise.
    """
    if order.kind != "periods":
        return []
    moves = []
    mirrored = len(order.series) > 1 and len(groups.classes) == 2  # one of two classes says it for both
    for title, members in zip(order.series, order.members, strict=True):
        usable = [g for g in members if not np.isnan(groups.shares[g, 0]) and groups.verdicts[g] != DO_NOT_TRUST]
        if len(usable) < 2:
            continue
        first, last = usable[0], usable[-1]
        for j in range(1 if mirrored else 0, len(groups.classes)):
            change = float(groups.shares[last, j] - groups.shares[first, j])
            apart = bool(groups.low[last, j] > groups.high[first, j] or groups.high[last, j] < groups.low[first, j])
            moves.append(Move(title, str(plain(groups.classes[j])), first, last, j, change, apart))
    return sorted(moves, key=lambda move: (not move.apart, -abs(move.change)))[:most]
