"""`CNNClassifier`: a scikit-learn classifier around the convolutional network."""

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from numbers import Real
from pathlib import Path
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, _fit_context
from sklearn.utils.validation import check_is_fitted, validate_data

from headcount._typing import AnyArray, FloatArray, IntArray, Labels
from headcount._validation import Interval, StrOptions, integers_from, learn_classes, seed_sequence
from headcount.exceptions import DataError
from headcount.learners.neural.saving import load_estimator, save_estimator
from headcount.learners.neural.shapes import Shapes, parameter_shapes
from headcount.learners.neural.torch_options import PRECISIONS, TrainingParameters, require_torch
from headcount.learners.validation import validation_parts

__all__ = ["CNNClassifier"]

_UNKNOWN = 1
"""Id of terms that are not in the vocabulary."""
_MEMORY_PARAMETERS = "batch_size, channels or embedding_size"
"""Parameters to lower when the device runs out of memory."""


@dataclass(eq=False, repr=False)
class CNNClassifier(TrainingParameters, ClassifierMixin, BaseEstimator):
    r"""Convolutional network over documents of term ids, as `TermIds` makes them: 0 is padding, 1 an unknown term.

    Terms are embedded, :math:`x_t = E_{i_t}`; windows of w = 3, 5 and 7 terms slide over them, and each channel c keeps its largest
    response

    .. math:: h_{w,c} = \max_t \mathrm{ReLU}(W_{w,c} \cdot [x_t, \dots, x_{t+w-1}] + b_{w,c}),

    An affine layer (after dropout) turns these into the document embedding, and another one, with a softmax, into the posteriors.
    The network is trained by Adam for the cross-entropy in which each class has the same weight. A part of the items is held out;
    training ends when the F1 of the rarer class there (with more than two classes, the mean F1 of all) has not improved for
    ``patience`` epochs. The best network is kept, and trained on the held-out part for one epoch.

    Parameters
    ----------
    embedding_size : int, default=100
        Size of a term's embedding.
    channels : int, default=512
        Number of channels of each window.
    windows : sequence of int, default=(3, 5, 7)
        Widths of the windows, in terms.
    dropout : float, default=0.5
        Share of the channels that is dropped in a training step.
    weight_decay : float, default=0.0
        Weight of the squared parameters in the loss.
    document_size : int, default=100
        Size of the document embedding.
    learning_rate : float, default=1e-3
    batch_size : int, default=100
    max_epochs : int, default=500
    patience : int, default=20
    held_out : float, default=0.4
        Share of the items that is held out for early stopping.
    n_ids : int, optional
        Size of the vocabulary (``TermIds.n_ids_``); an id outside it is then an error. By default the vocabulary ends with the
        largest id given to ``fit``, and larger ids in later documents count as unknown terms.
    precision : {"auto", "float32", "bfloat16"}, default="auto"
        Precision of the products over windows; "auto" is bfloat16 on CUDA and float32 elsewhere.
    device : {"auto", "cuda", "mps", "cpu"}, default="auto"
    n_jobs : int, optional
        Threads on the CPU. With one, the default, the same seed gives the same bits on one machine, whatever else runs.
    random_state : int, RandomState, Generator or None, default=None
        Seed of the split, the first parameters, the order of items and dropout.
    keep_when_interrupted : bool, default=False
        Keep the best network so far, with a warning, when the user interrupts training.
    verbose : bool, default=False
        Write a line for each epoch to the standard error stream.

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
    n_ids_ : int
    parameters_ : dict of str to array
        The network.
    n_iter_, best_epoch_ : int
        Number of epochs, and the epoch whose network was kept.
    losses_, scores_ : arrays of shape (n_iter_,)
        Mean loss in each epoch, and the held-out F1 after it.

    References
    ----------
    Kim (2014). Convolutional neural networks for sentence classification. EMNLP.
    Moreo and Sebastiani (2021). Re-assessing the "classify and count" quantification method. ECIR.

    Examples
    --------
    >>> from headcount import TermIds
    >>> texts, y = ["a fine film", "a poor film"] * 50, ["good", "bad"] * 50
    >>> ids = TermIds(length=10).fit_transform(texts)
    >>> cnn = CNNClassifier(embedding_size=8, channels=8, max_epochs=10, device="cpu", random_state=0).fit(ids, y)
    >>> cnn.predict(ids[:2]).tolist(), cnn.transform(ids).shape
    (['good', 'bad'], (100, 100))
    """

    embedding_size: int = 100
    channels: int = 512
    _: KW_ONLY
    windows: Sequence[int] = (3, 5, 7)
    weight_decay: float = 0.0
    document_size: int = 100
    batch_size: int = 100
    patience: int = 20
    held_out: float = 0.4
    n_ids: int | None = None
    precision: str = "auto"

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **TrainingParameters._parameter_constraints,
        **dict.fromkeys(("embedding_size", "channels", "document_size", "batch_size"), integers_from(1)),
        "windows": ["array-like"],
        "weight_decay": [Interval(Real, 0, None, closed="left")],
        "held_out": [Interval(Real, 0, 1, closed="neither")],
        "n_ids": [*integers_from(2), None],
        "precision": [StrOptions(PRECISIONS)],
    }

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Labels) -> Self:
        """Fit the network to documents of term ids, shape (n_items, length), and their labels."""
        require_torch("CNNClassifier")
        from headcount.learners.neural.device import computing
        from headcount.learners.neural.training import Trainer

        X, y = validate_data(self, X, y, dtype=None)
        classes, codes = learn_classes(y)
        ids = _checked_ids(X)
        n_ids = max(int(ids.max()), _UNKNOWN) + 1 if self.n_ids is None else int(self.n_ids)
        ids = self._within_vocabulary(ids, n_ids)
        split_seed, training_seed = seed_sequence(self.random_state).spawn(2)
        seed = int(split_seed.generate_state(1)[0])
        parts = next(validation_parts(float(self.held_out), codes, seed, "held_out"))
        with computing(self.n_jobs, _MEMORY_PARAMETERS):
            trained = Trainer(self, training_seed, self._shapes(n_ids, len(classes)), ids, codes, parts).train()
        self.classes_, self.n_ids_, self.n_iter_ = classes, n_ids, len(trained.losses)
        self.parameters_, self.best_epoch_, self.losses_, self.scores_ = trained
        return self

    def predict_proba(self, X: Any) -> FloatArray:
        """Return the posteriors, shape (n_items, n_classes), in the order of ``classes_``."""
        return self.predict_all(X)["posteriors"]

    def predict(self, X: Any) -> AnyArray:
        """Decide for the class of the largest posterior."""
        return self.predict_all(X)["decisions"]

    def transform(self, X: Any) -> AnyArray:
        """Return the document embeddings, shape (n_items, document_size)."""
        return self.predict_all(X)["embeddings"]

    def predict_all(self, X: Any) -> dict[str, AnyArray]:
        """Return decisions, posteriors and embeddings of documents, computed in one pass."""
        check_is_fitted(self, "parameters_")
        require_torch("CNNClassifier")
        from headcount.learners.neural.device import computing
        from headcount.learners.neural.training import embeddings_and_posteriors

        ids = self._within_vocabulary(_checked_ids(validate_data(self, X, dtype=None, reset=False)), self.n_ids_)
        with computing(self.n_jobs, _MEMORY_PARAMETERS):
            embeddings, posteriors = embeddings_and_posteriors(self, ids)
        return {
            "decisions": self.classes_[posteriors.argmax(axis=1)],
            "posteriors": posteriors,
            "embeddings": embeddings,
        }

    def save(self, path: str | Path) -> None:
        """Write the fitted classifier to a file of arrays (.npz) that holds no code."""
        check_is_fitted(self, "parameters_")
        save_estimator(self, path)

    @classmethod
    def load(cls, path: str | Path) -> Self:
        """Read a classifier that :meth:`save` has written."""
        loaded: Self = load_estimator(cls, path)
        return loaded

    def _shapes(self, n_ids: int, n_classes: int) -> Shapes:
        """Return the shapes that the network's arrays must have."""
        sizes = {"embedding": self.embedding_size, "channels": self.channels, "document": self.document_size}
        return parameter_shapes(n_ids, n_classes, sizes, _checked_windows(self.windows))

    def _within_vocabulary(self, ids: IntArray, n_ids: int) -> IntArray:
        """Return ids with those outside the vocabulary as unknown terms; if ``n_ids`` is given, these are an error."""
        beyond = ids >= n_ids
        if not beyond.any():
            return ids
        if self.n_ids is not None:
            raise DataError(
                f"X holds the term id {ids.max()}, and the vocabulary has n_ids={self.n_ids} (0 to {self.n_ids - 1}): make the ids "
                "with the transformer whose n_ids_ was given."
            )
        return np.where(beyond, _UNKNOWN, ids)


def _checked_ids(X: AnyArray) -> IntArray:
    """Return ids as int32; raise unless they are whole numbers from 0."""
    if X.dtype.kind not in "iubf" or (X.dtype.kind == "f" and not np.equal(np.mod(X, 1), 0).all()):
        raise DataError(
            f"X must hold term ids, whole numbers from 0 (padding); it holds values of type {X.dtype} that are not whole. TermIds "
            "turns texts into ids."
        )
    if X.min() < 0 or X.max() >= 2**31:
        raise DataError(
            f"X must hold term ids, whole numbers from 0 (padding) that fit 32 bits; it holds numbers from {X.min()} to {X.max()}."
        )
    return X.astype(np.int32)


def _checked_windows(windows: Any) -> tuple[int, ...]:
    widths = np.asarray(windows)
    are_integers = widths.ndim == 1 and widths.size > 0 and widths.dtype.kind in "iu"
    if not are_integers or widths.min() < 1 or len(np.unique(widths)) < widths.size:
        raise DataError(f"windows must name widths in terms, whole numbers from 1, each once; got {windows!r}.")
    return tuple(int(width) for width in widths)
