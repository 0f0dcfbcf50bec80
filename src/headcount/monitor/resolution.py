"""`resolution_of`: the move that would have been found by now, and whether anything can be said yet."""

from collections.abc import Mapping

import numpy as np

from headcount.monitor.share_watches import BandWatch, MovedWatch

__all__ = ["resolution_of"]

_COARSE = 4.0
"""Nothing can be said yet while only a move of more than this many times ``move`` would have been found."""


def resolution_of(
    moved: MovedWatch | None, band: BandWatch | None, thresholds: Mapping[str, float], scale: float, half_width: float
) -> tuple[float, bool, str]:
    """Return the move that would have been found by now, whether that is too coarse to say anything, and why.

    Parameters
    ----------
    moved, band : watches of a reference and of bands, or None
    thresholds : mapping of kind of alarm to e-value
    scale : float
        Size of a move that is to be found fast.
    half_width : float
        Of the widest interval of the confidence sequence, which counts where there is nothing else.
    """
    found, limits = [], []
    if moved is not None:
        if moved.centre is None:
            left = int(moved.first - moved.first_n)
            return np.inf, True, f"Nothing can be said yet: the reference still needs {left:,} items."
        threshold = float(np.log(thresholds["moved"]))
        found.append(moved.resolution(threshold))
        limits.append(moved.limit(threshold))
    if band is not None:
        found.append(band.resolution(float(np.log(thresholds["band"]))))
    if not found:
        early = half_width > _COARSE * scale
        return np.nan, early, "Nothing can be said yet: there are too few items." if early else ""
    worst = max(found)
    if worst > _COARSE * scale:
        points = "" if worst > 1 else f" Only a move of {100 * worst:.0f} points would have been found."
        return worst, True, f"Nothing can be said yet: there are too few items.{points}"
    if limits and limits[0] > scale:
        return (
            worst,
            False,
            f"A move by less than {100 * limits[0]:.1f} points from the beginning on can't be found with so few labelled items. "
            "Label more, or take the first items of the stream for the reference.",
        )
    return worst, False, ""
