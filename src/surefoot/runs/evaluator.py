"""What evaluates a point: a command or a Python function, and how its value is read.

    [objective]
    command = ["./sim", "--stiffness", "{f_L}", "--mesh", "{here}/mesh.dat"]   # or: python = "module:function"
    timeout_s = 120
    memory_limit_mb = 2000
    n_retries = 2                           # for failures named in retry_on
    retry_on = ["75", "SIGKILL", "timeout"] # exit statuses, signals, "timeout", names of exceptions
    value = {json = "out.json", key = "loss"}    # or {regex = 'loss = (\\S+)'}; default: the last line of stdout
    name = "loss"                           # of the value; where there are several outputs: which is the value
    before = [["./mesher", "case.geo"]]     # commands of their own, and after: {command, timeout_s, name}
    [objective.environment]
    OMP_NUM_THREADS = "1"

Files for the command: runs/decks.py. Several numbers out of what it leaves: runs/results.py.
Placeholders: {name} of a parameter, with a format if wanted ({f_L:.3e}); {here}, the folder of the TOML file;
{folder}, the working directory of the evaluation; {trial}, its number. A brace is {{ or }}.
"""

from __future__ import annotations

import itertools
import json
import os
import shutil
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from hashlib import sha256
from pathlib import Path
from signal import Signals
from typing import Any

from optuna.distributions import BaseDistribution

from surefoot.errors import InvalidInputError, shown
from surefoot.expect import at, expect, is_count, is_number, known_keys, nearest
from surefoot.runs import keys
from surefoot.runs.decks import Deck, deck_from, names_beside
from surefoot.runs.names import PARAMETERS_FILE, PROGRESS
from surefoot.runs.placeholders import Samples, names_in, samples_of
from surefoot.runs.results import Source, check_regex, results_from

_MOST_DEPTH = 6  # of tables and lists
_MOST_TEXT = 100_000  # characters: Linux takes no longer argument of a command


def check_contents(table: Mapping[str, Any]) -> None:
    """Raise for what no key of a problem can hold, before anything looks at it closely."""
    left: list[tuple[tuple[str, ...], int, Any]] = [((), 0, table)]  # the keys that lead there, how deep it is, and it
    while left:
        place, depth, value = left.pop()
        with at(*place):
            left += _inside(place, depth, value)


def _inside(place: tuple[str, ...], depth: int, value: Any) -> list[tuple[tuple[str, ...], int, Any]]:
    where = place[-1] if place else "the problem file"
    if isinstance(value, Mapping):
        expect(depth < _MOST_DEPTH, "tables in tables in tables at most", where, "fewer levels")
        for key in value:
            expect("\0" not in key and len(key) <= _MOST_TEXT, "names without NUL characters", key, "another name")
        return [((*place, key), depth + 1, inside) for key, inside in value.items()]
    if isinstance(value, list):
        expect(depth < _MOST_DEPTH, f"lists without lists in {shown(where)}", "more", "fewer levels")
        return [(place, depth + 1, inside) for inside in value]
    if isinstance(value, str):
        expect("\0" not in value, f"text without NUL characters for {shown(where)}", value, "leaving them out")
        short = len(value) <= _MOST_TEXT
        expect(short, f"text of at most {_MOST_TEXT} characters for {shown(where)}", value, "a file instead")
    elif isinstance(value, int):
        expect(-(2**63) <= value < 2**63, f"an integer of 64 bits for {shown(where)}", value, "a float")
    return []


@dataclass(frozen=True)
class ValueSource:
    """Where a command's value is read: the last line of stdout unless one of these is given.

    Where `key`, or the whole JSON file without one, is an object, the numbers in it are outputs by name.
    """

    regex: str = ""
    json: str = ""
    key: str = ""


@dataclass(frozen=True)
class Step:
    """A command of an evaluation; all of them run in the same working directory."""

    command: tuple[str, ...]
    timeout_s: float | None
    name: str  # in the reason of its failure; the main command has none


@dataclass(frozen=True)
class Evaluator:
    """What evaluates a point."""

    command: tuple[str, ...] = ()
    python: str = ""  # module:function or file.py:function, called with a dict of the parameters
    value: ValueSource = ValueSource()
    name: str = ""  # of the value among the outputs; empty: not given
    timeout_s: float | None = None
    memory_limit_mb: float | None = None  # of a command; of a function: what it may add
    n_retries: int = 2
    retry_on: tuple[str, ...] = ()
    environment: Mapping[str, str] = field(default_factory=dict)
    deck: Deck = field(default_factory=Deck)
    before: tuple[Step, ...] = ()
    after: tuple[Step, ...] = ()
    results: tuple[tuple[str, Source], ...] = ()  # in the order in which they are read

    @property
    def steps(self) -> tuple[Step, ...]:
        """All commands, in the order in which they run."""
        return (*self.before, Step(self.command, self.timeout_s, ""), *self.after)

    def describe(self) -> str:
        """For people."""
        return f"python {self.python}" if self.python else " ".join(self.command)

    def to_json(self) -> dict[str, Any]:
        """What a study keeps, to say later what has changed; of a template a digest."""
        table: dict[str, Any] = json.loads(json.dumps(asdict(self), default=str))
        deck = table.pop("deck")
        files = {name: sha256(text.encode(errors="surrogateescape")) for name, text in self.deck.files.items()}
        return table | {
            "files": {name: digest.hexdigest()[:16] for name, digest in files.items()},
            "placeholders": deck["style"],
            "copy": deck["copies"],
            "link": deck["links"],
            "results": dict(table["results"]),
        }


def evaluator_from(table: Mapping[str, Any], folder: Path, parameters: Mapping[str, BaseDistribution]) -> Evaluator:
    """The checked [objective] table."""
    of_run = ("n_evals", "direction", "seed", "policy", "kernel", "noise", "n_init", "max_failures", "stop")
    top = dict.fromkeys(of_run, "it at the top of the file, above the first [table]")
    others = {key: f"a table [{key}] of its own" for key in ("outputs", "constraints", "parameters")}
    known_keys("[objective]", table, keys.OBJECTIVE, {**top, **others, "workers": "surefoot run --workers 4"})
    one = ("command" in table) != ("python" in table)
    expect(one, "command or python in [objective]", sorted(table), 'command = ["./sim", "{x}"]')
    for key in keys.OF_COMMANDS if "python" in table else ():
        with at(key):
            expect(key not in table, f"no {key} with python", table.get(key), "doing it in the function")
    for key in ("timeout_s", "memory_limit_mb"):
        with at(key):
            _check_positive(key, table.get(key))
    n_retries = table.get("n_retries", 2)
    with at("n_retries"):
        expect(is_count(n_retries, 0), "n_retries of at least 0", n_retries, "n_retries = 2")
    retry_on = table.get("retry_on", [])
    names = isinstance(retry_on, list) and all(
        isinstance(name, (str, int)) and not isinstance(name, bool) for name in retry_on
    )
    with at("retry_on"):
        expect(
            names, "retry_on as a list of exit statuses, signals or exceptions", retry_on, 'retry_on = [75, "OSError"]'
        )
        _check_retried([str(name) for name in retry_on], table)
    name = table.get("name", "")
    with at("name"):
        expect(isinstance(name, str) and ("name" not in table or name != ""), "name as text", name, 'name = "loss"')
    with at("environment"):
        environment = _environment(table.get("environment", {}))
    with at("python"):
        python = _python(table["python"], folder) if "python" in table else ""
    own = Evaluator() if "python" in table else _of_command(table, folder, parameters, name)
    return replace(
        own,
        python=python,
        name=name,
        timeout_s=table.get("timeout_s"),
        memory_limit_mb=table.get("memory_limit_mb"),
        n_retries=n_retries,
        retry_on=tuple(str(name) for name in retry_on),
        environment=environment,
    )


def _check_positive(key: str, value: Any) -> None:
    positive = value is None or (is_number(value) and value > 0)
    expect(positive, f"{key} as a positive number", value, f"{key} = {4000 if key == 'memory_limit_mb' else 60}")


def _environment(environment: Any) -> dict[str, str]:
    expect(isinstance(environment, dict), "environment as a table of texts", environment, 'OMP_NUM_THREADS = "1"')
    for name, text in environment.items():
        with at(name):
            is_text = isinstance(text, str)
            expect(is_text, f"environment as a table of texts, in which {name} stands", text, f'{name} = "{text}"')
            what = "environment with names that are not empty and have no ="
            expect(bool(name) and "=" not in name, what, name, 'OMP_NUM_THREADS = "1"')
    return dict(environment)


def _of_command(
    table: Mapping[str, Any], folder: Path, parameters: Mapping[str, BaseDistribution], name: str
) -> Evaluator:
    """What only a command has: arguments, decks, steps before and after it, what is read of what it leaves."""
    samples = samples_of(parameters, folder)
    deck, used = deck_from(table, folder, samples)
    with at("command"):
        command, own = _command(table["command"], folder, samples)
    used |= own
    steps: dict[str, tuple[Step, ...]] = {}
    for key in ("before", "after"):
        with at(key):
            taken = [step.name for others in steps.values() for step in others]
            steps[key], own = _steps(key, table.get(key, []), folder, samples, taken)
        used |= own
    missing = [name for name in parameters if name not in used]
    reads_file = not used & set(parameters) or any(PARAMETERS_FILE in argument for argument in command)
    place = "the command or the files" if deck.files else "the command"
    with at("command"):
        expect(
            not missing or reads_file,
            f"every parameter in {place}, or none if it reads {PARAMETERS_FILE}",
            f"no {{{missing[0]}}}" if missing else "",
            f"adding {{{missing[0]}}}" if missing else "",
        )
    with at("value"):
        expect(not ("value" in table and "results" in table), "value or results", "both", "the value among the results")
    results: tuple[tuple[str, Source], ...] = ()
    if "results" in table:
        with at("results"):
            results = results_from(table["results"], parameters, lambda spec: _python(spec, folder))
        with at("name"):
            _check_name(name, [key for key, _ in results if key != PROGRESS])
    with at("value"):
        value = _value(table.get("value"))
    return Evaluator(command, value=value, deck=deck, before=steps["before"], after=steps["after"], results=results)


def _check_retried(names: list[str], table: Mapping[str, Any]) -> None:
    """What a command ends with is known; a function, also one that reads results, may raise anything."""
    if "python" in table or "python" in str(table.get("results", "")):
        return
    written = {name.lower(): name for name in ("timeout", *(signal.name for signal in Signals))}
    for name in names:
        known = name in written.values() or (name.isdecimal() and int(name) <= 255)
        near = written[nearest(name, written) or "timeout"]
        expect(known, "retry_on of exit statuses, signals or timeout", name, f'"{near}"')


def _check_name(name: str, results: list[str]) -> None:
    """Which of the results is the value must be known."""
    meant = nearest(name, results) or (results[-1] if results else "")
    attempt = f'name = "{meant}"' if meant else "a result"
    if name:
        expect(name in results, f"name in [objective] among the results {', '.join(results)}", name, attempt)
    else:
        known = len(results) == 1 or "value" in results
        expect(known, "name in [objective], which says what the value is among the results", results, attempt)


def _command(command: Any, folder: Path, samples: Samples) -> tuple[tuple[str, ...], set[str]]:
    """The arguments, and the names in them."""
    texts = isinstance(command, list) and bool(command) and all(isinstance(a, str) for a in command)
    texts = texts and bool(command[0])
    expect(texts, "command as a list of texts, one per argument", command, 'command = ["./sim", "--x", "{x}"]')
    used: set[str] = set()
    for argument in command:
        used |= names_in(argument, samples)
    return (_executable(command[0], folder), *command[1:]), used


def _steps(key: str, steps: Any, folder: Path, samples: Samples, taken: list[str]) -> tuple[tuple[Step, ...], set[str]]:
    """The steps, and the names in them; taken: names of other steps."""
    example = f'{key} = [{{command = ["./mesher", "case.geo"], timeout_s = 60}}]'
    expect(isinstance(steps, list), f"{key} as a list of commands", steps, example)
    found: list[Step] = []
    used: set[str] = set()
    for step in steps:
        step = {"command": step} if isinstance(step, list) else step
        expect(isinstance(step, dict), f"{key} as a list of commands", step, example)
        known_keys(key, step, keys.STEP)
        _check_positive("timeout_s", step.get("timeout_s"))
        command, names = _command(step.get("command"), folder, samples)
        used |= names
        name = step.get("name", os.path.basename(command[0]))
        plain = isinstance(name, str) and name != "" and not set(name) & set("/\n\r{}")
        expect(plain, f"the name of a step in {key} as text without a slash", name, 'name = "mesher"')
        others = [*taken, *(earlier.name for earlier in found)]
        if name in others:
            name = next(new for k in itertools.count(2) if (new := f"{name}-{k}") not in others)
        found.append(Step(command, step.get("timeout_s"), name))
    return tuple(found), used


def _executable(name: str, folder: Path) -> str:
    """The program's path: with a slash relative to the TOML file, without one from the PATH."""
    words = name.split()
    if len(words) > 1 and shutil.which(str(folder / words[0]) if "/" in words[0] else words[0]):
        listed = ", ".join(f'"{word}"' for word in words)
        raise InvalidInputError(f"expected one text for each part of command; got {shown(name)}; try [{listed}]")
    if "{" in name:
        return name
    path = str(folder / name) if "/" in name else name
    found = shutil.which(path)
    if found is None:
        raise InvalidInputError(
            f"expected an executable as the first part of command; got {shown(name)}, {_not_executable(name, folder)}"
        )
    return found


def _not_executable(name: str, folder: Path) -> str:
    """What is wrong with it, and what to try."""
    path = os.path.normpath(folder / name)
    if "/" not in name:
        beside = (
            f"./{name}" if os.path.isfile(path) else "installing it, or its path from the problem file, with a slash"
        )
        return f"no such program on the PATH; try {beside}"
    if os.path.isdir(path):
        return "a folder; try a file in it"
    if os.path.exists(path):
        return f"a file that cannot be executed; try chmod +x {name}"
    near = nearest(os.path.basename(path), names_beside(path))
    attempt = os.path.join(os.path.dirname(name), near) if near else f"its path relative to {folder}"
    return f"no such program at {path}; try {attempt}"


def _python(spec: Any, folder: Path) -> str:
    expect(
        isinstance(spec, str) and spec.count(":") == 1 and all(part.strip() for part in spec.split(":")),
        "python as module:function or file.py:function",
        spec,
        'python = "simulator.py:simulate"',
    )
    module = str(spec).split(":")[0]
    if module.endswith(".py"):
        near = nearest(os.path.basename(module), names_beside(folder / module))
        there = os.path.isfile(folder / module)
        expect(there, "a Python file beside the problem file", module, near or f"its path relative to {folder}")
    return str(spec)


def _value(table: Any) -> ValueSource:
    if table is None:
        return ValueSource()
    expect(isinstance(table, dict), "value as a table", table, "value = {regex = 'loss = (\\S+)'}")
    known_keys("value", table, keys.VALUE)
    texts = all(isinstance(text, str) and text for text in table.values())
    one = ("regex" in table) != ("json" in table) and ("json" in table or "key" not in table)
    expect(texts and one, "value = {regex}, {json, key} or {json}", table, 'value = {json = "out.json", key = "loss"}')
    if "regex" in table:
        check_regex(table["regex"])
    return ValueSource(**table)
