"""What evaluates a point: a command or a Python function, and how its value is read.

    [objective]
    command = ["./sim", "--stiffness", "{f_L}", "--mesh", "{here}/mesh.dat"]   # or: python = "module:function"
    timeout_s = 120
    memory_limit_mb = 2000
    n_retries = 2                           # for failures named in retry_on
    retry_on = ["75", "SIGKILL", "timeout"] # exit statuses, signals, "timeout", names of exceptions
    value = {json = "out.json", key = "loss"}    # or {regex = 'loss = (\\S+)'}; default: the last line of stdout
    name = "loss"                           # of the value; where there are several outputs: which is the value
    [objective.environment]
    OMP_NUM_THREADS = "1"

Placeholders: {name} of a parameter, with a format if wanted ({f_L:.3e}); {here}, the folder of the TOML file;
{folder}, the working directory of the evaluation; {trial}, its number. A brace is {{ or }}.
"""

from __future__ import annotations

import os
import re
import shutil
import string
import warnings
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from optuna.distributions import BaseDistribution, CategoricalDistribution, FloatDistribution, IntDistribution

from surefoot.errors import InvalidInputError, shown
from surefoot.expect import expect, is_count, is_number, known_keys

_MOST_DEPTH = 6  # of tables and lists
_MOST_TEXT = 100_000  # characters: Linux takes no longer argument of a command
OWN_PLACEHOLDERS = ("here", "folder", "trial")
STDOUT, STDERR = "stdout.txt", "stderr.txt"  # in the working directory of an evaluation
PARAMETERS_FILE = "parameters.json"  # written into every working directory, for simulators that read files


def check_contents(table: Mapping[str, Any]) -> None:
    """Raise for what no key of a problem can hold, before anything looks at it closely."""
    left: list[tuple[str, int, Any]] = [("the problem file", 0, table)]
    while left:
        where, depth, value = left.pop()
        if isinstance(value, Mapping):
            expect(depth < _MOST_DEPTH, "tables in tables in tables at most", where, "fewer levels")
            for key, inside in value.items():
                left += [(f"the name {shown(key)}", depth, key), (key, depth + 1, inside)]
        elif isinstance(value, list):
            expect(depth < _MOST_DEPTH, f"lists without lists in {shown(where)}", "more", "fewer levels")
            left += [(where, depth + 1, inside) for inside in value]
        elif isinstance(value, str):
            expect("\0" not in value, f"text without NUL characters for {shown(where)}", value, "leaving them out")
            short = len(value) <= _MOST_TEXT
            expect(short, f"text of at most {_MOST_TEXT} characters for {shown(where)}", value, "a file instead")
        elif isinstance(value, int):
            expect(-(2**63) <= value < 2**63, f"an integer of 64 bits for {shown(where)}", value, "a float")


@dataclass(frozen=True)
class ValueSource:
    """Where a command's value is read: the last line of stdout unless one of these is given.

    Where `key`, or the whole JSON file without one, is an object, the numbers in it are outputs by name.
    """

    regex: str = ""
    json: str = ""
    key: str = ""


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

    def describe(self) -> str:
        """For people."""
        return f"python {self.python}" if self.python else " ".join(self.command)


def evaluator_from(table: Mapping[str, Any], folder: Path, parameters: Mapping[str, BaseDistribution]) -> Evaluator:
    """The checked [objective] table."""
    known_keys("[objective]", table, Evaluator.__dataclass_fields__)
    one = ("command" in table) != ("python" in table)
    expect(one, "command or python in [objective]", sorted(table), 'command = ["./sim", "{x}"]')
    for key in ("timeout_s", "memory_limit_mb"):
        value = table.get(key)
        positive = value is None or (is_number(value) and value > 0)
        expect(positive, f"{key} as a positive number", value, f"{key} = 60")
    n_retries = table.get("n_retries", 2)
    expect(is_count(n_retries, 0), "n_retries of at least 0", n_retries, "n_retries = 2")
    retry_on = table.get("retry_on", [])
    names = isinstance(retry_on, list) and all(
        isinstance(name, (str, int)) and not isinstance(name, bool) for name in retry_on
    )
    expect(names, "retry_on as a list of exit statuses, signals or exceptions", retry_on, 'retry_on = [75, "OSError"]')
    name = table.get("name", "")
    expect(isinstance(name, str) and ("name" not in table or name != ""), "name as text", name, 'name = "loss"')
    environment = table.get("environment", {})
    texts = isinstance(environment, dict) and all(isinstance(text, str) for text in environment.values())
    expect(texts, "environment as a table of texts", environment, 'OMP_NUM_THREADS = "1"')
    bad = [name for name in environment if not name or "=" in name]
    expect(not bad, "environment with names that are not empty and have no =", bad, 'OMP_NUM_THREADS = "1"')
    evaluator = Evaluator(
        command=_command(table["command"], folder, parameters) if "command" in table else (),
        python=_python(table["python"], folder) if "python" in table else "",
        value=_value(table.get("value")),
        name=name,
        timeout_s=table.get("timeout_s"),
        memory_limit_mb=table.get("memory_limit_mb"),
        n_retries=n_retries,
        retry_on=tuple(str(name) for name in retry_on),
        environment=environment,
    )
    expect(not (evaluator.python and "value" in table), "no value with python", table.get("value"), "returning it")
    return evaluator


def fill(command: tuple[str, ...], values: Mapping[str, Any]) -> list[str]:
    """The arguments with their placeholders replaced; each stays one argument, whatever the value holds."""
    return [_fill(argument, values) for argument in command]


def _fill(argument: str, values: Mapping[str, Any]) -> str:
    parts = []
    for literal, name, spec, _ in string.Formatter().parse(argument):
        parts.append(literal)
        if name is not None:
            value = values[name]
            parts.append(format(value, spec) if spec else _text(value))
    return "".join(parts)


def _text(value: Any) -> str:
    """A number with all its digits, a truth value as TOML writes it."""
    return str(value).lower() if isinstance(value, bool) else str(value)


def _command(command: Any, folder: Path, parameters: Mapping[str, BaseDistribution]) -> tuple[str, ...]:
    texts = isinstance(command, list) and bool(command) and all(isinstance(a, str) for a in command)
    texts = texts and bool(command[0])
    expect(texts, "command as a list of texts, one per argument", command, 'command = ["./sim", "--x", "{x}"]')
    reserved = sorted(set(OWN_PLACEHOLDERS) & set(parameters))
    expect(not reserved, f"parameters not named {', '.join(OWN_PLACEHOLDERS)}", reserved, "other names")
    samples = {name: _samples(d) for name, d in parameters.items()}
    samples |= {"here": (str(folder),), "folder": ("/folder",), "trial": (0,)}
    used: set[str] = set()
    for argument in command:
        used |= _placeholders(argument, samples)
    missing = [name for name in parameters if name not in used]
    reads_file = not used & set(parameters) or any(PARAMETERS_FILE in argument for argument in command)
    expect(
        not missing or reads_file,
        f"every parameter in the command, or none if it reads {PARAMETERS_FILE}",
        f"no {{{missing[0]}}}" if missing else "",
        f"adding {{{missing[0]}}}" if missing else "",
    )
    return (_executable(command[0], folder), *command[1:])


def _placeholders(argument: str, samples: Mapping[str, tuple[Any, ...]]) -> set[str]:
    """The names in an argument, each with a format that suits its values."""
    try:
        fields = [(name, spec, how) for _, name, spec, how in string.Formatter().parse(argument) if name is not None]
        unknown = [name for name, _, _ in fields if name not in samples]
        among = f"placeholders among {', '.join(samples)} in {shown(argument)}"
        expect(not unknown, among, unknown, "{{ for a brace")
        for name, spec, how in fields:
            expect(not how, f"no conversion of {{{name}}}", f"!{how}", f"{{{name}}}")
            wide = any(len(digits) > 3 for digits in re.findall(r"\d+", spec or ""))
            expect(not wide, f"a format of {{{name}}} with fewer than 1000 characters", spec, f"{{{name}:.6e}}")
            for value in samples[name] if spec else ():
                format(value, spec or "")
    except InvalidInputError:
        raise
    except (ValueError, OverflowError) as error:
        raise InvalidInputError(
            f"expected placeholders like {{x}} or {{x:.3e}}; got {shown(argument)} ({error}); try {{{{ for a brace"
        ) from None
    return {name for name, _, _ in fields}


def _executable(name: str, folder: Path) -> str:
    """The program's path: with a slash relative to the TOML file, without one from the PATH."""
    if "{" in name:
        return name
    path = str(folder / name) if "/" in name else name
    found = shutil.which(path)
    if found is None:
        exists = os.path.exists(path)
        raise InvalidInputError(
            f"expected an executable as the first part of command; got {shown(name)}, "
            f"{'a file that cannot be executed' if exists else 'no such program'}; "
            f"try {'chmod +x ' + name if exists else 'a path relative to the problem file, ./' + name[:100]}"
        )
    return found


def _samples(d: BaseDistribution) -> tuple[Any, ...]:
    """Values that show whether a format suits."""
    if isinstance(d, CategoricalDistribution):
        return d.choices
    if isinstance(d, (FloatDistribution, IntDistribution)):
        return d.low, d.high
    return ()


def _python(spec: Any, folder: Path) -> str:
    expect(
        isinstance(spec, str) and spec.count(":") == 1 and all(part.strip() for part in spec.split(":")),
        "python as module:function or file.py:function",
        spec,
        'python = "simulator.py:simulate"',
    )
    module = str(spec).split(":")[0]
    if module.endswith(".py"):
        expect(os.path.isfile(folder / module), "a Python file beside the problem file", module, "its relative path")
    return str(spec)


def _value(table: Any) -> ValueSource:
    if table is None:
        return ValueSource()
    expect(isinstance(table, dict), "value as a table", table, "value = {regex = 'loss = (\\S+)'}")
    known_keys("value", table, ("regex", "json", "key"))
    texts = all(isinstance(text, str) and text for text in table.values())
    one = ("regex" in table) != ("json" in table) and ("json" in table or "key" not in table)
    expect(texts and one, "value = {regex}, {json, key} or {json}", table, 'value = {json = "out.json", key = "loss"}')
    if "regex" in table:
        try:
            with warnings.catch_warnings():  # of what may mean something else in a later Python
                warnings.simplefilter("ignore")
                groups = re.compile(table["regex"]).groups
        except (re.error, OverflowError, RecursionError) as error:
            raise InvalidInputError(
                f"expected a regular expression; got {shown(table['regex'])} ({error}); try 'loss = (\\S+)'"
            ) from None
        expect(groups <= 1, "a regular expression with at most one group", table["regex"], "(?:…) for the others")
    return ValueSource(**table)
