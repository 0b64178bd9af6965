"""surefoot: Bayesian optimization for expensive simulators that crash.

>>> import surefoot
>>> result = surefoot.minimize(lambda x: (x[0] - 1) ** 2 + x[1] ** 2, [(-5, 5), (-5, 5)], n_evals=30)

Names are imported when they are first used, so that `import surefoot` costs next to nothing.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from surefoot.acquisition.registry import register_policy
    from surefoot.errors import Failed
    from surefoot.failures.registry import register_failure_model
    from surefoot.gp.kernels import register_kernel
    from surefoot.gp.registry import register_surrogate
    from surefoot.optimize.history import Evaluation, History
    from surefoot.optimize.minimize import minimize
    from surefoot.optimize.optimizer import Optimizer
    from surefoot.optimize.parameters import Categorical, Integer, Real
    from surefoot.optimize.result import Result
    from surefoot.optimize.space import Space

__version__ = "0.2.0"

_HOMES = {
    "Categorical": "surefoot.optimize.parameters",
    "Evaluation": "surefoot.optimize.history",
    "Failed": "surefoot.errors",
    "History": "surefoot.optimize.history",
    "Integer": "surefoot.optimize.parameters",
    "Optimizer": "surefoot.optimize.optimizer",
    "Real": "surefoot.optimize.parameters",
    "Result": "surefoot.optimize.result",
    "Space": "surefoot.optimize.space",
    "minimize": "surefoot.optimize.minimize",
    "register_failure_model": "surefoot.failures.registry",
    "register_kernel": "surefoot.gp.kernels",
    "register_policy": "surefoot.acquisition.registry",
    "register_surrogate": "surefoot.gp.registry",
    "write_report": "surefoot.reports.optimization",  # not among the imports above: lower layers import this module
}

__all__ = [
    "Categorical",
    "Evaluation",
    "Failed",
    "History",
    "Integer",
    "Optimizer",
    "Real",
    "Result",
    "Space",
    "__version__",
    "minimize",
    "register_failure_model",
    "register_kernel",
    "register_policy",
    "register_surrogate",
    "write_report",
]


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(importlib.import_module(_HOMES[name]), name)
    if name in ("problems", "pulmonary"):
        return importlib.import_module(f"surefoot.{name}")
    raise AttributeError(f"module 'surefoot' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*__all__, "problems", "pulmonary"])
