"""What a suggestion costs with 300 successes and 200 failures, per failure model, over the same without one.

Median of 25 steps, each after another success was told: anywhere, or beside the border of the failures, where a label
is news to their model. Processor time of one thread: other programs on the machine change it less than they change
the time on the wall.

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
N_OK, N_FAILED, REPEATS = 300, 200, 25


def optimizer_with(model: str, d_name: str, *, beside: bool = False) -> tuple[surefoot.Optimizer, np.ndarray]:
    """An optimizer told 300 successes and, but for `ignore`, 200 failures in a half-space; what to tell it next."""
    f = problems.get(d_name)
    rng = np.random.default_rng(0)
    low, high = np.asarray(f.lower), np.asarray(f.upper)
    units = rng.random((5000, f.d))
    along = units[:, 0] + 0.5 * units[:, 1]
    fails = along > 0.9
    ok, bad = units[~fails][:N_OK], units[fails][:N_FAILED]
    later = units[1000:][(along[1000:] > 0.87 if beside else True) & ~fails[1000:]][: REPEATS + 1]
    optimizer = surefoot.Optimizer(f.bounds, n_init=1, failures=model)
    X = low + ok * (high - low)
    optimizer.tell(list(X), f(X))
    if model != "ignore":
        for x in low + bad * (high - low):
            optimizer.tell_failure(x, "half-space")
    return optimizer, low + later * (high - low)


def measure(d_name: str, *, beside: bool) -> str:
    """The costs of all models, interleaved."""
    f = problems.get(d_name)
    runs = {model: optimizer_with(model, d_name, beside=beside) for model in MODELS}
    times: dict[str, list[float]] = {model: [] for model in MODELS}
    for k in range(REPEATS + 1):
        for model, (optimizer, extra) in runs.items():
            optimizer.forget_pending()
            optimizer.tell(extra[k], float(f(extra[k])))
            start = time.process_time()
            optimizer.ask()
            times[model].append(time.process_time() - start)
    base = float(np.median(times["ignore"][1:]))
    costs = ", ".join(f"{model} {np.median(times[model][1:]) / base:.1f}x" for model in MODELS[1:])
    return f"{N_OK} successes alone {1000 * base:.0f} ms; with {N_FAILED} failures: {costs}"


def main() -> None:
    """Measure and print."""
    for name in ("CAM", "HM6"):
        for beside in (False, True):
            where = "beside the border" if beside else "anywhere"
            print(f"{name}, new successes {where}: {measure(name, beside=beside)}", flush=True)


if __name__ == "__main__":
    main()
