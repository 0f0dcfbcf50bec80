"""Time of training CNN and QuaNet to the same loss on the same held-out items, against QuaPy. Run by `make bench`.

Each side runs in a separate process, so that its peak memory can be measured, and fits one epoch before it is timed. QuaPy trains
for a fixed number of epochs. Headcount is then trained with increasing numbers of epochs until its loss is no larger. With a fixed
seed a shorter fit is the beginning of a longer one, so the time of the first fit that reaches the loss is the time to reach it.
`--device cuda` compares on a GPU.
"""

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import time
import warnings
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.linear_model import LogisticRegression

import headcount as hc
from benchmarks.setting import SEED, machine
from headcount.data import SyntheticReviews

TARGET_RATIOS = {"quanet": {"cpu": 4.0, "cuda": 8.0}, "cnn": {"cpu": 1.5, "cuda": 1.5}}
EPOCHS = {"quanet": (4, 6, 8, 10, 12, 16, 24, 32, 48), "cnn": (1, 2, 3, 4, 6, 8, 12)}
QUAPY_EPOCHS = {"quanet": 10, "cnn": 4}
SAMPLE, SAMPLES, LSTM = 500, 200, 64
EMBEDDING, CHANNELS = 100, 256


class Embedded(LogisticRegression):
    """A classifier whose items are their own embeddings, so that both sides use the same embeddings."""

    def transform(self, X: Any) -> Any:
        return X


def quanet_data() -> Any:
    """Return 10,000 training and 10,000 test items of 100 features, and samples of the latter with their shares."""
    generator = np.random.default_rng(SEED)
    y = (generator.random(20_000) < 0.3).astype(int)
    direction = generator.standard_normal(100)
    X = generator.standard_normal((20_000, 100)) + (2 * y[:, None] - 1) * direction / np.linalg.norm(direction)
    drawing = hc.ArtificialPrevalence(21, repeats=5, sample_size=SAMPLE, random_state=SEED)
    return X[:10_000], y[:10_000], X[10_000:], *drawing.draw(y[10_000:])


def quanet_ours(epochs: int, device: str) -> tuple[float, float]:
    X, y, pool, samples, true = quanet_data()
    quanet = hc.QuaNet(
        Embedded(),
        lstm_size=LSTM,
        lstm_layers=1,
        samples_per_epoch=SAMPLES,
        sample_size=SAMPLE,
        max_epochs=epochs,
        device=device,
        random_state=SEED,
    )
    start = time.perf_counter()
    quanet.fit(X, y)
    wall = time.perf_counter() - start
    return wall, float(np.mean((quanet.aggregate(quanet.outputs(pool), samples) - true) ** 2))


def quanet_quapy(epochs: int, device: str) -> tuple[float, float]:
    import torch
    from quapy.method.meta import QuaNet

    X, y, pool, samples, true = quanet_data()
    with tempfile.TemporaryDirectory() as folder:
        quanet = QuaNet(
            Embedded(),
            sample_size=SAMPLE,
            n_epochs=epochs + 1,  # QuaPy trains one epoch fewer
            tr_iter_per_poch=SAMPLES,
            va_iter_per_poch=21,
            lstm_hidden_size=LSTM,
            lstm_nlayers=1,
            checkpointdir=folder,
            device=device,
        )
        start = time.perf_counter()
        quanet.fit(X, y)
        wall = time.perf_counter() - start
        quanet.quanet.load_state_dict(torch.load(quanet.checkpoint))  # the best network, which ours keeps too
        estimated = np.array([quanet.predict(pool[rows]) for rows in samples])
    return wall, float(np.mean((estimated - true) ** 2))


def cnn_data() -> Any:
    """Return term ids and labels of 2,000 training and 1,000 test reviews, and the size of the vocabulary."""
    reviews = SyntheticReviews("reviews", 2_000, 1_000, positive=0.5, strength=0.8, median_length=110, seed=SEED)
    train, test = reviews.draw()
    terms = hc.TermIds()
    return terms.fit_transform(train.items), train.labels, terms.transform(test.items), test.labels, terms.n_ids_


def cross_entropy(posteriors: Any, labels: Any) -> float:
    return float(-np.log(np.maximum(posteriors[np.arange(len(labels)), labels], 1e-12)).mean())


def cnn_ours(epochs: int, device: str) -> tuple[float, float]:
    X, y, X_test, y_test, n_ids = cnn_data()
    cnn = hc.CNNClassifier(
        EMBEDDING, CHANNELS, max_epochs=epochs, patience=epochs, n_ids=n_ids, device=device, random_state=SEED
    )
    start = time.perf_counter()
    cnn.fit(X, y)
    wall = time.perf_counter() - start
    return wall, cross_entropy(cnn.predict_proba(X_test), y_test)


def cnn_quapy(epochs: int, device: str) -> tuple[float, float]:
    import quapy
    from quapy.classification.neural import CNNnet, NeuralClassifierTrainer

    X, y, X_test, y_test, n_ids = cnn_data()
    quapy.environ["PAD_INDEX"] = 0
    train, test = (np.empty(len(ids), dtype=object) for ids in (X, X_test))
    train[:], test[:] = ([row[row != 0].tolist() for row in ids] for ids in (X, X_test))
    with tempfile.TemporaryDirectory() as folder:
        cnn = NeuralClassifierTrainer(
            CNNnet(n_ids, 2, embedding_size=EMBEDDING, hidden_size=CHANNELS),
            epochs=epochs,
            patience=epochs,
            batch_size=100,
            batch_size_test=100,
            device=device,
            checkpointpath=str(Path(folder) / "network"),
        )
        start = time.perf_counter()
        cnn.fit(train, y, val_split=0.4)
        wall = time.perf_counter() - start
        return wall, cross_entropy(cnn.predict_proba(test), y_test)


SIDES = {"quanet": (quanet_ours, quanet_quapy), "cnn": (cnn_ours, cnn_quapy)}


def train_one_side(task: str, use_quapy: bool, epochs: int, device: str) -> None:
    """Train one side and print seconds, loss and peak memory as JSON."""
    import torch

    warnings.simplefilter("ignore")
    np.random.seed(SEED)  # noqa: NPY002 (QuaPy draws from the global generators)
    torch.manual_seed(SEED)
    SIDES[task][use_quapy](1, device)  # warm-up: compiling and loading are not timed
    wall, loss = SIDES[task][use_quapy](epochs, device)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    on_device = torch.cuda.max_memory_allocated() / 2**20 if device == "cuda" else 0.0
    print(json.dumps({"seconds": wall, "loss": loss, "peak": peak, "on_device": on_device}))


def run_in_process(task: str, use_quapy: bool, epochs: int, device: str) -> dict[str, float]:
    command = [
        sys.executable,
        "-m",
        "benchmarks.neural",
        "--device",
        device,
        "--side",
        task,
        str(int(use_quapy)),
        str(epochs),
    ]
    process = subprocess.run(command, capture_output=True, text=True, check=False)
    if process.returncode:
        raise SystemExit(f"{' '.join(command)} failed:\n{process.stderr}")
    result: dict[str, float] = json.loads(process.stdout.splitlines()[-1])
    return result


def table_row(library: str, epochs: int, result: dict[str, float]) -> str:
    memory = f"{result['peak']:,.0f}" + (f" ({result['on_device']:,.0f} on the device)" if result["on_device"] else "")
    return f"| {library} | {epochs} | {result['seconds']:.1f} | {result['loss']:.5f} | {memory} |"


def compare(task: str, device: str) -> bool:
    """Print how long each side takes to reach QuaPy's loss; return whether the target ratio is met."""
    loss = "squared error of shares" if task == "quanet" else "cross-entropy"
    print(
        f"\n### {task}\n\n| library | epochs | seconds | {loss}, held out | peak MB |\n|---|---|---|---|---|",
        flush=True,
    )
    quapy = run_in_process(task, True, QUAPY_EPOCHS[task], device)
    print(table_row("QuaPy", QUAPY_EPOCHS[task], quapy), flush=True)
    for epochs in EPOCHS[task]:
        ours = run_in_process(task, False, epochs, device)
        print(table_row("Headcount", epochs, ours), flush=True)
        if ours["loss"] <= quapy["loss"]:
            ratio, target = quapy["seconds"] / ours["seconds"], TARGET_RATIOS[task][device]
            print(f"\nHeadcount reaches QuaPy's loss {ratio:.1f} times as fast (target: {target:g}).", flush=True)
            return ratio >= target
    print("\nHeadcount does NOT reach QuaPy's loss in these epochs.")
    return False


def main() -> bool:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--device", choices=("cpu", "cuda"), default="cpu")
    parser.add_argument("--only", choices=tuple(SIDES), action="append")
    parser.add_argument("--side", nargs=3, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.side:
        task, use_quapy, epochs = arguments.side
        train_one_side(task, use_quapy == "1", int(epochs), arguments.device)
        return True
    print(f"\n## Networks on {arguments.device}\n\n{machine('torch')}")
    if find_spec("quapy") is None:
        print("\nSKIPPED: QuaPy is not installed.")
        return True
    outcomes = [compare(task, arguments.device) for task in arguments.only or SIDES]
    return all(outcomes)


if __name__ == "__main__":
    sys.exit(0 if main() else 1)
