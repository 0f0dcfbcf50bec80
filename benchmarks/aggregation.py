"""Time of drawing 2,100 samples of 500 items from a pool of 25,000 and estimating their shares, against QuaPy.

Run by `make bench`. The classifier's outputs are the same on both sides and cost nothing; drawing is included.
"""

import subprocess
import sys
import warnings
from typing import Any

import numpy as np

import headcount as hc
from benchmarks.setting import SEED, Pool, machine, make_pool, seconds
from headcount.protocols import Protocol

warnings.filterwarnings("ignore", module="quapy")
import quapy  # noqa: E402
import quapy.method.aggregative as qa  # noqa: E402
from quapy.data import LabelledCollection  # noqa: E402
from quapy.protocol import APP, UPP  # noqa: E402

SIZE, SAMPLES = 500, 2100
TARGET_RATIOS = {
    ("CC", 2): 30,
    ("PCC", 2): 30,
    ("ACC", 2): 200,
    ("PACC", 2): 200,
    ("PACC", 3): 1000,
    ("PACC", 10): 1000,
    ("SLD", 2): 150,
    ("SLD", 3): 80,
    ("SLD", 10): 45,
    ("HDy", 2): 400,
}
QUAPY_NAMES = {"SLD": "EMQ"}


def protocol(n_classes: int, n_samples: int = SAMPLES) -> Protocol:
    if n_classes == 2:
        return hc.ArtificialPrevalence(21, repeats=n_samples // 21, sample_size=SIZE, random_state=SEED)
    return hc.UniformPrevalence(n_samples, sample_size=SIZE, random_state=SEED)


def ours(name: str, pool: Pool) -> Any:
    options = {"prior": np.bincount(pool.y_validation) / len(pool.y_validation)} if name == "SLD" else {}
    return getattr(hc, name)(pool.classifier, **options).fit(pool.P_validation, pool.y_validation)


def theirs(name: str, pool: Pool, **options: Any) -> Any:
    if name != "CC":
        options["val_split"] = None
    model = getattr(qa, QUAPY_NAMES.get(name, name))(pool.classifier, fit_classifier=False, **options)
    return model.fit(pool.P_validation, pool.y_validation)


def their_protocol(pool: Pool, n_classes: int, n_samples: int = SAMPLES) -> Any:
    data = LabelledCollection(pool.P, pool.y)
    if n_classes == 2:
        return APP(data, SIZE, n_prevalences=21, repeats=n_samples // 21, random_state=SEED)
    return UPP(data, SIZE, repeats=n_samples, random_state=SEED)


def optimality_gap(M: Any, q: Any, p: Any) -> float:
    """Return an upper bound of ||M p - q||^2 minus its minimum over the simplex: the Frank-Wolfe gap."""
    residuals = p @ M.T - q
    gradients = 2 * residuals @ M
    return float(np.max((gradients * p).sum(axis=1) - gradients.min(axis=1)))


def against_quapy() -> bool:
    print(f"\n## {SAMPLES:,} samples of {SIZE} items, pool of 25,000, drawing included (milliseconds)\n")
    print("| method | classes | headcount | QuaPy | ratio | target | mean AE, ours / theirs |")
    print("|---|---|---|---|---|---|---|")
    passed = True
    exact = {"solver": "exact-cc"}
    rows = [("CC", 2, {}), ("PCC", 2, {}), ("ACC", 2, {}), ("PACC", 2, {}), ("PACC", 3, {}), ("PACC", 3, exact)]
    rows += [("PACC", 10, {}), ("PACC", 10, exact), ("SLD", 2, {}), ("SLD", 3, {}), ("SLD", 10, {}), ("HDy", 2, {})]
    pools = {n: make_pool(n) for n in (2, 3, 10)}
    for name, n_classes, options in rows:
        pool = pools[n_classes]
        q, model, drawing = ours(name, pool), theirs(name, pool, **options), protocol(n_classes)
        table = hc.evaluate(q, pool.P, pool.y, drawing)  # compiles the kernels, or loads them from the cache
        ours_s = seconds(lambda q=q, pool=pool, drawing=drawing: hc.evaluate(q, pool.P, pool.y, drawing))
        answer: list[Any] = []
        theirs_s = seconds(
            lambda model=model, pool=pool, n=n_classes, answer=answer: answer.append(
                quapy.evaluation.prediction(model, their_protocol(pool, n))
            )
        )
        error = np.abs(answer[0][0] - answer[0][1]).mean()
        target = None if options else TARGET_RATIOS[name, n_classes]
        passed &= target is None or theirs_s / ours_s >= target
        label = f"{name}{', their ' + options['solver'] + ' solver' if options else ''}"
        print(
            f"| {label} | {n_classes} | {1e3 * ours_s:.1f} | {1e3 * theirs_s:,.0f} | {theirs_s / ours_s:,.0f} | {target or '–'} "
            f"| {table.ae.mean():.4f} / {error:.4f} |",
            flush=True,
        )
    for n_classes in (3, 10):
        pool = pools[n_classes]
        q = ours("PACC", pool)
        samples, _ = protocol(n_classes).draw(pool.y)
        out = q.outputs(pool.P)
        bound = optimality_gap(q.M_, q.reduce(out, samples).means(), q.aggregate(out, samples))
        passed &= bound < 1e-9
        print(
            f"\nPACC, {n_classes} classes: every sample's objective is within {bound:.1e} of its optimum (target: 1e-9)."
        )
    return passed


def where_the_time_goes() -> None:
    print("\n## Where the time goes (milliseconds)\n")
    print("| classes | drawing | reducing decisions | reducing posteriors | solving PACC |\n|---|---|---|---|---|")
    for n_classes in (2, 3, 10):
        pool = make_pool(n_classes)
        cc, pacc, drawing = ours("CC", pool), ours("PACC", pool), protocol(n_classes)
        out = pacc.outputs(pool.P, needs=("decisions", "posteriors"))
        samples, _ = drawing.draw(pool.y)
        sums = pacc.reduce(out, samples)
        cc.reduce(out, samples)
        pacc.solve(sums)
        parts = [
            seconds(lambda drawing=drawing, pool=pool: drawing.draw(pool.y)),
            seconds(lambda cc=cc, out=out, samples=samples: cc.reduce(out, samples)),
            seconds(lambda pacc=pacc, out=out, samples=samples: pacc.reduce(out, samples)),
            seconds(lambda pacc=pacc, sums=sums: pacc.solve(sums)),
        ]
        print(f"| {n_classes} | " + " | ".join(f"{1e3 * t:.2f}" for t in parts) + " |")


def growth() -> None:
    print("\n## PACC, two classes: cost against the number of samples\n")
    print("| samples | milliseconds | microseconds per sample |\n|---|---|---|")
    pool = make_pool(2)
    q = ours("PACC", pool)
    for n_samples in (2_100, 8_400, 33_600, 100_800):
        drawing = protocol(2, n_samples)
        wall = seconds(lambda drawing=drawing: hc.evaluate(q, pool.P, pool.y, drawing))
        print(f"| {n_samples:,} | {1e3 * wall:.1f} | {1e6 * wall / n_samples:.2f} |")


def memory() -> bool:
    peak = float(
        subprocess.run([sys.executable, "-m", "benchmarks.memory"], capture_output=True, text=True, check=True).stdout
    )
    print(
        f"\n100,000 samples of {SIZE} (50 million items drawn), PACC: "
        f"peak {peak:.0f} MB, Python and libraries included (target: 700)."
    )
    return peak < 700


def imports() -> bool:
    def cost(statement: str) -> float:
        code = f"import time, sklearn.base; t = time.perf_counter(); {statement}; print(time.perf_counter() - t)"
        runs = [
            float(subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout)
            for _ in range(5)
        ]
        return float(np.median(runs))

    bare, full = cost("import headcount"), cost("from headcount import PACC, ArtificialPrevalence, evaluate")
    print(
        f"\nOn top of sklearn.base, `import headcount` takes {bare:.3f} s, "
        f"with PACC, a protocol and evaluate {full:.3f} s (target: 0.2)."
    )
    return full < 0.2


if __name__ == "__main__":
    print(f"# Headcount {hc.__version__} against QuaPy\n\n{machine()}")
    where_the_time_goes()
    growth()
    passed = [memory(), imports(), against_quapy()]
    print("\nAll targets are met." if all(passed) else "\nNOT ALL TARGETS ARE MET.")
    sys.exit(0 if all(passed) else 1)
