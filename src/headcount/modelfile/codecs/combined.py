"""Codecs of classifiers that are made of others: votes, ordered decompositions, folds, calibrated, frozen and piped ones."""

from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from headcount.learners.rebuilt import FittedCalibration
from headcount.modelfile.checks import UnsoundError, check_floats, check_labels, need
from headcount.modelfile.codecs.base import EstimatorCodec, Learnt, changed_parameters, has, of_input
from headcount.modelfile.codecs.widths import check_same_width, is_fitted, width_in, width_out

__all__ = ["CODECS", "check_classifier", "check_pipeline"]


def check_classifier(classifier: Any, classes: Any = None) -> None:
    """Raise unless an object is a fitted classifier and has these classes, in any order."""
    need(hasattr(classifier, "predict") and not isinstance(classifier, type), "a classifier is missing")
    found: Any = getattr(classifier, "classes_", None)
    need(found is not None, "a classifier is not fitted")
    check_labels(found)
    if classes is not None:
        need(set(found.tolist()) == set(np.asarray(classes).tolist()), "a classifier has other classes")


def check_vote(vote: Any) -> None:
    """Raise unless the members are fitted for the same classes."""
    check_labels(vote.classes_)
    need(isinstance(vote.members_, list) and vote.members_, "a vote has no members")
    for member in vote.members_:
        check_classifier(member, vote.classes_)
        need(hasattr(member, "predict_proba"), "a member of a vote has no posteriors")
    check_same_width([vote, *vote.members_])


def check_decomposition(made: Any) -> None:
    """Raise unless there is a classifier of two classes, with posteriors, for each cut between the classes."""
    k = check_labels(made.classes_)
    need(isinstance(made.members_, list) and len(made.members_) == k - 1, "a decomposition lacks a classifier of a cut")
    for member in made.members_:
        check_classifier(member, (0, 1))
        need(hasattr(member, "predict_proba"), "a classifier of a cut has no posteriors")
        need(list(member.classes_) == [0, 1], "a classifier of a cut has its classes in another order")
    check_same_width([made, *made.members_])


@dataclass(frozen=True)
class _FoldsCodec(EstimatorCodec):
    """Fitted classifiers that are a parameter."""

    def check_parameters(self, made: Any) -> None:
        """Raise unless the classifiers are fitted for the same classes."""
        need(isinstance(made.classifiers, list | tuple) and made.classifiers, "there are no fold classifiers")
        for classifier in made.classifiers:
            check_classifier(classifier)
            check_classifier(classifier, made.classifiers[0].classes_)
        check_same_width(made.classifiers)


def check_calibration(calibrated: Any) -> None:
    """Raise unless each member has the parameters of its sigmoids, or a temperature."""
    k = check_labels(calibrated.classes_)
    need(
        calibrated.original_name == "CalibratedClassifierCV",
        "calibrated classifiers do not say what they were",
    )
    members = calibrated.members_
    need(isinstance(members, list) and members, "there are no calibrated classifiers")
    for member in members:
        check_classifier(member)
        need(hasattr(member, "decision_function") or hasattr(member, "predict_proba"), "a classifier has no scores")
    check_same_width([calibrated, *members])
    if has(calibrated, "betas_"):
        check_floats(calibrated.betas_, "betas_", (len(members),))
        # Their classes may be codes of the labels.
        need(all(len(member.classes_) == k for member in members), "a classifier has other classes")
        return
    need(has(calibrated, "slopes_", "offsets_"), "calibrated classifiers lack their sigmoids")
    for values in (calibrated.slopes_, calibrated.offsets_):
        need(
            isinstance(values, list) and len(values) == len(members),
            "there are more or fewer sigmoids than classifiers",
        )
        for member, one in zip(members, values, strict=True):
            n = len(member.classes_)
            need(n > 1, "a classifier has one class")
            need(set(member.classes_.tolist()) <= set(calibrated.classes_.tolist()), "a classifier has other classes")
            check_floats(one, "the parameters of sigmoids", (1 if n == 2 else n,))


@dataclass(frozen=True)
class _CalibrationCodec(EstimatorCodec):
    """Calibrated classifiers: unfitted made by their constructor, fitted as `FittedCalibration` over the unfitted one."""

    def fields(self, instance: Any) -> dict[str, Any]:
        """Return the parameters and, of a fitted one, its classifiers and the parameters of their calibrators."""
        if not hasattr(instance, "calibrated_classifiers_"):
            return super().fields(instance)
        if instance.method not in ("sigmoid", "temperature"):
            raise UnsoundError(
                f"calibration by method={instance.method!r} can't be kept in a model file: use 'sigmoid'"
            )
        fitted = FittedCalibration(None).learn_from(instance)
        names = (*FITTED.learnt.names, *of_input)
        return {
            "parameters": changed_parameters(instance),
            "learnt": {name: vars(fitted)[name] for name in names if has(fitted, name)},
        }

    def make(self, fields: Any) -> Any:
        """Make the unfitted estimator, or the fitted classifiers."""
        learnt = fields.get("learnt")
        if not learnt:
            return super().make(fields)
        return FITTED.make({"parameters": {"original": self.later(fields)}, "learnt": learnt})


class _FrozenCodec:
    """A frozen estimator, which is fitted if the one inside is."""

    tag = "frozen"
    path = "sklearn.frozen._frozen:FrozenEstimator"

    def fields(self, instance: Any) -> dict[str, Any]:
        """Return the estimator inside."""
        return {"estimator": instance.estimator}

    def make(self, fields: Any) -> Any:
        """Make the frozen estimator."""
        from sklearn.frozen import FrozenEstimator

        estimator = fields.get("estimator")
        need(hasattr(estimator, "fit") and not isinstance(estimator, type), "nothing is frozen")
        return FrozenEstimator(estimator)


def check_pipeline(pipeline: Any) -> None:
    """Raise unless each fitted step reads as many features as the one before it makes."""
    steps = [step for _, step in pipeline.steps if step not in (None, "passthrough")]
    if is_fitted(steps[-1]):
        need(all(is_fitted(step) for step in steps if _learns(step)), "a step of a pipeline is not fitted")
    for before, after in pairwise(steps):
        made, read = width_out(before), width_in(after)
        need(
            made is None or read is None or made == read,
            "a step of a pipeline reads other features than the one before it makes",
        )


def _learns(step: Any) -> bool:
    """Whether a step is of a type that learns: one of scikit-learn's may not."""
    return type(step).__module__.startswith("headcount.") or type(step).__name__ in (
        "StandardScaler",
        "SimpleImputer",
        "TruncatedSVD",
    )


class _PipelineCodec:
    """A pipeline, which is fitted if its steps are."""

    tag = "pipeline"
    path = "sklearn.pipeline:Pipeline"

    def fields(self, instance: Any) -> dict[str, Any]:
        """Return the steps."""
        return {"steps": [list(step) for step in instance.steps]}

    def make(self, fields: Any) -> Any:
        """Make the pipeline."""
        from sklearn.pipeline import Pipeline

        steps = fields.get("steps")
        need(isinstance(steps, list) and steps, "a pipeline has no steps")
        for step in steps:
            need(isinstance(step, list) and len(step) == 2 and type(step[0]) is str, "a step of a pipeline has no name")
            need(hasattr(step[1], "fit") or step[1] in (None, "passthrough"), "a step of a pipeline is no estimator")
            need(
                step[0] and "__" not in step[0] and step[0] not in ("steps", "memory", "verbose"),
                "a step has a bad name",
            )
        for _, step in steps[:-1]:
            need(step in (None, "passthrough") or hasattr(step, "transform"), "a step of a pipeline does not transform")
        need(len({name for name, _ in steps}) == len(steps), "two steps of a pipeline have the same name")
        pipeline = Pipeline([(name, step) for name, step in steps])
        check_pipeline(pipeline)
        return pipeline


FITTED = EstimatorCodec(
    "fitted calibration",
    "headcount.learners.rebuilt:FittedCalibration",
    Learnt(("classes_", "members_"), ("slopes_", "offsets_", "betas_")),
    check_calibration,
)
CODECS = (
    EstimatorCodec("vote", "headcount.learners.vote:Vote", Learnt(("classes_", "members_")), check_vote),
    EstimatorCodec(
        "cuts of Frank and Hall",
        "headcount.learners.ordinal:FrankHall",
        Learnt(("classes_", "members_")),
        check_decomposition,
    ),
    EstimatorCodec(
        "continuation ratios",
        "headcount.learners.ordinal:ContinuationRatio",
        Learnt(("classes_", "members_")),
        check_decomposition,
    ),
    _FoldsCodec("fold classifiers", "headcount.learners.fold_classifiers:FoldClassifiers"),
    FITTED,
    _CalibrationCodec("calibrated classifier", "sklearn.calibration:CalibratedClassifierCV"),
    _FrozenCodec(),
    _PipelineCodec(),
)
