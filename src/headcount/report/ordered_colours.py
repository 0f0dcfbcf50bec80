"""Colours of ordered classes: one scale from light to dark, so that the order can be seen, also without telling hues apart."""

import math

from headcount.stream import GroupShares

__all__ = ["colour_rules", "is_scale", "ordered_colours"]

_LIGHTNESS = {"light": (0.74, 0.32), "dark": (0.52, 0.9), "both": (0.76, 0.46)}
"""Of the lowest and the highest class (OKLab, 0 to 1), by theme: higher classes stand out more from the page.

"both" is for plots, which are transparent and stand on light and dark pages."""
_CHROMA = 0.13
_HUES = (80.0, -70.0)
"""Of the lowest and the highest class, in degrees: from amber over red to violet."""
_DARK_TEXT = 0.6
"""Lightness from which text on a colour is dark."""
_FEWEST = 3
"""Classes from which an order can be seen."""


def is_scale(groups: GroupShares) -> bool:
    """Whether the classes of groups have colours of a scale: they are ordered, and more than two."""
    return groups.ordered and len(groups.classes) >= _FEWEST


def ordered_colours(k: int, theme: str = "light") -> list[str]:
    """Return a colour for each of k ordered classes, from the lowest to the highest.

    >>> ordered_colours(3)
    ['#d5a13c', '#a74662', '#351f6f']
    """
    return [_hex(*_point(i / max(k - 1, 1), theme)) for i in range(k)]


def colour_rules(k: int) -> dict[str, str]:
    """Return CSS declarations of the colours ``--c0`` .. of k classes, and ``--t0`` .. of text on them, by theme."""
    rules = {}
    for theme in ("light", "dark"):
        declared = []
        for i, colour in enumerate(ordered_colours(k, theme)):
            lightness = _point(i / max(k - 1, 1), theme)[0]
            declared.append(f"--c{i}:{colour};--t{i}:{'#14181f' if lightness > _DARK_TEXT else '#ffffff'}")
        rules[theme] = ";".join(declared)
    return rules


def _point(t: float, theme: str) -> tuple[float, float, float]:
    """Return lightness, chroma and hue at a place of the scale, from 0 to 1."""
    low, high = _LIGHTNESS[theme]
    return low + t * (high - low), _CHROMA, math.radians(_HUES[0] + t * (_HUES[1] - _HUES[0]))


def _hex(lightness: float, chroma: float, hue: float) -> str:
    """Return an OKLab colour (Ottosson 2020) in sRGB; what sRGB has not is drawn to its edge."""
    a, b = chroma * math.cos(hue), chroma * math.sin(hue)
    long = (lightness + 0.3963377774 * a + 0.2158037573 * b) ** 3
    medium = (lightness - 0.1055613458 * a - 0.0638541728 * b) ** 3
    short = (lightness - 0.0894841775 * a - 1.2914855480 * b) ** 3
    linear = (
        4.0767416621 * long - 3.3077115913 * medium + 0.2309699292 * short,
        -1.2684380046 * long + 2.6097574011 * medium - 0.3413193965 * short,
        -0.0041960863 * long - 0.7034186147 * medium + 1.7076147010 * short,
    )
    return "#" + "".join(f"{round(255 * _gamma(min(max(value, 0.0), 1.0))):02x}" for value in linear)


def _gamma(value: float) -> float:
    return 12.92 * value if value <= 0.0031308 else 1.055 * value ** (1 / 2.4) - 0.055
