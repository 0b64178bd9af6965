"""What a job of one evaluation asks of SLURM: the table [slurm] of a problem file. All keys are optional.

[slurm]
workers = 8                         # jobs at a time
partition = "short"                 # and account, qos
time = "02:00:00"                   # of one evaluation, as sbatch takes it; or minutes
memory = "4G"
cpus = 4
gpus = 1
options = ["--constraint=avx2"]     # any others of sbatch
setup = ["module load gcc"]         # lines of bash before the evaluation
n_retries = 3                       # a job that the scheduler ends is submitted again so often
poll_s = 10                         # between questions to SLURM, one for all jobs
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from surefoot.expect import expect, is_count, is_number, known_keys

_TEXTS = ("partition", "account", "qos", "memory")
_COUNTS = {"workers": 1, "cpus": 1, "gpus": 0, "n_retries": 0}
_TIME = re.compile(
    r"(?:(?P<d>\d+)-(?P<dh>\d+)(?::(?P<dm>\d+)(?::(?P<ds>\d+))?)?)|(?:(?:(?P<h>\d+):)?(?P<m>\d+):(?P<s>\d+))"
)
_OURS = {  # how a job is found again, and that it is one
    **dict.fromkeys(("-J", "--job-name"), "the name is how a run finds its jobs"),
    **dict.fromkeys(
        ("-o", "--output", "-e", "--error", "-D", "--chdir"), "what a job prints is kept beside its result"
    ),
    **dict.fromkeys(("-a", "--array"), "a job evaluates one point"),
    **dict.fromkeys(("-W", "--wait", "--wrap", "--parsable", "--test-only"), "the run submits and waits by itself"),
}


@dataclass(frozen=True)
class SlurmTable:
    """The resources of one evaluation, and how many there are at a time."""

    workers: int = 8
    partition: str = ""
    account: str = ""
    qos: str = ""
    time: str = ""
    memory: str = ""
    cpus: int = 0
    gpus: int = 0
    options: tuple[str, ...] = ()
    setup: tuple[str, ...] = ()
    n_retries: int = 3
    poll_s: float = 10.0

    def sbatch_options(self) -> list[str]:
        """As sbatch takes them; those of `options` last, so that they hold."""
        named = {
            "partition": self.partition,
            "account": self.account,
            "qos": self.qos,
            "time": self.time,
            "mem": self.memory,
            "cpus-per-task": self.cpus,
            "gpus": self.gpus,
        }
        return [*(f"--{name}={value}" for name, value in named.items() if value), *self.options]


def slurm_from(table: Any, timeout_s: float | None) -> SlurmTable:
    """The checked table; `timeout_s` is that of the objective."""
    expect(isinstance(table, dict), "a table [slurm]", table, "[slurm]")
    known_keys("[slurm]", table, SlurmTable.__dataclass_fields__)
    for key in _TEXTS:
        text = table.get(key, "-")
        plain = isinstance(text, str) and text != "" and not re.search(r"\s", text)
        expect(plain, f"{key} in [slurm] as text without spaces", text, f'{key} = "{_EXAMPLES[key]}"')
    for key, least in _COUNTS.items():
        count = table.get(key, least)
        expect(is_count(count, least), f"{key} in [slurm] of at least {least}", count, f"{key} = {max(1, least)}")
    poll = table.get("poll_s", 10.0)
    number = is_number(poll) and 0.1 <= poll <= 3600.0
    expect(number, "poll_s in [slurm] between 0.1 and 3600 seconds", poll, "poll_s = 10")
    return SlurmTable(
        **{
            **table,
            "time": _time(table.get("time", ""), timeout_s),
            "options": _options(table.get("options", [])),
            "setup": _lines("setup", table.get("setup", []), 'setup = ["module load gcc"]'),
            "poll_s": float(poll),
        }
    )


_EXAMPLES = {"partition": "short", "account": "physics", "qos": "normal", "memory": "4G"}


def _time(time: Any, timeout_s: float | None) -> str:
    """As sbatch takes it. The evaluation's own limit has to come first: it is a lesson, and the scheduler's is none."""
    if time == "":
        return ""
    text = str(time) if is_count(time, 1) else time
    known = _TIME.fullmatch(text) if isinstance(text, str) and not is_count(time, 1) else None
    expect(
        known is not None or is_count(time, 1),
        "time in [slurm] as text in SLURM's form, or as minutes",
        time,
        'time = "02:00:00" with quotes, or "1-12:00:00"',
    )
    seconds = 60.0 * time if known is None else _seconds(known.groupdict(default="0"))
    longer = timeout_s is None or seconds > timeout_s
    expect(
        longer,
        f"time in [slurm] longer than timeout_s = {timeout_s or 0:g} of [objective]",
        time,
        "a longer time: an evaluation that SLURM ends teaches nothing, one that reaches timeout_s does",
    )
    return str(text)


def _seconds(parts: Mapping[str, str]) -> float:
    days, hours = int(parts["d"]), int(parts["h"]) + int(parts["dh"])
    return (
        86400.0 * days
        + 3600.0 * hours
        + 60.0 * (int(parts["m"]) + int(parts["dm"]))
        + int(parts["s"])
        + int(parts["ds"])
    )


def _lines(key: str, lines: Any, example: str) -> tuple[str, ...]:
    texts = isinstance(lines, list) and all(isinstance(line, str) and "\n" not in line for line in lines)
    expect(texts, f"{key} in [slurm] as a list of texts", lines, example)
    return tuple(lines)


def _options(options: Any) -> tuple[str, ...]:
    example = 'options = ["--constraint=avx2"]'
    for option in _lines("options", options, example):
        expect(
            option.startswith("-"), "options in [slurm] that begin with -, with their values after =", option, example
        )
        name = option.split("=")[0] if option.startswith("--") else option[:2]
        expect(
            name not in _OURS, f"no {name} among the options in [slurm]: {_OURS.get(name)}", option, "leaving it out"
        )
    return tuple(options)
