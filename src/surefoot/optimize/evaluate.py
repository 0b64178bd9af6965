"""Run one evaluation and say what came of it: a value, or a failure with its reason."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from surefoot.optimize.history import Evaluation
from surefoot.optimize.space import Space, Value


def as_float(value: Any) -> float:
    """A scalar result as a float: numbers, 0-d and one-element arrays. TypeError for anything else."""
    if isinstance(value, (bool, np.bool_, str, bytes)) or value is None:
        raise TypeError(f"the function returned {value!r}, not a number")
    array = np.asarray(value)
    if array.size != 1 or array.dtype.kind not in "iuf":
        raise TypeError(f"the function returned {type(value).__name__} of shape {array.shape}, not one real number")
    return float(array.reshape(()).item())


def outcome(x: tuple[Value, ...], value: Any, duration_s: float = math.nan) -> Evaluation:
    """The evaluation that a returned value stands for: NaN and infinities are failures."""
    y = as_float(value)
    if math.isfinite(y):
        return Evaluation(x, y, duration_s=duration_s)
    return Evaluation(x, math.nan, "failed", f"the value was {y}", duration_s)


def evaluate(fun: Callable[[Any], Any], space: Space, x: tuple[Value, ...]) -> Evaluation:
    """fun at x. Exceptions are failures; KeyboardInterrupt and SystemExit belong to the user and pass through."""
    start = time.perf_counter()
    try:
        value = fun(space.to_user(x))
        return outcome(x, value, time.perf_counter() - start)
    except Exception as error:
        reason = f"{type(error).__name__}: {error}"
        return Evaluation(x, math.nan, "failed", reason, time.perf_counter() - start)
