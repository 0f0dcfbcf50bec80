"""Names and shapes of the convolutional network's parameters; without torch, so that a saved network is checked without it."""

from collections.abc import Mapping, Sequence

__all__ = ["parameter_shapes"]


def parameter_shapes(
    n_ids: int, n_classes: int, sizes: Mapping[str, int], windows: Sequence[int]
) -> dict[str, tuple[int, ...]]:
    """Return the shape of each parameter, in the order in which they are drawn.

    >>> parameter_shapes(9, 2, {"embedding": 4, "channels": 5, "document": 3}, [2])["window2.weight"]
    (5, 8)
    """
    embedding, channels, document = sizes["embedding"], sizes["channels"], sizes["document"]
    weights = {f"window{w}": (channels, w * embedding) for w in windows}
    weights |= {"document": (document, len(windows) * channels), "output": (n_classes, document)}
    shapes: dict[str, tuple[int, ...]] = {"embedding": (n_ids, embedding)}
    for layer, shape in weights.items():
        shapes |= {f"{layer}.weight": shape, f"{layer}.bias": shape[:1]}
    return shapes
