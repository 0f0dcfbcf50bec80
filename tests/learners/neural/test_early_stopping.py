"""The training loop that both networks share, over a network of one number whose figures are given."""

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="needs the package torch, of the extra 'neural'")

from headcount import CNNClassifier  # noqa: E402
from headcount.exceptions import TrainingError, TrainingWarning  # noqa: E402
from headcount.learners.neural.early_stopping import train_until_best  # noqa: E402


def train(figures, *, larger_is_better=True, last_pass=None, losses=None, max_epochs=50, **changes):
    """After each epoch the network's number is the number of epochs so far."""
    settings = CNNClassifier(**{"learning_rate": 0.5, "max_epochs": max_epochs, "patience": 2} | changes)
    parameters = {"weight": torch.zeros(1, requires_grad=True)}
    figures, losses = iter(figures), iter(losses or [1.0] * 50)

    def epoch():
        figure = next(figures)
        if figure is None:
            raise KeyboardInterrupt
        with torch.no_grad():
            parameters["weight"] += 1
        return torch.tensor(next(losses)), torch.tensor(figure)

    def pass_over_held_out():
        return last_pass(parameters)

    return train_until_best(
        parameters,
        epoch,
        settings,
        figure="held-out F1",
        larger_is_better=larger_is_better,
        last_pass=pass_over_held_out if last_pass else None,
    )


def test_training_stops_after_patience_epochs_without_improvement_and_keeps_the_best():
    trained = train([0.1, 0.5, 0.4, 0.3, 0.9])
    assert (trained.best_epoch, len(trained.losses)) == (2, 4)
    assert trained.parameters["weight"].tolist() == [2.0]
    np.testing.assert_allclose(trained.figures, [0.1, 0.5, 0.4, 0.3])


def test_smaller_figures_can_be_the_better_ones():
    trained = train([0.5, 0.1, 0.4, 0.3, 0.0], larger_is_better=False)
    assert (trained.best_epoch, trained.parameters["weight"].tolist()) == (2, [2.0])


def test_an_equal_figure_is_no_improvement():
    assert train([0.5, 0.5, 0.5, 0.9]).best_epoch == 1


def test_training_stops_at_the_largest_number_of_epochs():
    assert len(train([0.1, 0.2, 0.3, 0.4], max_epochs=3).losses) == 3


def test_the_last_pass_starts_from_the_best_parameters():
    def double(parameters):
        with torch.no_grad():
            parameters["weight"] *= 2
        return torch.tensor(1.0)

    assert train([0.5, 0.9, 0.1, 0.1], last_pass=double).parameters["weight"].tolist() == [4.0]


@pytest.mark.parametrize(
    ("figures", "changes"),
    [
        ([0.5, 0.6], {"losses": [1.0, np.nan]}),
        ([0.5, np.inf], {}),
        ([0.5, 0.4, 0.4], {"last_pass": lambda _: torch.tensor(np.nan)}),
        ([0.5, 0.4, 0.4], {"last_pass": lambda parameters: parameters["weight"].data.fill_(np.nan).new_zeros(())}),
    ],
    ids=["loss", "figure", "last pass", "parameters"],
)
def test_divergence_is_an_error_that_names_the_learning_rate(figures, changes):
    with pytest.raises(TrainingError, match=r"diverged. Lower learning_rate \(it is 0.5\)"):
        train(figures, **changes)


def test_an_interruption_keeps_the_best_parameters_when_asked():
    with pytest.warns(TrainingWarning, match="interrupted after 2 epochs: the network of epoch 1"):
        trained = train([0.5, 0.4, None], keep_when_interrupted=True)
    assert trained.parameters["weight"].tolist() == [1.0]

    def interrupt(parameters):
        parameters["weight"].data.fill_(7.0)
        raise KeyboardInterrupt

    with pytest.warns(TrainingWarning, match="without the last pass over the held-out part"):
        trained = train([0.5, 0.4, 0.4], keep_when_interrupted=True, last_pass=interrupt)
    assert trained.parameters["weight"].tolist() == [1.0]


@pytest.mark.parametrize(("figures", "keep"), [([0.5, None], False), ([None], True)])
def test_an_interruption_is_raised_unless_there_is_something_to_keep(figures, keep):
    with pytest.raises(KeyboardInterrupt):
        train(figures, keep_when_interrupted=keep)


def test_progress_is_written_to_the_error_stream(capfd):
    train([0.5, 0.25, 0.25], verbose=True)
    assert "epoch 2: loss 1.000000, held-out F1 0.250000 (best: epoch 1)\n" in capfd.readouterr().err
