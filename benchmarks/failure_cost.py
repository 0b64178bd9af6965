"""What a suggestion costs with 300 successes and 200 failures, per failure model, over the same without one.

Processor time of one thread: other programs on the machine change it less than they change the time on the wall.

python -m benchmarks.failure_cost
"""

from __future__ import annotations

import os

for _variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
    os.environ[_variable] = "1"  # before NumPy is imported

import time

import numpy as np

import surefoot
from surefoot import problems

MODELS = ("ignore", "label-regression", "laplace", "ep", "experts")
N_OK, N_FAILED, REPEATS = 300, 200, 7


def optimizer_with(model: str, d_name: str) -> tuple[surefoot.Optimizer, np.ndarray]:
    """An optimizer told 300 successes and, but for `ignore`, 200 failures in a half-space."""
    f = problems.get(d_name)
    rng = np.random.default_rng(0)
    low, high = np.asarray(f.lower), np.asarray(f.upper)
    units = rng.random((5000, f.d))
    fails = units[:, 0] + 0.5 * units[:, 1] > 0.9
    ok, bad = units[~fails][: N_OK + REPEATS + 1], units[fails][:N_FAILED]
    optimizer = surefoot.Optimizer(f.bounds, n_init=1, failures=model)
    X = low + ok * (high - low)
    optimizer.tell(list(X[:N_OK]), f(X[:N_OK]))
    if model != "ignore":
        for x in low + bad * (high - low):
            optimizer.tell_failure(x, "half-space")
    return optimizer, X[N_OK:]


def main() -> None:
    """Measure, interleaved, and print."""
    for name in ("CAM", "HM6"):
        f = problems.get(name)
        runs = {model: optimizer_with(model, name) for model in MODELS}
        times: dict[str, list[float]] = {model: [] for model in MODELS}
        for k in range(REPEATS + 1):
            for model, (optimizer, extra) in runs.items():
                optimizer.forget_pending()
                optimizer.tell(extra[k], float(f(extra[k])))
                start = time.process_time()
                optimizer.ask()
                times[model].append(time.process_time() - start)
        base = float(np.median(times["ignore"][1:]))
        print(f"{name}: {N_OK} successes alone {1000 * base:.0f} ms; with {N_FAILED} failures: ", end="")
        print(", ".join(f"{m} {np.median(times[m][1:]) / base:.1f}x" for m in MODELS[1:]))


if __name__ == "__main__":
    main()
