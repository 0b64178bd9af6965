"""Hostile programs for `surefoot run`: what they do where a < 1/2, the objective's table, what has to come of it.

A program is Python code that runs with `a` (a number in [0, 1]) and the folder of the problem in `here`; on the quiet
half it prints a. Python objectives are functions of a file, whose code is run at each call.

Expected  failed: a failed evaluation with a reason; a number: that value; refused: an error of the problem, or failures
"""

from __future__ import annotations

import json
import signal
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from benchmarks.attacks.children import orphans, run_bounded, started
from benchmarks.attacks.hostile import LIMIT_S, Case
from benchmarks.attacks.tally import Finding
from benchmarks.attacks.team import SUREFOOT
from surefoot.runs.storage import load_study, opened
from surefoot.runs.tables import trial_rows

N_EVALS = 4
_JSON = {"value": {"json": "result.json", "key": "loss"}}
_BRIEF = {"timeout_s": 2.0}

HEAD = """\
import os, sys, time, signal, subprocess, json
a, here = float(sys.argv[1]), sys.argv[2]
with open(os.path.join(here, "objective.log"), "a") as log:
    log.write("start %r\\n" % a)
"""
QUIET = {
    "": "print(a)",
    "json": 'open("result.json", "w").write(json.dumps({"loss": a}))',
    "regex": 'print("loss =", a)',
}
MODULE = """\
import os, sys, time, signal, subprocess
{top}
def evaluate(x):
    a, here = x["a"], os.path.dirname(os.path.abspath(__file__))
    with open(os.path.join(here, "objective.log"), "a") as log:
        log.write("start %r\\n" % a)
    if a < 0.5:
{body}
    return a
"""


@dataclass(frozen=True)
class Program:
    """One hostile program."""

    code: str
    expected: str | float = "failed"
    table: dict[str, Any] = field(default_factory=dict)  # of [objective]
    python: bool = False
    top: str = ""  # of a Python objective's file
    more: dict[str, Any] = field(default_factory=dict)  # of the problem
    limit_s: float = LIMIT_S


_HOLD = 'subprocess.Popen(["sleep", "600"], start_new_session=True)'
_DAEMON = """
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        time.sleep(600)
    os._exit(0)
os.wait()
"""
_RETRY = """
if not os.path.exists(os.path.join(here, "tried-%r" % a)):
    open(os.path.join(here, "tried-%r" % a), "w").close()
    open("result.json", "w").write('{"loss": 0.25}')
    sys.exit(75)
sys.exit(0)
"""
_NO_CORE = "import resource; resource.setrlimit(resource.RLIMIT_CORE, (0, 0)); "

PROGRAMS: dict[str, Program] = {
    "exits with an error": Program('sys.exit("no mesh")'),
    "segmentation fault": Program(_NO_CORE + "import ctypes; ctypes.string_at(0)"),
    "kills itself": Program("os.kill(os.getpid(), signal.SIGKILL)"),
    "kills its group": Program("os.getpgid(0) == os.getpid() and os.killpg(0, signal.SIGKILL); sys.exit(1)"),
    "hangs": Program("time.sleep(600)", table=_BRIEF),
    "hangs and ignores SIGTERM": Program("signal.signal(15, signal.SIG_IGN); time.sleep(600)", table=_BRIEF),
    "stops itself": Program("os.kill(os.getpid(), signal.SIGSTOP)", table=_BRIEF),
    "hangs in a setsid child": Program(f"{_HOLD}.wait()", table=_BRIEF),
    "leaves a setsid child": Program(f"{_HOLD}; print(0.25)", 0.25),
    "leaves a daemon": Program(f"{_DAEMON}\nprint(0.25)", 0.25),
    "leaves a daemon behind a timeout": Program(f"{_DAEMON}\ntime.sleep(600)", table=_BRIEF),
    "eats memory": Program("x = bytearray(3 * 2**29); print(1)", table={"memory_limit_mb": 500}),
    "prints nothing": Program("pass"),
    "prints no number": Program('print("done")'),
    "prints nan": Program('print("nan")'),
    "prints a hundred megabytes": Program('for _ in range(100): print("x" * 2**20)\nprint(0.25)', 0.25),
    "prints bytes that are no text": Program('os.write(1, bytes(range(128, 256)) * 100 + b"\\n0.25\\n")', 0.25),
    "prints to stderr what no terminal shows": Program('os.write(2, b"\\xed\\xa0\\x80\\x00\\x1b[2J\\n"); sys.exit(3)'),
    "prints as Fortran does": Program('print(" 0.25000000-100")', 0.25e-100),
    "prints the value and then two megabytes": Program(
        'print("loss = 0.25")\nfor _ in range(3000): print("x" * 1000)', 0.25, {"value": {"regex": r"loss = (\S+)"}}
    ),
    "catastrophic regular expression": Program(
        'print("a" * 5000 + "b")', table={"value": {"regex": r"(?:a+)+$|loss = (\S+)"}, **_BRIEF}
    ),
    "a FIFO as its result": Program('os.mkfifo("result.json")', table={**_JSON, **_BRIEF}),
    "a FIFO as its stdout": Program('os.unlink("stdout.txt"); os.mkfifo("stdout.txt")', table=_BRIEF),
    "a folder as its result": Program('os.mkdir("result.json")', table=_JSON),
    "an endless device as its result": Program('os.symlink("/dev/zero", "result.json")', table={**_JSON, **_BRIEF}),
    "a huge integer in JSON": Program('open("result.json", "w").write(\'{"loss": 1%s}\' % ("0" * 400))', table=_JSON),
    "a very huge integer in JSON": Program(
        'open("result.json", "w").write(\'{"loss": 1%s}\' % ("0" * 9000))', table=_JSON
    ),
    "deep JSON": Program('open("result.json", "w").write("[" * 100000)', table=_JSON),
    "JSON that is no text": Program('open("result.json", "wb").write(bytes(range(256)))', table=_JSON),
    "JSON with text for the value": Program('open("result.json", "w").write(\'{"loss": "x"}\')', table=_JSON),
    "deletes its folder": Program('import shutil; shutil.rmtree(os.getcwd())'),
    "replaces its folder by a file": Program('import shutil; d = os.getcwd(); shutil.rmtree(d); open(d, "w").close()'),
    "makes its folder unreadable": Program("os.chmod(os.getcwd(), 0); print(0.25)", 0.25),
    "the result of the attempt before": Program(_RETRY, table={**_JSON, "retry_on": [75]}),
    "closes all descriptors": Program("os.closerange(0, 4096); os._exit(1)"),
    "reads stdin": Program('assert sys.stdin.read() == ""; print(0.25)', 0.25),
    "a NUL in a choice": Program("pass", "refused", more={"choice": ["x\0y", "z"]}),
    "a bad name in the environment": Program("pass", "refused", {"environment": {"A=B": "1"}}),
    "a NUL in the environment": Program("pass", "refused", {"environment": {"A": "\0"}}),
    "a timeout of a month": Program('sys.exit("no mesh")', table={"timeout_s": 3e6}),
    "python exits": Program("sys.exit(3)", python=True),
    "python dies": Program("os._exit(3)", python=True),
    "python dies while a fork holds its pipe": Program(
        "if os.fork() == 0:\n    time.sleep(600)\nos._exit(3)", python=True
    ),
    "python closes all descriptors": Program("os.closerange(0, 4096)", python=True, table=_BRIEF),
    "python closes its answers": Program("os.closerange(3, 4096)\ntime.sleep(600)", python=True, table=_BRIEF),
    "python hangs": Program("time.sleep(600)", python=True, table=_BRIEF),
    "python hangs at import": Program("pass", "refused", _BRIEF, python=True, top="time.sleep(600)", limit_s=120.0),
    "python exits at import": Program("pass", "refused", _BRIEF, python=True, top="sys.exit(3)"),
    "python dies at import": Program("pass", "refused", _BRIEF, python=True, top="os._exit(3)"),
    "python deletes the evaluation's folder": Program(
        'import shutil\nshutil.rmtree(os.environ["SUREFOOT_FOLDER"])\nreturn 0.25', 0.25, python=True
    ),
    "python raises what cannot be printed": Program(
        "raise E", python=True, top="class E(Exception):\n    def __str__(self): raise ValueError"
    ),
    "python returns what is no number": Program("return {1: 2}", python=True),
    "python returns what breaks": Program(
        "return V()", python=True, top="class V:\n    def __array__(self, *a, **k): raise RuntimeError('no')"
    ),
    "python raises a lone surrogate": Program('raise ValueError("\\ud800")', python=True),
    "python raises KeyboardInterrupt": Program("raise KeyboardInterrupt", python=True),
    "python leaves a setsid child": Program(f"{_HOLD}\nreturn 0.25", 0.25, python=True),
    "python replaces stdout": Program("sys.stdout = None\nreturn 0.25", 0.25, python=True),
    "python prints a hundred megabytes": Program(
        'for _ in range(100): print("x" * 2**20)\nreturn 0.25', 0.25, python=True
    ),
}  # fmt: skip


def cases() -> list[Case]:
    """Every program, and a worker that is killed while one of them hangs."""
    each = [(name, lambda folder, mark, p=program: _attempt(p, folder, mark)) for name, program in PROGRAMS.items()]
    killed = [
        (f"the worker of one that {name} is killed", lambda folder, mark, p=name: _killed(p, folder, mark))
        for name in ("hangs", "hangs in a setsid child", "leaves a daemon behind a timeout", "python hangs")
    ]
    return [*each, *killed]


def _write(program: Program, folder: Path) -> None:
    parameters: dict[str, Any] = {"a": {"low": 0.0, "high": 1.0}}
    if "choice" in program.more:
        parameters["c"] = {"choices": program.more["choice"]}
    if program.python:
        body = "\n".join(f"        {line}" for line in program.code.splitlines())
        (folder / "function.py").write_text(MODULE.format(top=program.top, body=body))
        objective: dict[str, Any] = {"python": "function.py:evaluate"}
    else:
        kind = next(iter(program.table.get("value", {"": ""})))
        body = "\n".join(f"    {line}" for line in program.code.splitlines())
        (folder / "program.py").write_text(f"{HEAD}if a < 0.5:\n{body}\nelse:\n    {QUIET[kind]}\n")
        extra = ["{c}"] if "c" in parameters else []
        objective = {"command": [sys.executable, "-I", "-S", "{here}/program.py", "{a}", "{here}", *extra]}
    top = {"name": "p", "n_evals": N_EVALS, "n_init": N_EVALS, "max_failures": 0, "heartbeat_s": 1.0}
    document = {**top, "parameters": parameters, "objective": {**objective, **program.table}}
    (folder / "p.toml").write_text("\n".join(f"{key} = {as_toml(value)}" for key, value in document.items()) + "\n")


def as_toml(value: Any) -> str:
    """A value as TOML writes it, in one line."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{json.dumps(str(k))} = {as_toml(v)}" for k, v in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(as_toml, value)) + "]"
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=True).replace("\x7f", "\\u007f")
    if isinstance(value, float) and value != value:
        return "nan"
    return str(value).lower() if isinstance(value, bool) else str(value)


def _attempt(program: Program, folder: Path, mark: str) -> list[Finding]:
    _write(program, folder)
    ended = run_bounded([*SUREFOOT, "run", "p.toml"], mark, folder, program.limit_s)
    found = orphans(mark)
    if ended.code is None:
        return [Finding("hung", f"no end after {program.limit_s:.0f} s"), *found]
    if "Traceback (most recent call last)" in ended.said or ended.code not in (0, 2):
        found.append(Finding("raw", f"status {ended.code}: {ended.last_line}"))
    if program.expected == "refused":
        return found if found or ended.code == 2 else _judge(program, folder)
    if ended.code == 2:
        return [*found, Finding("raw", f"the run was given up: {ended.last_line}")]
    return found + _judge(program, folder)


def _judge(program: Program, folder: Path) -> list[Finding]:
    with opened(folder / "p.db") as storage:
        counted = ("ok", "failed", "transient")
        rows = [row for row in trial_rows(load_study(storage)) if row["status"] in counted]
    found = []
    if len(rows) != N_EVALS:
        found.append(Finding("lost" if len(rows) < N_EVALS else "twice", f"{len(rows)} evaluations of {N_EVALS}"))
    for row in rows:
        wanted = row["a"] if row["a"] >= 0.5 else program.expected
        got = row["value"] if row["status"] == "ok" else row["status"]
        if program.expected == "refused":
            continue
        if got != wanted:
            kind = "lost" if isinstance(wanted, float) else "raw"
            found.append(Finding(kind, f"expected {wanted} at a = {row['a']:.2f}; got {got}: {row['reason'][:100]}"))
        elif row["status"] == "failed" and not row["reason"].strip():
            found.append(Finding("raw", "a failure without a reason"))
    starts = (folder / "objective.log").read_text().splitlines()
    again = len(starts) - len(set(starts))
    if again and "retry_on" not in program.table:
        found.append(Finding("twice", f"{again} evaluations more than points"))
    return found


def _killed(name: str, folder: Path, mark: str) -> list[Finding]:
    """`kill -9` of a worker ends what its program started too."""
    program = PROGRAMS[name]
    table = {key: value for key, value in program.table.items() if key != "timeout_s"}
    _write(Program(program.code, table=table, python=program.python), folder)
    with started([*SUREFOOT, "run", "p.toml"], mark, folder, folder / "said.txt") as process:
        deadline = time.monotonic() + LIMIT_S
        while time.monotonic() < deadline and not _hostile_now(folder):
            time.sleep(0.1)
        time.sleep(0.5)
        process.send_signal(signal.SIGKILL)
        process.wait()
    return orphans(mark)


def _hostile_now(folder: Path) -> bool:
    log = folder / "objective.log"
    return log.exists() and any(float(line.split()[1]) < 0.5 for line in log.read_text().splitlines())
