"""One hostile function in a process of its own: `python -m benchmarks.attacks.case BEHAVIOUR MODE FOLDER`.

Writes what the function itself did to FOLDER/objective.log, and what `minimize` made of it to FOLDER/outcome.json.
"""

from __future__ import annotations

import json
import math
import os
import sys
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from pathlib import Path
from typing import Any

N_EVALS = 6  # a Latin hypercube: half of the points are hostile
TIMEOUT_S = 2.0


def append(log: str, *fields: Any) -> None:
    """One line in one write."""
    file = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    os.write(file, (json.dumps(fields) + "\n").encode())
    os.close(file)


class Function:
    """The objective: quiet on one half of its domain, hostile on the other; can be sent to other processes."""

    def __init__(self, behaviour: str, log: str) -> None:
        self.behaviour, self.log = behaviour, log

    def __call__(self, x: Any) -> Any:
        """The value at x, or worse."""
        from benchmarks.attacks import functions, functions_values  # noqa: F401 - they register their behaviours
        from benchmarks.attacks.behaviours import BEHAVIOURS

        point = [float(v) for v in x]
        append(self.log, "start", point, None)
        if point[0] < 0.5:
            value = BEHAVIOURS[self.behaviour].act()
        else:
            value = point[0] + point[1]
        if isinstance(value, float) and math.isfinite(value):
            append(self.log, "end", point, value)
        return value


def settings(mode: str) -> dict[str, Any]:
    """Of `minimize`, for a mode."""
    return {
        "plain": dict,
        "isolated": lambda: {"isolate": "process"},
        "timeout": lambda: {"timeout": TIMEOUT_S},
        "memory": lambda: {"memory_limit_mb": 600},
        "threads": lambda: {"isolate": "process", "executor": ThreadPoolExecutor(3), "n_workers": 3},
        "pool": lambda: {"executor": ProcessPoolExecutor(2), "n_workers": 2},
    }[mode]()


def rows_of(result: Any) -> list[list[Any]]:
    """The evaluations of a result, as JSON holds them."""
    found = [] if result is None else result.history.evaluations
    return [
        [[float(v) for v in e.x], None if math.isnan(e.y) else e.y, e.status, str(e.reason), e.duration_s]
        for e in found
    ]


def recorded(folder: str, call: Callable[[], Any]) -> None:
    """Write what came of the call, whatever it raised; outcome.json is the last thing that happens."""
    from surefoot.errors import SurefootError

    outcome: dict[str, Any] = {"error": "", "own": True}
    try:
        result = call()
    except BaseException as error:  # a raw error is what is looked for
        result = getattr(error, "result", None)
        try:
            said = f"{type(error).__name__}: {error}"
        except BaseException:
            said = f"{type(error).__name__}, which cannot be printed"
        outcome = {"error": said[:500], "own": isinstance(error, SurefootError)}
    outcome["rows"] = rows_of(result)
    (Path(folder) / "outcome.json").write_text(json.dumps(outcome))


def main() -> None:
    """One case."""
    from surefoot import minimize

    behaviour, mode, folder = sys.argv[1:4]
    folder = str(Path(folder).resolve())
    function = Function(behaviour, f"{folder}/objective.log")
    options = settings(mode)
    recorded(
        folder,
        lambda: minimize(
            function, [(0.0, 1.0), (0.0, 1.0)], n_evals=N_EVALS, n_init=N_EVALS, max_failures=None, **options
        ),
    )
    executor = options.get("executor")
    if executor is not None:
        executor.shutdown(wait=False, cancel_futures=True)


if __name__ == "__main__":
    main()
