"""Codecs: how each type that a model file may hold is taken apart, and made again from checked values."""

from typing import Any

from headcount.modelfile.codecs import bayes, combined, features, linear, networks, outputs, trees
from headcount.modelfile.codecs.base import EstimatorCodec
from headcount.modelfile.codecs.held import HeldCodec
from headcount.modelfile.codecs.quantifiers import PartCodec, QuantifierCodec, is_part
from headcount.modelfile.nodes import Codec, UnknownTypeError

__all__ = ["codec_for", "codec_named", "estimator_codec"]

_CODECS: tuple[Any, ...] = (
    *linear.CODECS,
    *bayes.CODECS,
    *trees.CODECS,
    *combined.CODECS,
    *features.CODECS,
    *outputs.CODECS,
    *networks.CODECS,
    HeldCodec(),
)
_BY_PATH: dict[str, Codec] = {codec.path: codec for codec in _CODECS}
_QUANTIFIER, _PART = QuantifierCodec(), PartCodec()
_BY_TAG: dict[str, Codec] = {codec.tag: codec for codec in (*_CODECS, _QUANTIFIER, _PART)}


def codec_for(instance: Any) -> Codec:
    """Return the codec for an object; raise `UnknownTypeError` if there is none."""
    from headcount.quantifiers import Quantifier

    kind = type(instance)
    codec = _BY_PATH.get(f"{kind.__module__}:{kind.__qualname__}")
    if codec is not None:
        return codec
    if isinstance(instance, Quantifier):
        return _QUANTIFIER
    if is_part(kind):
        return _PART
    raise UnknownTypeError(f"{kind.__module__}.{kind.__qualname__}")


def codec_named(tag: str) -> Codec | None:
    """Return the codec with a tag, or None."""
    return _BY_TAG.get(tag)


def estimator_codec(instance: Any) -> EstimatorCodec | None:
    """Return the codec of an estimator whose learnt attributes can be checked, or None."""
    kind = type(instance)
    codec = _BY_PATH.get(f"{kind.__module__}:{kind.__qualname__}")
    return codec if isinstance(codec, EstimatorCodec) else None
