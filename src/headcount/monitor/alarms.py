"""How alpha is divided among the kinds of alarms, and what these say."""

__all__ = ["DOUBTFUL", "LASTING", "THRESHOLD_PARTS", "alarm_text", "share_text"]

THRESHOLD_PARTS = {"moved": 0.7, "band": 0.7, "items": 0.2, "labels": 0.1}
"""Parts of alpha of each kind of alarm; those that can't be raised leave theirs to the others."""
DOUBTFUL = 0.05
"""P-value of the test of the items since a share moved, below which the alarm says that the items may be others."""
_DOUBT = (
    "But these items are of no mixture of the labelled classes, so that they may have changed rather than their shares: label "
    "some of them"
)
LASTING = {
    "items": "The items have changed, so that neither shares nor their alarms can be trusted until a model is fitted to such ones.",
    "labels": "Labels contradict the shares, which can't be trusted until a model is fitted with them.",
}
"""What stays to be said after an alarm that does not end with a new period."""


def share_text(share: float) -> str:
    """Return a share as a percentage; scores may leave [0, 1], shares not.

    >>> share_text(0.305), share_text(-0.01)
    ('30.5 %', '0.0 %')
    """
    return f"{100 * min(max(share, 0.0), 1.0):.1f} %"


def alarm_text(
    kind: str, label: str = "", was: str = "", since: str = "", share: float = 0.0, items_p: float | None = None
) -> str:
    """Return what an alarm says.

    Parameters
    ----------
    kind : {"moved", "band", "items", "labels"}
    label : str
        The class.
    was : str
        The reference or the band.
    since : str
        The batch since which shares have changed.
    share : float
        The share since then.
    items_p : float, optional
        P-value of the test of the items since then.

    Examples
    --------
    >>> alarm_text("moved", "positive", "the reference (30.0 %)", "week 12", 0.36)
    'The share of positive has moved from the reference (30.0 %): since week 12 it is about 36.0 %.'
    """
    doubt = "" if items_p is None or items_p >= DOUBTFUL else f" {_DOUBT} (p = {items_p:.2g})."
    when = f"since {since} it is" if since else "it is now"
    if kind == "moved":
        return f"The share of {label} has moved from {was}: {when} about {share_text(share)}.{doubt}"
    if kind == "band":
        return f"The share of {label} has left its band ({was}): {when} about {share_text(share)}.{doubt}"
    if kind == "items":
        return (
            "The items have changed: no combination of the labelled classes explains what the classifier says of them, so that the "
            "shares can't be trusted. Read some items, label some of them and fit again."
        )
    return (
        "Labels that arrived later contradict the shares: items of a class no longer look like those that were labelled. Trust the "
        "shares by these labels, and fit again with them."
    )
