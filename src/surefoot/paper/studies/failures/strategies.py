"""The strategies by name: settings of surefoot that treat failures in some way, and other optimizers."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from importlib.metadata import version
from importlib.util import find_spec
from typing import Any

from surefoot.errors import MissingExtraError, UnknownNameError
from surefoot.paper.studies.failures import peers

OURS: Mapping[str, Mapping[str, Any]] = {
    "default": {},  # what a user gets
    "no-restarts": {"restarts": "none"},
    "label-regression": {"failures": "label-regression", "min_success": 0.5},
    # label regression with the paper's weight, policy times P; the models otherwise avoid P < 1/2 as well
    "product": {"failures": "label-regression", "min_success": 0.0},
    "laplace": {"failures": "laplace", "min_success": 0.5},
    "ep": {"failures": "ep", "min_success": 0.5},
    "impute": {"failures": "impute"},
    "ignore": {"failures": "ignore"},
}


@dataclass(frozen=True)
class Other:
    """Another optimizer, the distribution that it comes from and the module to look for."""

    run: peers.Peer
    distribution: str = ""
    module: str = ""

    @property
    def library(self) -> str:
        """Its name and version; nothing where none is needed."""
        return f"{self.distribution} {version(self.distribution)}" if self.distribution else ""


OTHERS: Mapping[str, Other] = {
    "random": Other(peers.random),
    "tpe": Other(peers.tpe, "optuna", "optuna"),
    "cmaes": Other(peers.cmaes, "cma", "cma"),
    "egobox": Other(peers.egobox, "egobox", "egobox"),
    "egobox-efi": Other(peers.egobox_efi, "egobox", "egobox"),
    "smac": Other(peers.smac_forest, "smac", "smac"),
}


def check_strategies(names: Iterable[str]) -> None:
    """Raise now rather than hours later if one is unknown or lacks its package."""
    for name in names:
        if name not in OURS and name not in OTHERS:
            known = ", ".join([*OURS, *OTHERS])
            raise UnknownNameError(f"expected a strategy among {known}; got {name!r}; try default")
        module = OTHERS[name].module if name in OTHERS else ""
        if module and find_spec(module) is None:
            raise MissingExtraError(
                f"expected {module} for the strategy {name}; it is not installed; "
                "try pip install 'surefoot[peers]', or --strategy with the others"
            )
