"""A study of networks: over term ids, the same figures for any number of jobs."""

import pytest
from sklearn.linear_model import LogisticRegression

from headcount.study import Results, read_plan, run_study

pytest.importorskip("torch", reason="needs the package torch, of the extra 'neural'")

PLAN = """
name = "networks"
data_sets = ["small"]
seed = 3

[protocol]
n_prevalences = 3
sample_size = 40
validation_repeats = 2
test_repeats = 2

[learners.cnn]
class = "headcount.CNNClassifier"
representation = "ids"
parameters = { embedding_size = 8, channels = 8, document_size = 4, max_epochs = 2, device = "cpu" }
grid = { dropout = [0.0, 0.5] }

[[methods]]
names = ["CC", "PCC"]
learners = ["cnn"]
targets = ["none", "f1", "ae"]

[[methods]]
names = ["QuaNet"]
learners = ["cnn"]
targets = ["ae"]
runs = 2
parameters = { lstm_size = 4, layers = [8], sample_size = 20, samples_per_epoch = 10, max_epochs = 2, device = "cpu" }
"""


@pytest.mark.filterwarnings(
    "ignore::headcount.exceptions.IdentifiabilityWarning"
)  # hardly trained, they confuse classes
@pytest.mark.slow
def test_a_study_of_networks_has_the_same_figures_for_any_number_of_jobs(tmp_path, data_folder):
    (tmp_path / "plan.toml").write_text(PLAN)
    plan = read_plan(tmp_path / "plan.toml")
    figures = []
    for jobs in (1, 2):
        summary = run_study(plan, tmp_path / f"store{jobs}", n_jobs=jobs, data_dir=data_folder, progress=False)
        assert summary.failures == []
        cells = Results(plan, tmp_path / f"store{jobs}").cells
        figures.append({(c.method, c.target, c.run): c.estimated.tolist() for c in cells})
    assert len(figures[0]) == 2 * 3 + 2
    assert figures[0] == figures[1]


def test_task_that_ran_out_of_device_memory_is_computed_by_the_next_run(tmp_path, data_folder, monkeypatch):
    import torch

    from headcount.learners.neural import training

    (tmp_path / "plan.toml").write_text(PLAN)
    plan = read_plan(tmp_path / "plan.toml")

    def full(self, rows):
        raise torch.OutOfMemoryError("CUDA out of memory. Tried to allocate much")

    with monkeypatch.context() as patched:
        patched.setattr(training.Trainer, "epoch", full)
        first = run_study(plan, tmp_path / "store", n_jobs=1, data_dir=data_folder, progress=False)
    assert first.failures
    again = run_study(plan, tmp_path / "store", n_jobs=1, data_dir=data_folder, progress=False)
    assert again.failures == []
    assert again.computed > 0


def test_results_record_the_device_they_were_computed_on(tmp_path, data_folder):
    (tmp_path / "plan.toml").write_text(PLAN)
    plan = read_plan(tmp_path / "plan.toml")
    run_study(plan, tmp_path / "store", n_jobs=1, data_dir=data_folder, progress=False)
    devices = {versions.get("device") for versions, _ in Results(plan, tmp_path / "store").versions}
    assert all(device.startswith("cpu, torch ") for device in devices)
    assert any("float32 products" in device for device in devices)


class WithDevice(LogisticRegression):
    """A learner that means something else by a device."""

    def __init__(self, device=None, C=1.0):
        super().__init__(C=C)
        self.device = device


def test_a_device_parameter_of_other_learners_is_ignored(tmp_path, data_folder):
    text = (
        PLAN[: PLAN.index("[learners.cnn]")]
        + """
[learners.other]
class = "tests.study.test_networks.WithDevice"

[[methods]]
names = ["CC"]
learners = ["other"]
"""
    )
    (tmp_path / "plan.toml").write_text(text)
    summary = run_study(read_plan(tmp_path / "plan.toml"), tmp_path / "store", n_jobs=1, data_dir=data_folder)
    assert summary.failures == []
