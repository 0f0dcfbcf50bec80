"""Codecs of networks, which are dictionaries of arrays; torch is not imported."""

from itertools import pairwise
from typing import Any

import numpy as np

from headcount.modelfile.checks import UnsoundError, check_floats, check_labels, need
from headcount.modelfile.codecs.base import EstimatorCodec, Learnt

__all__ = ["CODECS", "check_quanet"]


def check_parameters(parameters: Any, shapes: dict[str, tuple[int, ...]]) -> None:
    """Raise unless there are the layers of these shapes, of finite numbers."""
    need(
        isinstance(parameters, dict) and set(parameters) == set(shapes),
        "a network has other layers than its settings say",
    )
    for name, shape in shapes.items():
        check_floats(parameters[name], f"the layer {name}", shape)
        need(parameters[name].dtype == np.float32, f"the layer {name} is not of 32 bits")


def check_cnn(network: Any) -> None:
    """Raise unless the layers are those of the settings."""
    k = check_labels(network.classes_)
    need(type(network.n_ids_) is int and network.n_ids_ >= 2, "n_ids_ is not a number of terms")
    need(len(network.windows) <= 1_000, "a network has too many windows")
    check_parameters(network.parameters_, network._shapes(network.n_ids_, k))


def check_quanet(quanet: Any) -> None:
    """Raise unless the network is of the sizes that are given, and these are of the classes."""
    k, sizes, scale = check_labels(quanet.classes_), quanet.sizes_, quanet.scale_
    need(isinstance(scale, tuple) and len(scale) == 2, "scale_ is not a mean and a deviation")
    check_floats(scale[0], "scale_", (None,))
    check_floats(scale[1], "scale_", scale[0].shape)
    need(bool((scale[1] > 0).all()), "scale_ holds deviations that are not positive")
    names = {"features", "classes", "lstm_size", "lstm_layers", "layers"}
    need(
        isinstance(sizes, dict) and set(sizes) == names and isinstance(sizes["layers"], list),
        "sizes_ are not those of a network",
    )
    numbers = [sizes["features"], sizes["classes"], sizes["lstm_size"], sizes["lstm_layers"], *sizes["layers"]]
    need(all(type(n) is int and 0 < n < 2**24 for n in numbers), "sizes_ are not those of a network")
    need(sizes["classes"] == k and sizes["features"] == k + len(scale[0]), "sizes_ are of other classes or features")
    need(sizes["lstm_layers"] <= 100, "a network has too many layers")
    check_parameters(quanet.parameters_, _quanet_shapes(sizes))


def _quanet_shapes(sizes: dict[str, Any]) -> dict[str, tuple[int, ...]]:
    """Return the shapes of the layers: an LSTM in both directions, then affine ones."""
    h, k = sizes["lstm_size"], sizes["classes"]
    shapes: dict[str, tuple[int, ...]] = {}
    for layer in range(sizes["lstm_layers"]):
        for end in (f"l{layer}", f"l{layer}_reverse"):
            shapes |= {
                f"lstm.weight_ih_{end}": (4 * h, sizes["features"] if layer == 0 else 2 * h),
                f"lstm.weight_hh_{end}": (4 * h, h),
                f"lstm.bias_ih_{end}": (4 * h,),
                f"lstm.bias_hh_{end}": (4 * h,),
            }
    for i, (a, b) in enumerate(pairwise([2 * h + 5 * k, *sizes["layers"], k])):
        shapes |= {f"layers.{i}.weight": (b, a), f"layers.{i}.bias": (b,)}
    return shapes


class _EstimatesCodec:
    """The simpler methods whose estimates QuaNet reads."""

    tag = "quanet estimates"
    path = "headcount.quantifiers.quanet.estimates:Estimates"

    def fields(self, instance: Any) -> dict[str, Any]:
        """Return the methods."""
        return {"methods": list(instance._methods)}

    def make(self, fields: Any) -> Any:
        """Make the estimates without learning again."""
        from headcount.quantifiers.quanet.estimates import Estimates

        methods = fields.get("methods")
        names = ["CC", "ACC", "PCC", "PACC", "SLD"]
        if not isinstance(methods, list) or [type(one).__name__ for one in methods] != names:
            raise UnsoundError("the estimates of a network are of other methods")
        need(all(hasattr(one, "classes_") for one in methods), "the estimates of a network are not fitted")
        estimates = Estimates.__new__(Estimates)
        estimates._methods = methods
        return estimates


CODECS = (
    EstimatorCodec(
        "cnn",
        "headcount.learners.neural.classifier:CNNClassifier",
        Learnt(("classes_", "n_ids_", "parameters_"), ("n_iter_", "best_epoch_", "losses_", "scores_")),
        check_cnn,
    ),
    _EstimatesCodec(),
)
