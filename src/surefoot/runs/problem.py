"""A problem as a TOML file describes it: parameters, objective, budget, settings. Everything is checked here, once.

name = "stiffness"            # default: the file's name
n_evals = 100                 # evaluations in total, failed ones included
direction = "minimize"        # or "maximize"
seed = 0                      # and policy, kernel, noise, search, failures, … : all settings of surefoot.minimize
max_failures = 50             # stop after so many failures in a row; a float: that share of all; 0: never
heartbeat_s = 10              # a worker on another machine that is silent for six times as long is given up
[parameters]
f_L   = {low = 1.33e5, high = 5.33e5, log = true}
cells = {low = 10, high = 80, kind = "integer", step = 10}
mesh  = {choices = ["coarse", "fine"]}
[objective]                   # see runs/objective.py
command = ["./sim", "--stiffness", "{f_L}", "--cells", "{cells}", "--mesh", "{mesh}"]
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal, cast

from optuna.distributions import (
    BaseDistribution,
    CategoricalDistribution,
    FloatDistribution,
    IntDistribution,
    distribution_to_json,
)

import surefoot
from surefoot.errors import InvalidInputError
from surefoot.optimize.minimize import check_max_failures
from surefoot.optimize.optimizer import default_n_init
from surefoot.optimize.parameters import Integer, Real
from surefoot.optimize.settings import Settings
from surefoot.optimize.space import Space
from surefoot.runs.objective import Objective, expect, known, objective_from

_KEYS = ("name", "n_evals", "direction", "max_failures", "heartbeat_s", "parameters", "objective")
_SETTINGS = tuple(Settings.__dataclass_fields__)


@dataclass(frozen=True)
class Problem:
    """What is to be optimized, and how."""

    name: str
    folder: Path  # of the TOML file: commands and modules are looked for here, evaluations are kept here
    parameters: Mapping[str, BaseDistribution]
    objective: Objective
    settings: Settings
    n_evals: int = 100
    direction: Literal["minimize", "maximize"] = "minimize"
    max_failures: int | float | None = 50
    heartbeat_s: float = 10.0

    @property
    def default_storage(self) -> Path:
        """The SQLite file beside the TOML file."""
        return self.folder / f"{self.name}.db"

    @property
    def evaluations_folder(self) -> Path:
        """Where the evaluations run and leave their output."""
        return self.folder / f"{self.name}.runs"

    def to_json(self) -> dict[str, Any]:
        """What the study keeps of it, so that anybody can read the study without the TOML file."""
        return {
            "parameters": {name: distribution_to_json(d) for name, d in self.parameters.items()},
            "settings": asdict(self.settings),
            "n_evals": self.n_evals,
            "objective": self.objective.describe(),
            "evaluations": str(self.evaluations_folder),
            "surefoot": surefoot.__version__,
        }


def read_problem(path: Path) -> Problem:
    """Read and check a problem file."""
    return problem_from(_read(path), path.resolve().parent, default_name=path.stem)


def _read(path: Path) -> dict[str, Any]:
    try:
        with path.open("rb") as file:
            return tomllib.load(file)
    except OSError as error:
        raise InvalidInputError(
            f"expected a readable problem file; got {error.strerror}: {path}; try the path of a TOML file"
        ) from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise InvalidInputError(f"expected a TOML file; got {path}: {error}; try mending that line") from None


def storage_place(place: str) -> str:
    """A storage as the user names it: a URL, a path, or the problem file whose default storage is meant."""
    if not place.endswith(".toml"):
        return place
    path = Path(place)
    name = _read(path).get("name", path.stem)
    return str(path.resolve().parent / f"{name}.db")


def problem_from(table: Mapping[str, Any], folder: Path, default_name: str = "problem") -> Problem:
    """A problem from the tables of a TOML file; `folder` is where its relative paths start."""
    known("the problem", table, (*_KEYS, *_SETTINGS))
    name = table.get("name", default_name)
    plain = isinstance(name, str) and name != "" and not name.startswith(".") and not set(name) & set("/\\\0\n")
    expect(plain, "name as text that can be a file name", name, 'name = "stiffness"')
    n_evals = table.get("n_evals", 100)
    count = isinstance(n_evals, int) and not isinstance(n_evals, bool) and n_evals >= 1
    expect(count, "n_evals of at least 1", n_evals, "n_evals = 100")
    direction = table.get("direction", "minimize")
    expect(direction in ("minimize", "maximize"), "direction minimize or maximize", direction, 'direction = "minimize"')
    heartbeat = table.get("heartbeat_s", 10.0)
    number = isinstance(heartbeat, (int, float)) and not isinstance(heartbeat, bool) and 0.1 <= heartbeat <= 3600.0
    expect(number, "heartbeat_s between 0.1 and 3600 seconds", heartbeat, "heartbeat_s = 10")
    max_failures = table.get("max_failures", 50)
    max_failures = None if max_failures == 0 and not isinstance(max_failures, bool) else max_failures
    check_max_failures(max_failures)
    parameters = _parameters(table.get("parameters"))
    expect(isinstance(table.get("objective"), dict), "a table [objective]", table.get("objective"), "[objective]")
    settings = {"n_init": default_n_init(len(parameters)), **{k: table[k] for k in _SETTINGS if k in table}}
    return Problem(
        name=name,
        folder=folder,
        parameters=parameters,
        objective=objective_from(table["objective"], folder, parameters),
        settings=Settings.of(**settings),
        n_evals=n_evals,
        direction=cast(Literal["minimize", "maximize"], direction),
        max_failures=max_failures,
        heartbeat_s=float(heartbeat),
    )


def _parameters(table: Any) -> dict[str, BaseDistribution]:
    expect(isinstance(table, dict) and bool(table), "a table [parameters] with at least one", table, "[parameters]")
    return {name: _parameter(name, fields) for name, fields in table.items()}


def _parameter(name: str, fields: Any) -> BaseDistribution:
    where = f"parameter {name!r}"
    expect(isinstance(fields, dict), f"a table for {where}", fields, f"{name} = {{low = 0.0, high = 1.0}}")
    expect(name.isidentifier(), "parameter names of letters, digits and _", name, "another name")
    if "choices" in fields:
        known(where, fields, ("choices", "kind"))
        expect(fields.get("kind", "categorical") == "categorical", f"no other kind for {where}", fields.get("kind"),
               "leaving kind out")  # fmt: skip
        choices = fields["choices"]
        simple = isinstance(choices, list) and bool(choices)
        simple = simple and all(isinstance(choice, (str, int, float, bool)) for choice in choices)
        simple = simple and len(choices) > 1 and all(choices.count(choice) == 1 for choice in choices)
        expect(
            simple,
            f"choices of {where} as a list of two or more different texts or numbers",
            choices,
            'choices = ["coarse", "fine"]',
        )
        return CategoricalDistribution(choices)
    known(where, fields, ("low", "high", "log", "step", "kind"))
    kind = fields.get("kind", "real")
    expect(kind in ("real", "integer"), f"kind real or integer for {where}", kind, 'kind = "integer"')
    for key in ("low", "high"):
        expect(key in fields, f"{key} for {where}", fields, f"{key} = 0.0")
    log = fields.get("log", False)
    expect(isinstance(log, bool), f"log true or false for {where}", log, "log = true")
    bounds = fields["low"], fields["high"]
    Space.of(
        {name: Integer(*bounds, log) if kind == "integer" else Real(*bounds, log)}
    )  # checks, and says what is wrong
    expect(bounds[0] < bounds[1], f"low < high for {where}", bounds, "fixing it in the command instead")
    step = fields.get("step")
    positive = step is None or (isinstance(step, (int, float)) and not isinstance(step, bool) and step > 0)
    fits = positive and (step is None or (not log and step <= fields["high"] - fields["low"]))
    whole = kind == "real" or step is None or isinstance(step, int)
    expect(fits and whole, f"a positive step within the range of {where}, and no log with it", step, "no step")
    if kind == "integer":
        return IntDistribution(int(fields["low"]), int(fields["high"]), log=log, step=step or 1)
    return FloatDistribution(fields["low"], fields["high"], log=log, step=step)
