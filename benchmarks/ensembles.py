"""Errors of methods alone and in ensembles, which the docstring of `Ensemble` cites: `python -m benchmarks.ensembles`."""

import warnings

import numpy as np
from sklearn.linear_model import LogisticRegression

import headcount as hc
from benchmarks.setting import make_pool

DRAWS, MEMBERS = 6, 15


def main() -> None:
    warnings.simplefilter("ignore")
    protocol = hc.ArtificialPrevalence(21, repeats=5, sample_size=500, random_state=0)
    print(
        f"Mean absolute error and its standard error over {DRAWS} draws of labelled items, two classes, {MEMBERS} members"
    )
    for n in (200, 1500):
        for name in ("PACC", "HDy", "CC"):
            errors: dict[str, list[float]] = {"alone": [], "all members": [], "ptr": []}
            for seed in range(DRAWS):
                pool = make_pool(2, n_validation=n + seed, n_pool=4000)
                method = getattr(hc, name)(LogisticRegression(), **({} if name == "CC" else {"random_state": 0}))
                settings = {"n_members": MEMBERS, "random_state": seed}
                candidates = {
                    "alone": method,
                    "all members": hc.Ensemble(method, selection=None, **settings),
                    "ptr": hc.Ensemble(method, selection="ptr", **settings),
                }
                for how, q in candidates.items():
                    q.fit(pool.P_validation, pool.y_validation)
                    errors[how].append(float(hc.evaluate(q, pool.P, pool.y, protocol).ae.mean()))
            row = ", ".join(f"{how} {np.mean(e):.4f} ({np.std(e) / DRAWS**0.5:.4f})" for how, e in errors.items())
            print(f"{name}, {n:,} labelled: {row}", flush=True)


if __name__ == "__main__":
    main()
