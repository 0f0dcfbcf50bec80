"""`QuaNet`: a quantifier around the recurrent network."""

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Any, ClassVar

import numpy as np
from sklearn.utils.validation import check_is_fitted

from headcount._typing import FloatArray, IntArray
from headcount._validation import integers_from, seed_sequence
from headcount.exceptions import DataError
from headcount.learners import Fits, Need, Outputs, require, score, validation_parts
from headcount.learners.neural import CNNClassifier, TrainingParameters, require_torch
from headcount.quantifiers.base import Quantifier
from headcount.quantifiers.catalogue import register_method
from headcount.quantifiers.classifiers import new_classifier
from headcount.quantifiers.prior import PRIOR_CONSTRAINT, known_prior
from headcount.quantifiers.quanet.estimates import Estimates
from headcount.quantifiers.quanet.item_order import repeated
from headcount.quantifiers.statistics import SampleItems, require_items

__all__ = ["QuaNet"]

_MEMORY_PARAMETERS = "samples_per_step, sample_size or lstm_size"
"""Parameters to lower when the device runs out of memory."""


@register_method(
    "a network that reads the sample",
    "Esuli et al. 2018",
    group="network",
    needs="posteriors, embeddings, two parts",
)
@dataclass(eq=False, repr=False)
class QuaNet(TrainingParameters, Quantifier):
    r"""A recurrent network that reads the items of a sample, in the order of their posteriors, and estimates its shares.

    A two-layer bidirectional LSTM reads the document embedding and posteriors of each item; its last state h, together with the
    estimates of CC, ACC, PCC, PACC and SLD, passes through two layers of rectified units and a softmax, whose shares are stretched
    about equal shares,

    .. math:: \hat p = \tfrac1k + 1.2\,(\mathrm{softmax}(f(h, \hat p^{CC}, \dots, \hat p^{SLD})) - \tfrac1k)

    so that 0 and 1 can be reached (with two classes this is a sigmoid stretched about 0.5). A prediction is clipped to [0, 1] and
    divided by its sum. Items are read in the order of the posterior of the second of two classes, or of the mean class position
    :math:`\sum_j j \Pr(j | x)` with more classes. Training draws samples at random shares and minimises the squared error of the
    shares by Adam.

    The labelled items are split: 40 % train the classifier, 40 % the network, and 20 % are for early stopping and the rates of ACC
    and PACC.

    **When to use it.** With thousands of labelled items, and new samples like those that it is trained on; it has no interval.
    Otherwise `PACC` or `SLD`.

    Parameters
    ----------
    classifier : estimator, default=None
        A classifier with ``predict_proba`` and ``transform``, which gives the embeddings; None means ``CNNClassifier()``. With a
        ``FrozenEstimator`` the items given to ``fit`` are split between the network and validation only.
    split : sequence of three floats, default=(0.4, 0.4, 0.2)
        Shares of the items for the classifier, the network, and validation.
    prior : {"train", "uniform"} or array of shape (n_classes,), default="train"
        For SLD: the shares under which the posteriors hold, as in :class:`SLD`. Must be given if the classifier is frozen.
    lstm_size : int, default=128
        Size of the LSTM's state in each direction.
    lstm_layers : int, default=2
    layers : sequence of int, default=(1024, 512)
        Widths of the layers behind the LSTM.
    dropout : float, default=0.5
        Share of the units of these layers that is dropped in a training step.
    learning_rate : float, default=1e-3
        Learning rate of Adam.
    sample_size : int, default=500
        Size of the samples drawn for training and validation.
    samples_per_epoch : int, default=200
    samples_per_step : int, default=4
        Samples of one training step; they are computed at once.
    validation_samples : int, default=21
        Number of validation samples: on a grid of shares for two classes, at random shares for more.
    max_epochs : int, default=500
    patience : int, default=10
        Training ends after this many epochs without a smaller loss on the validation samples.
    device : {"auto", "cuda", "mps", "cpu"}, default="auto"
    n_jobs : int, optional
        Threads on the CPU. With one, the default, the same seed gives the same bits on one machine, whatever else runs.
    random_state : int, RandomState, Generator or None, default=None
        Seed of the splits, the first parameters, the samples and dropout, and of a classifier that has no seed.
    keep_when_interrupted : bool, default=False
        Keep the best network so far, with a warning, when the user interrupts training.
    verbose : bool, default=False
        Write a line for each epoch to the standard error stream.

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
    classifier_ : fitted classifier
    parameters_ : dict of str to array
        The network.
    best_epoch_ : int
        The epoch whose network was kept.
    losses_, validation_losses_ : arrays of shape (n_epochs,)

    References
    ----------
    Esuli, Moreo and Sebastiani (2018). A recurrent neural network for sentiment quantification. CIKM.
    Moreo and Sebastiani (2021). Re-assessing the "classify and count" quantification method. ECIR.
    Malladi, Lyu, Panigrahi and Arora (2022). On the SDEs and scaling rules for adaptive gradient algorithms. NeurIPS.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.datasets import make_classification
    >>> from sklearn.linear_model import LogisticRegression
    >>> class Linear(LogisticRegression):
    ...     def transform(self, X):
    ...         return X
    >>> X, y = make_classification(4000, flip_y=0.1, random_state=0)
    >>> quanet = QuaNet(Linear(), lstm_size=16, layers=(32,), sample_size=100, max_epochs=20, random_state=0, device="cpu")
    >>> positives = np.flatnonzero(y[2000:] == 1)[:200] + 2000
    >>> bool(quanet.fit(X[:2000], y[:2000]).predict(X[positives])[1] > 0.9)
    True
    """

    adjusts_for_shift = True
    brings_learner = True
    needs = frozenset[Need](("decisions", "posteriors", "embeddings"))
    interval_refusal = "a network gives no account of its error. Use PACC or SLD."

    classifier: Any = None
    _: KW_ONLY
    split: Sequence[float] = (0.4, 0.4, 0.2)
    prior: Any = "train"
    lstm_size: int = 128
    lstm_layers: int = 2
    layers: Sequence[int] = (1024, 512)
    sample_size: int = 500
    samples_per_epoch: int = 200
    samples_per_step: int = 4
    validation_samples: int = 21
    classes: Any = None

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **Quantifier._parameter_constraints,
        **TrainingParameters._parameter_constraints,
        "split": ["array-like"],
        "layers": ["array-like"],
        "prior": PRIOR_CONSTRAINT,
        **dict.fromkeys(("lstm_size", "lstm_layers", "sample_size", "samples_per_epoch"), integers_from(1)),
        "samples_per_step": integers_from(1),
        "validation_samples": integers_from(2),
    }

    @staticmethod
    def default_classifier() -> Any:
        """Return the classifier that ``classifier=None`` means."""
        return CNNClassifier()

    def reduce(self, outputs: Outputs, samples: Any = None) -> SampleItems:
        """Gather the outputs of each sample's items."""
        outputs, samples = self._ready(outputs, samples)
        for need in sorted(self.needs):
            outputs.need(need)
        return SampleItems(outputs.need("posteriors"), samples, outputs)

    def solve(self, statistics: SampleItems) -> FloatArray:
        """Estimate the shares of each sample with the network."""
        check_is_fitted(self, "parameters_")
        require_torch("QuaNet")
        require_items(statistics.weights)
        from headcount.learners.neural.device import computing, device_named
        from headcount.quantifiers.quanet.network import Network
        from headcount.quantifiers.quanet.sample_tensors import pool_tensors, predict_shares

        outputs, samples = statistics.outputs, repeated(statistics.samples)
        if outputs is None:
            raise DataError("QuaNet needs the outputs of the items.")
        width = outputs.need("embeddings").shape[1]
        if width != len(self.scale_[0]):
            raise DataError(f"The embeddings have {width} features, and QuaNet was fitted on {len(self.scale_[0])}.")
        estimates = self.estimates_(outputs, samples)
        with computing(self.n_jobs, _MEMORY_PARAMETERS):
            device = device_named(self.device)
            network = Network.from_arrays(self.sizes_, device, self.parameters_)
            features, ranks = pool_tensors(outputs, self.scale_, device)
            return predict_shares(network, features, ranks, samples, estimates)

    def _learn(self, fits: Fits, codes: IntArray) -> None:
        """Fit the classifier on the first part of the items, train the network on the second, validate on the third."""
        require_torch("QuaNet")
        from headcount.learners.neural.device import computing
        from headcount.quantifiers.quanet.training import Part, Trainer

        if self.classifier is not None:
            for method in ("transform", "predict_proba"):
                require(self.classifier, method)
        *split_seeds, network_seed, classifier_seed = seed_sequence(self.random_state).spawn(4)
        parts = self._parts(fits, codes, [int(sequence.generate_state(1)[0]) for sequence in split_seeds])
        learner = self.classifier if self._is_frozen() else self._seeded_learner(codes, classifier_seed)
        prior = known_prior(self.prior, codes[parts[0]], self.classes_, self._is_frozen(), "QuaNet")
        self.classifier_ = fits.fit(learner, None if self._is_frozen() else parts[0])
        training, validation = (
            Part(score(self.classifier_, fits.part(rows)[0], self.needs, self.classes_), codes[rows])
            for rows in parts[1:]
        )
        self.estimates_ = Estimates(validation.outputs, validation.codes, prior)
        E = training.outputs.need("embeddings")
        deviation = E.std(axis=0)
        self.scale_ = E.mean(axis=0), np.where(deviation > 1e-6, deviation, 1.0).astype(np.float32)
        self.sizes_ = self._sizes()
        with computing(self.n_jobs, _MEMORY_PARAMETERS):
            trained = Trainer(self, network_seed, training, validation).train()
        self.parameters_, self.best_epoch_, self.losses_, self.validation_losses_ = trained

    def _seeded_learner(self, codes: IntArray, seed: np.random.SeedSequence) -> Any:
        """Return a new classifier in which every unset ``random_state`` is set, so that QuaNet's seed decides everything."""
        learner = new_classifier(self, codes)
        if self.classifier is None:
            shared = ("device", "n_jobs", "keep_when_interrupted", "verbose")
            learner.set_params(**{name: getattr(self, name) for name in shared})
        if self.random_state is not None:
            params = learner.get_params()
            unseeded = [name for name in params if name.endswith("random_state") and params[name] is None]
            learner.set_params(**dict.fromkeys(unseeded, int(seed.generate_state(1)[0])))
        return learner

    def _parts(self, fits: Fits, codes: IntArray, seeds: Sequence[int]) -> list[IntArray]:
        """Return the rows of the three parts; a frozen classifier leaves the first one unused."""
        shares = np.asarray(self.split)
        shares = shares.astype(np.float64) if shares.dtype.kind in "iuf" else np.zeros(0)
        if shares.shape != (3,) or not (shares > 0).all() or abs(shares.sum() - 1) > 1e-9:
            raise DataError(f"split must hold three positive shares that sum to 1; got {self.split!r}.")
        for_classifier = for_network = np.arange(len(codes))
        if not self._is_frozen():
            for_classifier, for_network = fits.splits(float(1.0 - shares[0]), codes, seeds[0])[0]
        held_out = float(shares[2] / (shares[1] + shares[2]))
        name = "split: a validation share of"
        training, validation = next(validation_parts(held_out, codes[for_network], seeds[1], name))
        return [for_classifier, for_network[training], for_network[validation]]

    def _sizes(self) -> dict[str, Any]:
        """Return the sizes of the network, which are kept because parameters may be set after the fit."""
        widths = np.asarray(self.layers)
        if widths.ndim != 1 or (widths.size and (widths.dtype.kind not in "iu" or widths.min() < 1)):
            raise DataError(f"layers must name the widths of layers, whole numbers from 1; got {self.layers!r}.")
        return {
            "features": len(self.scale_[0]) + len(self.classes_),
            "classes": len(self.classes_),
            "lstm_size": int(self.lstm_size),
            "lstm_layers": int(self.lstm_layers),
            "layers": widths.astype(int).tolist(),
        }
