"""A problem as a TOML file describes it: parameters, objective, budget, settings. Everything is checked here, once.

name = "stiffness"            # default: the file's name
n_evals = 100                 # evaluations in total, failed ones included
direction = "minimize"        # or "maximize"
seed = 0                      # and policy, kernel, noise, search, failures, … : all settings of surefoot.minimize
max_failures = 50             # stop after so many failures in a row; a float: that share of all; 0: never
heartbeat_s = 10              # a worker on another machine that is silent for six times as long is given up
notify = "./tell.sh"          # a command that is run when the run ends: runs/notify.py
device = "cuda"               # suggestions are computed there; `surefoot run --device` overrules it
[parameters]
f_L   = {low = 1.33e5, high = 5.33e5, log = true}
cells = {low = 10, high = 80, kind = "integer", step = 10}
mesh  = {choices = ["coarse", "fine"]}
wall  = {low = 1.0, high = 5.0, was = 3.0}    # a new one in a study that has evaluations: what it was in those
[constraints]                 # known ones on the parameters: no point that violates one is evaluated
fits  = "cells * f_L <= 2e7"  # see surefoot.formulas
[outputs]                     # limits on outputs by name: "<= x", ">= x", "between x and y", "= x within y"
stress = "<= 250e6"
[objective]                   # see runs/evaluator.py
command = ["./sim", "--stiffness", "{f_L}", "--cells", "{cells}", "--mesh", "{mesh}"]
[slurm]                       # for `surefoot run --slurm`; see runs/slurm_table.py
time = "02:00:00"
"""

from __future__ import annotations

import os
import re
import tomllib
import warnings
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
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
from surefoot.errors import InvalidInputError, shown
from surefoot.expect import at, expect, is_count, is_number, known_keys, nearest, within
from surefoot.integrations.optuna_space import constrained_space, contains
from surefoot.optimize.limits import check_limits
from surefoot.optimize.parameters import Integer, Real
from surefoot.optimize.settings import Settings, default_n_init
from surefoot.optimize.space import Space
from surefoot.optimize.stopping import Stop, stop_of
from surefoot.runs import keys
from surefoot.runs.address import redacted
from surefoot.runs.evaluator import Evaluator, check_contents, evaluator_from
from surefoot.runs.notify import command_of
from surefoot.runs.placeholders import OWN
from surefoot.runs.slurm_table import SlurmTable, slurm_from
from surefoot.runs.toml_lines import line_of
from surefoot.runs.values import domain_of

_MOST_BYTES = 2**24  # of a problem file
_MOST_NAME = 200  # bytes: endings are added, and file names have at most 255
_MOST_STEPS = 1e9  # of a grid
_SETTINGS = tuple(Settings.__dataclass_fields__)
_NAME = re.compile(r"[^\W\d]\w*")
_ELSEWHERE = {
    **dict.fromkeys(keys.OBJECTIVE, "it in [objective]"),
    **{key: f"surefoot run --{key} …: it is said when a run is started" for key in ("workers", "storage", "dask")},
}


@dataclass(frozen=True)
class Problem:
    """What is to be optimized, and how."""

    name: str
    folder: Path  # of the TOML file: commands and modules are looked for here, evaluations are kept here
    parameters: Mapping[str, BaseDistribution]
    evaluator: Evaluator
    settings: Settings
    n_evals: int = 100
    direction: Literal["minimize", "maximize"] = "minimize"
    max_failures: int | float | None = 50
    heartbeat_s: float = 10.0
    stop: Stop | None = None
    notify: tuple[str, ...] = ()  # a command that is run when a run ends
    constraints: Mapping[str, str] = field(default_factory=dict, hash=False)  # by name
    slurm: SlurmTable = field(default_factory=SlurmTable)  # the resources of one evaluation
    device: str = "cpu"  # where suggestions are computed: of whoever runs it, not of the study
    was: Mapping[str, Any] = field(default_factory=dict, hash=False)  # of a new parameter, in earlier evaluations

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
            **({"constraints": dict(self.constraints)} if self.constraints else {}),
            "n_evals": self.n_evals,
            "objective": self.evaluator.describe(),
            "evaluations": str(self.evaluations_folder),
            "surefoot": surefoot.__version__,
        }


def read_problem(path: Path) -> Problem:
    """Read and check a problem file; an error names the file, and the line if it is known."""
    text, table = _read(path)
    try:
        return problem_from(table, path.resolve().parent, default_name=path.stem)
    except InvalidInputError as error:
        raise _located(error, path, text) from None


@contextmanager
def placed_in(path: Path) -> Iterator[None]:
    """An error that an evaluation shows to be one of a key of the problem file names the file and the line, too."""
    try:
        yield
    except InvalidInputError as error:
        if not error.place:
            raise
        raise _located(error, path, _read(path)[0]) from None


def _located(error: InvalidInputError, path: Path, text: str) -> InvalidInputError:
    line = line_of(text, error.place)
    return within(error, f"{path.name}{f', line {line}' if line else ''}: {error}")


def _read(path: Path) -> tuple[str, dict[str, Any]]:
    """Its text, and what it says."""
    try:
        with path.open("rb") as file:
            text = file.read(_MOST_BYTES).decode("utf-8-sig")  # Windows' editors put a mark before it
        table = tomllib.loads(text)
    except OSError as error:
        raise InvalidInputError(
            f"expected a readable problem file; got {error.strerror}: {shown(redacted(str(path)))}; "
            "try the path of a TOML file"
        ) from None
    except UnicodeDecodeError as error:
        line = error.object[: error.start].count(b"\n") + 1
        raise InvalidInputError(
            f"expected a TOML file in UTF-8; got {shown(str(path))}, whose line {line} is not; try saving it as UTF-8"
        ) from None
    except (ValueError, RecursionError) as error:  # not TOML, a NUL in the path, tables without end
        raise InvalidInputError(
            f"expected a TOML file; got {shown(str(path))}: {str(error)[:300]}; try mending that line"
        ) from None
    return text, table


def storage_place(place: str) -> str:
    """A storage as the user names it: a URL, a path, or the problem file whose default storage is meant."""
    if not place.endswith(".toml"):
        return place
    path = Path(place)
    return str(path.resolve().parent / f"{_name(_read(path)[1], path.stem)}.db")


def _name(table: Mapping[str, Any], default: str) -> str:
    name = table.get("name", default)
    plain = isinstance(name, str) and name != "" and not name.startswith(".") and not set(name) & set("/\\\0\r\n")
    plain = plain and len(os.fsencode(name)) <= _MOST_NAME
    expect(plain, f"name as text that can be a file name, of at most {_MOST_NAME} bytes", name, 'name = "stiffness"')
    return str(name)


def problem_from(table: Mapping[str, Any], folder: Path, default_name: str = "problem") -> Problem:
    """A problem from the tables of a TOML file; `folder` is where its relative paths start."""
    check_contents(table)
    known_keys("the problem", table, (*keys.PROBLEM, *_SETTINGS), _ELSEWHERE)
    n_evals, direction, heartbeat = (
        table.get(key, default) for key, default in (("n_evals", 100), ("direction", "minimize"), ("heartbeat_s", 10.0))
    )
    with at("n_evals"):
        expect(is_count(n_evals, 1), "n_evals as an integer of at least 1", n_evals, "n_evals = 100")
    with at("direction"):
        known = direction in ("minimize", "maximize")
        near = "maximize" if "max" in str(direction).lower() else "minimize"
        expect(known, "direction minimize or maximize", direction, f'direction = "{near}"')
    with at("notify"):
        notified = command_of(table["notify"]) if "notify" in table else ()
    with at("heartbeat_s"):
        number = is_number(heartbeat) and 0.1 <= heartbeat <= 3600.0
        expect(number, "heartbeat_s between 0.1 and 3600 seconds", heartbeat, "heartbeat_s = 10")
    with at("name"):
        name = _name(table, default_name)
    with at("parameters"):
        parameters = _parameters(table.get("parameters"))
    objective = table.get("objective")
    for own in OWN if isinstance(objective, dict) and "command" in objective else ():
        with at("parameters", own):
            expect(own not in parameters, f"parameters not named {', '.join(OWN)}", own, f"my_{own}")
    with at("objective"):
        expect(isinstance(objective, dict), "a table [objective]", objective, "[objective]")
        evaluator = evaluator_from(table["objective"], folder, parameters)
    device = table.get("device", "cpu")
    with at("device"):
        expect(isinstance(device, str), "device as text", device, 'device = "cuda"')
    with at("max_failures"):
        max_failures = _max_failures(table.get("max_failures", 50))
    with at("stop"):
        stop = stop_of(table.get("stop"))
    with at("constraints"):
        outputs = {*table.get("outputs", ()), *dict(evaluator.results)} if _is_table(table, "outputs") else set()
        constraints = _constraints(table.get("constraints", {}), parameters, outputs)
    return Problem(
        name=name,
        folder=folder,
        parameters=parameters,
        evaluator=evaluator,
        settings=_settings(table, default_n_init(len(parameters), n_evals), list(dict(evaluator.results)), stop),
        n_evals=n_evals,
        direction=cast(Literal["minimize", "maximize"], direction),
        max_failures=max_failures,
        heartbeat_s=float(heartbeat),
        slurm=slurm_from(table.get("slurm", {}), evaluator.timeout_s),
        stop=stop,
        constraints=constraints,
        device=device,
        was=_was(table["parameters"], parameters),
        notify=notified,
    )


def _is_table(table: Mapping[str, Any], key: str) -> bool:
    return isinstance(table.get(key, {}), dict)


def _settings(table: Mapping[str, Any], n_init: int, results: list[str], stop: Stop | None) -> Settings:
    """The settings of the optimizer, each checked by itself first, so that the wrong one is known.

    A budget of failures that ends the run steers it too, unless the problem says otherwise.
    """
    given = {key: table[key] for key in _SETTINGS if key in table}
    for key, value in given.items():
        with at(key):
            if key == "outputs":
                _check_limits(value, results)
                continue
            expect(isinstance(value, (str, int, float)), f"a text or a number for {key}", value, f"leaving {key} out")
            Settings.of(**{"n_init": n_init, key: value})
    budget = {"failure_budget": stop.failures} if stop and stop.failures else {}
    return Settings.of(**{"n_init": n_init, **budget, **given})


def _check_limits(limits: Any, results: list[str]) -> None:
    expect(isinstance(limits, dict), "a table [outputs] of limits by name", limits, 'stress = "<= 250e6"')
    for name, text in limits.items():
        with at(name):
            known = not results or name in results
            hint = nearest(name, results) or f"a result {name} in [objective.results]"
            expect(known, f"[outputs] to name results, {', '.join(results)}", name, hint)
            check_limits({name: text})


def _was(table: Mapping[str, Any], parameters: Mapping[str, BaseDistribution]) -> dict[str, Any]:
    """Values in earlier evaluations of parameters that came later."""
    given = {name: fields["was"] for name, fields in table.items() if "was" in fields}
    for name, value in given.items():
        d = parameters[name]
        with at("parameters", name, "was"):
            expect(contains(d, value), f"what {name!r} was {domain_of(d)}", value, "wider bounds, or leaving was out")
    return given


def _constraints(table: Any, parameters: Mapping[str, BaseDistribution], outputs: Collection[str]) -> dict[str, str]:
    what, example = "a table [constraints] of texts by name", 'fits = "d_inner + 0.001 <= d_outer"'
    expect(isinstance(table, dict), what, table, example)
    for name, text in table.items():
        with at(name):
            expect(isinstance(text, str), what, text, example)
            _check_names(text, parameters, outputs)
            try:
                constrained_space(parameters, text)
            except InvalidInputError as error:
                raise within(error, f"in the constraint {shown(name)}: {error}") from None
    return dict(table)


def _check_names(text: str, parameters: Mapping[str, BaseDistribution], outputs: Collection[str]) -> None:
    """Raise for names that stand for something, but for nothing that a known constraint can have."""
    names = set(_NAME.findall(text))
    for name in sorted(names & set(outputs) - set(parameters)):
        what = "[constraints] on parameters, which are known before an evaluation"
        rest = re.fullmatch(rf"\s*{re.escape(name)}\s*([<>]=.*)", text)
        expect(
            False,
            what,
            f"{text!r}, which names the output {name}",
            f'[outputs] with {name} = "{rest[1] if rest else "<= 1.0"}"',
        )
    for name in sorted(names & set(parameters)):
        choices = getattr(parameters[name], "choices", ())
        numbers = all(is_number(choice) for choice in choices)
        what = f"[constraints] on numbers; the choices of {name} are texts"
        expect(
            numbers, what, text, f"choices = [1, 2] that the program translates, or a failure for what {name} forbids"
        )


def _max_failures(limit: Any) -> int | float | None:
    share = isinstance(limit, float) and 0.0 <= limit <= 1.0
    what = "max_failures as a count, a share up to 1.0, or 0 for never"
    expect(is_count(limit, 0) or share, what, limit, "max_failures = 50")
    return limit or None


def _parameters(table: Any) -> dict[str, BaseDistribution]:
    expect(isinstance(table, dict) and bool(table), "a table [parameters] with at least one", table, "[parameters]")
    found = {}
    for name, fields in table.items():
        with at(name):
            found[name] = _parameter(name, fields)
    return found


def _parameter(name: str, fields: Any) -> BaseDistribution:
    where = f"parameter {shown(name)}"
    expect(name.isidentifier(), "parameter names of letters, digits and _", name, "another name")
    expect(isinstance(fields, dict), f"a table for {where}", fields, f"{name} = {{low = 0.0, high = 1.0}}")
    if "choices" in fields:
        return _choices(where, fields)
    known_keys(where, fields, keys.RANGE)
    kind = fields.get("kind", "real")
    expect(kind in ("real", "integer"), f"kind real or integer for {where}", kind, 'kind = "integer"')
    for key in ("low", "high"):
        expect(key in fields, f"{key} for {where}", fields, "{low = 0.0, high = 1.0}, or choices = […]")
        expect(is_number(fields[key]), f"a finite number as {key} of {where}", fields[key], f"{key} = 0.0")
        whole = kind == "real" or float(fields[key]).is_integer()
        expect(whole, f"an integer as {key} of the integer {where}", fields[key], 'kind = "real"')
    log = fields.get("log", False)
    expect(isinstance(log, bool), f"log true or false for {where}", log, "log = true")
    low, high = (int(b) if kind == "integer" else float(b) for b in (fields["low"], fields["high"]))
    expect(low <= high, f"low <= high for {where}", (low, high), f"low = {high}, high = {low}")
    expect(not log or low > 0, f"low > 0 for {where} with log = true", low, "a small positive low, or log = false")
    step = fields.get("step")
    if step is not None:
        positive = is_number(step) and step > 0 and (kind == "real" or isinstance(step, int))
        fits = positive and not log and (step <= high - low or low == high) and (high - low) / step <= _MOST_STEPS
        expect(fits, f"a positive step within the range of {where}, and no log with it", step, "no step")
    Space.of({name: Integer(int(low), int(high), log) if kind == "integer" else Real(low, high, log)})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # Optuna's: a step that does not divide the range makes it end at the last step
        if kind == "integer":
            return IntDistribution(int(low), int(high), log=log, step=step or 1)
        return FloatDistribution(low, high, log=log, step=step)


def _choices(where: str, fields: Mapping[str, Any]) -> CategoricalDistribution:
    known_keys(where, fields, keys.CHOICE)
    kind = fields.get("kind", "categorical")
    expect(kind == "categorical", f"no other kind for {where}", kind, "leaving kind out")
    choices = fields["choices"]
    simple = isinstance(choices, list) and bool(choices)
    simple = simple and all(isinstance(choice, (str, bool)) or is_number(choice) for choice in choices)
    simple = simple and all(choices.count(choice) == 1 for choice in choices)
    what = f"choices of {where} as a list of different texts or numbers"
    expect(simple, what, choices, 'choices = ["coarse", "fine"]')
    return CategoricalDistribution(choices)
