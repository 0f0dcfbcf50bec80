"""Errors of estimated shares, for one sample or many at once.

Definitions and properties: Sebastiani (2020), "Evaluation measures for quantification: an axiomatic approach", Information
Retrieval Journal 23.

Measures that divide by a share or take its logarithm are smoothed: they need the size of the sample, one number or one per
sample. An infinite size means no smoothing.
"""

from typing import Any

import numpy as np

from headcount._typing import FloatArray
from headcount._validation import as_shares
from headcount.exceptions import DataError

__all__ = ["ae", "aqe", "bias", "kld", "md", "nae", "nemd", "nkld", "nmd", "nrae", "rae", "rnod", "se", "smooth", "sre"]


# ------------------------------------------------------------------------- validation, once per public function


def _check_pair(true: Any, estimated: Any) -> tuple[FloatArray, FloatArray]:
    p, p_hat = as_shares(true, "true"), as_shares(estimated, "estimated")
    if p.shape != p_hat.shape:
        raise DataError(f"true has shape {p.shape} and estimated {p_hat.shape}: they must be the same.")
    return p, p_hat


def _smoothed_pair(true: Any, estimated: Any, sample_size: Any) -> tuple[FloatArray, FloatArray]:
    p, p_hat = _check_pair(true, estimated)
    return _smooth(p, sample_size), _smooth(p_hat, sample_size)


def _smooth(p: FloatArray, sample_size: Any) -> FloatArray:
    size = np.asarray(sample_size, dtype=np.float64)
    if size.ndim > 1 or (size.ndim == 1 and size.shape != p.shape[:-1]):
        raise DataError(
            f"sample_size must be one number or one for each sample; its shape is {size.shape}, that of the shares {p.shape}."
        )
    if not (size > 0).all():
        raise DataError(f"sample_size must be positive (infinite: no smoothing); the smallest given is {size.min():g}.")
    eps = 1.0 / (2.0 * size)[..., None]  # half an item, as a share of the sample
    smoothed: FloatArray = (p + eps) / (1.0 + eps * p.shape[-1])
    return smoothed


def _relative(p: FloatArray, p_hat: FloatArray) -> Any:
    """Return the mean error relative to smoothed shares p.

    Without smoothing a class may have no share: its error is 0 if it is estimated as empty, infinite otherwise.
    """
    distance = np.abs(p_hat - p)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(distance == 0.0, 0.0, distance / p).mean(axis=-1)


# ------------------------------------------------------------------------------------------------------- measures


def smooth(shares: Any, sample_size: Any) -> FloatArray:
    r"""Smooth shares additively, so that none is zero.

    .. math:: \underline{p}_y = \frac{p_y + \epsilon}{1 + n \epsilon}, \qquad \epsilon = \frac{1}{2 |\sigma|}

    with :math:`n` classes and a sample of :math:`|\sigma|` items (Forman 2008).

    >>> smooth([0.0, 1.0], sample_size=500).round(6).tolist()
    [0.000998, 0.999002]
    """
    return _smooth(as_shares(shares, "shares"), sample_size)


def ae(true: Any, estimated: Any) -> Any:
    r"""Absolute error, :math:`\mathrm{AE} = \frac{1}{n} \sum_y |\hat p_y - p_y|`.

    >>> float(ae([0.2, 0.8], [0.25, 0.75]).round(9))
    0.05
    """
    p, p_hat = _check_pair(true, estimated)
    return np.abs(p_hat - p).mean(axis=-1)


def nae(true: Any, estimated: Any) -> Any:
    r"""Absolute error divided by its largest value for these true shares, :math:`2 (1 - \min_y p_y) / n`.

    >>> float(nae([0.2, 0.8], [1.0, 0.0]))
    1.0
    """
    p, p_hat = _check_pair(true, estimated)
    return np.abs(p_hat - p).mean(axis=-1) * p.shape[-1] / (2.0 * (1.0 - p.min(axis=-1)))


def se(true: Any, estimated: Any) -> Any:
    r"""Squared error, :math:`\mathrm{SE} = \frac{1}{n} \sum_y (\hat p_y - p_y)^2`.

    >>> float(se([0.2, 0.8], [0.4, 0.6]).round(9))
    0.04
    """
    p, p_hat = _check_pair(true, estimated)
    return np.square(p_hat - p).mean(axis=-1)


def bias(true: Any, estimated: Any) -> Any:
    r"""Signed error of the second of two classes, :math:`\hat p_2 - p_2`: above 0 where its share is overestimated.

    The mean over samples is the bias; it may be 0 though every sample is far off. The errors of all classes sum to 0, so that with
    more than two classes there is no one bias: take the mean of ``estimated - true`` over samples, class by class.

    >>> float(bias([0.2, 0.8], [0.25, 0.75]).round(9))
    -0.05
    """
    p, p_hat = _check_pair(true, estimated)
    if p.shape[-1] != 2:
        raise DataError(
            f"The bias is defined for two classes; the shares are of {p.shape[-1]}. Take the mean of estimated - true over "
            "samples, class by class."
        )
    return (p_hat - p)[..., 1]


def sre(true: Any, estimated: Any, training: Any) -> Any:
    r"""Squared ratio error, :math:`\frac{1}{n} \sum_y \left( \frac{p_y}{\pi_y} - \frac{\hat p_y}{\pi_y} \right)^2`.

    The error of importance weights: shares divided by the training shares :math:`\pi`, one vector of them or one for each sample.
    Lipton, Wang and Smola (2018), "Detecting and correcting for label shift with black box predictors", ICML.

    >>> float(sre([0.2, 0.8], [0.4, 0.6], training=[0.2, 0.8]).round(9))
    0.53125
    """
    p, p_hat = _check_pair(true, estimated)
    prior = as_shares(training, "training")
    if prior.shape not in (p.shape, p.shape[-1:]):
        raise DataError(
            f"training must be one vector of {p.shape[-1]} shares or one for each sample; its shape is {prior.shape}, that of the "
            f"shares {p.shape}."
        )
    if not (prior > 0.0).all():
        raise DataError("training must hold a share above 0 for each class: errors are divided by it.")
    return np.square((p_hat - p) / prior).mean(axis=-1)


def rae(true: Any, estimated: Any, sample_size: Any) -> Any:
    r"""Relative absolute error of smoothed shares, :math:`\frac{1}{n} \sum_y |\hat p_y - p_y| / p_y`.

    >>> float(rae([0.0, 1.0], [0.5, 0.5], sample_size=500).round(3))
    250.25
    """
    return _relative(*_smoothed_pair(true, estimated, sample_size))


def nrae(true: Any, estimated: Any, sample_size: Any) -> Any:
    r"""Relative absolute error divided by its largest value for these true shares.

    That value is :math:`\frac{1}{n} \left( n - 1 + \frac{1 - \min_y p_y}{\min_y p_y} \right)`, all shares smoothed.

    >>> 0.99 < float(nrae([0.0, 1.0], [1.0, 0.0], sample_size=500)) <= 1.0
    True
    """
    p, p_hat = _smoothed_pair(true, estimated, sample_size)
    relative, lowest, n = _relative(p, p_hat), p.min(axis=-1), p.shape[-1]
    # Without smoothing the bound is infinite if a class is empty; then a finite error counts as 0 and an infinite one as 1.
    with np.errstate(divide="ignore", invalid="ignore"):
        bound = (n - 1 + (1.0 - lowest) / lowest) / n
        return np.where(np.isinf(bound), np.where(np.isinf(relative), 1.0, 0.0), relative / bound)[()]


def kld(true: Any, estimated: Any, sample_size: Any) -> Any:
    r"""Kullback-Leibler divergence of smoothed shares, :math:`\sum_y p_y \log (p_y / \hat p_y)`.

    >>> float(kld([0.5, 0.5], [0.5, 0.5], sample_size=100))
    0.0
    """
    p, p_hat = _smoothed_pair(true, estimated, sample_size)
    with np.errstate(divide="ignore", invalid="ignore"):
        terms = np.where(p > 0.0, p * np.log(p / p_hat), 0.0)
    return np.maximum(terms.sum(axis=-1), 0.0)  # only rounding can make it negative


def nkld(true: Any, estimated: Any, sample_size: Any) -> Any:
    r"""Kullback-Leibler divergence mapped to [0, 1) by the logistic function: :math:`2 \frac{e^K}{1 + e^K} - 1`.

    >>> float(nkld([0.5, 0.5], [0.5, 0.5], sample_size=100))
    0.0
    """
    return np.tanh(kld(true, estimated, sample_size) / 2.0)  # the same function


def aqe(true: Any, estimated: Any, sample_size: Any) -> Any:
    r"""Aitchison distance of smoothed shares: the distance of their centred logarithms.

    .. math:: \sqrt{ \sum_y \left( \log \frac{\hat p_y}{p_y} - \frac{1}{n} \sum_c \log \frac{\hat p_c}{p_c} \right)^2 }

    It is a distance of ratios between classes, whatever their sum. Aitchison (1986), "The statistical analysis of compositional
    data".

    >>> float(aqe([0.5, 0.5], [0.2, 0.8], sample_size=float("inf")).round(6))
    0.980258
    """
    p, p_hat = _smoothed_pair(true, estimated, sample_size)
    with np.errstate(divide="ignore", invalid="ignore"):
        logs = np.where(p == p_hat, 0.0, np.log(p_hat / p))
        centred = logs - logs.mean(axis=-1, keepdims=True)
    # Without smoothing a class may be empty on one side only: the distance is infinite.
    return np.where(np.isinf(logs).any(axis=-1), np.inf, np.sqrt(np.square(centred).sum(axis=-1)))[()]


def md(true: Any, estimated: Any) -> Any:
    r"""Match distance, for ordered classes: :math:`\sum_{i<n} |\hat P_i - P_i|`, where P are cumulative shares.

    The smallest total distance, in classes, by which shares must be moved; from 0 to n - 1 (see `nmd`).
    Werman, Peleg and Rosenfeld (1985), "A distance metric for multidimensional histograms", Computer Vision, Graphics, and Image
    Processing 32.

    >>> float(md([1.0, 0.0, 0.0], [0.0, 0.0, 1.0]))
    2.0
    """
    p, p_hat = _check_pair(true, estimated)
    return np.abs(np.cumsum(p_hat - p, axis=-1)[..., :-1]).sum(axis=-1)


def nmd(true: Any, estimated: Any) -> Any:
    r"""Normalised match distance, for ordered classes: :math:`\frac{1}{n-1} \sum_{i<n} |\hat P_i - P_i|`.

    P are cumulative shares, so the columns must be in the order of the classes (see `check_order`). It is the earth mover's
    distance on a line: the smallest total distance, in classes, by which shares must be moved, divided by its largest value.
    Sakai (2021), "Evaluating evaluation measures for ordinal classification and ordinal quantification", ACL.

    >>> float(nmd([1.0, 0.0, 0.0], [0.0, 0.0, 1.0]))
    1.0
    """
    distance = md(true, estimated)
    return distance / (np.shape(true)[-1] - 1)


def nemd(true: Any, estimated: Any) -> Any:
    r"""Match distance divided by its largest value for these true shares, for ordered classes.

    .. math:: \frac{\sum_{i<n} |\hat P_i - P_i|}{\max(\sum_{i<n} P_i, \; \sum_{i<n} (1 - P_i))}

    P are cumulative shares; the sums below are the distances to all items in the highest and in the lowest class. One minus it is
    the score of Castaño et al. (2022), "Matching distributions algorithms based on the earth mover's distance for ordinal
    quantification", IEEE Transactions on Neural Networks and Learning Systems. `nmd` divides by n - 1, whatever the shares are.

    >>> float(nemd([0.0, 1.0, 0.0], [0.0, 0.0, 1.0])), float(nmd([0.0, 1.0, 0.0], [0.0, 0.0, 1.0]))
    (1.0, 0.5)
    """
    p, p_hat = _check_pair(true, estimated)
    distance = np.abs(np.cumsum(p_hat - p, axis=-1)[..., :-1]).sum(axis=-1)
    below = np.cumsum(p, axis=-1)[..., :-1]
    return distance / np.maximum(below.sum(axis=-1), (1.0 - below).sum(axis=-1))


def rnod(true: Any, estimated: Any) -> Any:
    r"""Root normalised order-aware divergence, for ordered classes.

    .. math:: \sqrt{\frac{1}{n - 1} \cdot \frac{1}{|C|} \sum_{i \in C} \sum_j |i - j| \, (\hat p_j - p_j)^2}, \qquad
        C = \{i : p_i > 0\}

    The farther an error is from the classes that there are, the more it counts; where it came from does not matter, as it does to
    `nmd`. It is not symmetric, and exceeds 1 in rare cases with five classes or more, some with next to no share.
    Sakai (2021), "Evaluating evaluation measures for ordinal classification and ordinal quantification", ACL.

    >>> float(rnod([1.0, 0.0, 0.0], [0.0, 0.0, 1.0])), float(rnod([1.0, 0.0, 0.0], [0.0, 1.0, 0.0]).round(6))
    (1.0, 0.707107)
    """
    p, p_hat = _check_pair(true, estimated)
    place = np.arange(p.shape[-1])
    weighted = np.square(p_hat - p) @ np.abs(place[:, None] - place).astype(np.float64)
    present = p > 0.0
    divergence = (weighted * present).sum(axis=-1) / present.sum(axis=-1)
    return np.sqrt(divergence / (p.shape[-1] - 1))
