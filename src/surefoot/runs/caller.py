"""Evaluate a point by a Python function that lives in a process of its own (callee.py) from call to call.

A call that crashes or hangs ends that process, not the run: the next call starts another.
"""

from __future__ import annotations

import contextlib
import json
import os
import select
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from surefoot.errors import InvalidInputError
from surefoot.optimize.isolate import Outcome, death, signal_name
from surefoot.runs import process
from surefoot.runs.objective import Objective


class Caller:
    """The function of an objective, behind a process that is started when needed."""

    def __init__(self, objective: Objective, here: Path) -> None:
        self._objective = objective
        self._here = here
        self._process: subprocess.Popen[bytes] | None = None
        self._answers = -1

    def call(self, values: dict[str, Any], folder: Path, environment: dict[str, str]) -> Outcome:
        """What came of function(values)."""
        if self._process is None:
            self._start(environment)
        assert self._process is not None
        assert self._process.stdin is not None
        request = {"x": values, "folder": str(folder), "environment": environment}
        try:
            self._process.stdin.write(json.dumps(request).encode() + b"\n")
            self._process.stdin.flush()
        except BrokenPipeError:  # it died idle: nothing to do with this point
            self.stop()
            return self.call(values, folder, environment)
        answer = self._answer(self._objective.timeout_s)
        if answer is None:
            self.stop()
            limit = self._objective.timeout_s
            return Outcome(reason=f"timeout: no result after {limit:g} s, stopped", exception_names=("timeout",))
        if not answer:
            code = self.stop()
            name = signal_name(-code) if code < 0 else str(code)
            return Outcome(reason=death(code), exception_names=(name,))
        fields = json.loads(answer)
        if "reason" in fields:
            return Outcome(reason=fields["reason"], exception_names=tuple(fields["names"]))
        return Outcome(value=float(fields["value"]))

    def _start(self, environment: dict[str, str]) -> None:
        self._answers, child_end = os.pipe()
        options = [str(child_end), self._objective.python, str(self._here), str(self._objective.memory_limit_mb or 0)]
        try:
            self._process = process.start(
                [sys.executable, "-P", "-m", "surefoot.runs.callee", *options],
                folder=self._here,
                environment=environment,
                stdin=subprocess.PIPE,
                pass_fds=(child_end,),
            )
        except BaseException:
            os.close(self._answers)
            raise
        finally:
            os.close(child_end)
        answer = self._answer(None)
        if not answer or "error" in json.loads(answer):
            said = json.loads(answer)["error"] if answer else "the process died while importing it"
            self.stop()
            raise InvalidInputError(
                f"expected a function at {self._objective.python!r}; got {said}; try python = 'file.py:function'"
            )

    def _answer(self, timeout_s: float | None) -> bytes | None:
        """A line; empty if the process died, None if it took too long."""
        deadline = None if timeout_s is None else time.monotonic() + timeout_s
        line = b""
        while not line.endswith(b"\n"):
            left = None if deadline is None else max(0.0, deadline - time.monotonic())
            if not select.select([self._answers], [], [], left)[0]:
                return None
            piece = os.read(self._answers, 2**16)
            if not piece:
                return b""
            line += piece
        return line

    def stop(self) -> int:
        """End the process, if there is one."""
        if self._process is None:
            return 0
        ended, self._process = self._process, None
        code = process.stop(ended)
        os.close(self._answers)
        if ended.stdin is not None:
            with contextlib.suppress(BrokenPipeError):
                ended.stdin.close()
        return code
