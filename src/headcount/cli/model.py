"""The model that a command names: a model file, or a model made from a scored table or a confusion matrix."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

from headcount.cli.option_groups import BlackBox
from headcount.exceptions import DataError

if TYPE_CHECKING:
    from headcount.modelfile import Model

__all__ = ["class_names", "model_from", "models_in"]


def models_in(folder: str, black_box: BlackBox) -> dict[str, "Model"]:
    """Read all model files of a folder, by the columns of their labels, or by their names where two labels are equal."""
    from headcount.modelfile import load_model

    _check_no_columns(black_box)
    files = sorted(Path(folder).glob("*.headcount"))
    if not files:
        raise DataError(f"{folder} holds no model files (.headcount): name a model file, or a folder of them.")
    models = {file.stem: load_model(file, trust=black_box.trust) for file in files}
    labels = [model.columns.label for model in models.values()]
    return dict(zip(labels, models.values(), strict=True)) if len(set(labels)) == len(labels) else models


def model_from(source: str, files: list[str], black_box: BlackBox, dask: str | None = None) -> "Model":
    """Read the model from its file, or make it; ``files`` are the tables that the command reads besides."""
    from headcount.desk import confusion_model, scored_model
    from headcount.modelfile import load_model

    streams = [name for name in (source, *files) if name == "-" or Path(name).is_fifo()]
    if len(set(streams)) < len(streams):
        raise DataError("Standard input, or a pipe, can be read only once: replace one of its uses by a file.")
    columns, method = black_box.columns, black_box.method
    if black_box.confusion:
        if black_box.scored or dask or any(name is not None for name in columns.values()):
            raise DataError(
                "--confusion takes a matrix and counts: omit --scored, --label, --scores, --decisions and --dask."
            )
        return confusion_model(source, method=method)
    if black_box.scored:
        if black_box.label is None:
            raise DataError("--scored needs the column of true labels of the labelled table: --label NAME.")
        return scored_model(
            source, label=black_box.label, scores=black_box.scores, decisions=black_box.decisions, method=method
        )
    _check_no_columns(black_box)
    return load_model(source, trust=black_box.trust)


def class_names(classes: str) -> list[Any]:
    """Return the classes that --classes names, as numbers if all are."""
    from headcount._labels import typed_labels

    labels: list[Any] = typed_labels([name.strip() for name in classes.split(",")]).tolist()
    return labels


def _check_no_columns(black_box: BlackBox) -> None:
    """Raise if columns or a method are named beside a model file."""
    if any(name is not None for name in black_box.columns.values()) or black_box.method != "auto":
        raise DataError(
            "--label, --scores, --decisions and --method go with --scored; a model file has its own method and columns."
        )
