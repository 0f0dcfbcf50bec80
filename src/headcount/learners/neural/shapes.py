"""Names and shapes of the convolutional network's parameters; without torch, so that a saved network is checked without it."""

from collections.abc import Iterable, Mapping, Sequence

__all__ = ["Shapes", "parameter_shapes", "window_widths"]

Shapes = dict[str, tuple[int, ...]]
"""Shape of each parameter, by name."""


def parameter_shapes(n_ids: int, n_classes: int, sizes: Mapping[str, int], windows: Sequence[int]) -> Shapes:
    """Return the shape of each parameter, in the order in which they are drawn.

    >>> parameter_shapes(9, 2, {"embedding": 4, "channels": 5, "document": 3}, [2])["window2.weight"]
    (5, 8)
    """
    embedding, channels, document = sizes["embedding"], sizes["channels"], sizes["document"]
    weights = {f"window{w}": (channels, w * embedding) for w in windows}
    weights |= {"document": (document, len(windows) * channels), "output": (n_classes, document)}
    shapes: Shapes = {"embedding": (n_ids, embedding)}
    for layer, shape in weights.items():
        shapes |= {f"{layer}.weight": shape, f"{layer}.bias": shape[:1]}
    return shapes


def window_widths(names: Iterable[str]) -> tuple[int, ...]:
    """Return the widths of the windows of a network whose parameters have these names.

    >>> window_widths(["embedding", "window3.weight", "window3.bias", "window5.weight", "window5.bias"])
    (3, 5)
    """
    windows = [name for name in names if name.startswith("window") and name.endswith(".weight")]
    return tuple(int(name.removeprefix("window").removesuffix(".weight")) for name in windows)
