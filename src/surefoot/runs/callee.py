"""The process in which a Python objective lives: it is imported once, then calls are answered until stdin closes.

Requests and answers are lines of JSON, requests on stdin, answers on a pipe of their own; stdout and stderr are the
function's. `python -P -m surefoot.runs.callee PIPE SPEC FOLDER MEMORY_MB`
"""

from __future__ import annotations

import importlib
import importlib.util
import json
import os
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from surefoot.errors import InvalidInputError
from surefoot.optimize.evaluate import as_float
from surefoot.optimize.isolate import exception_outcome, limit_memory

STDOUT, STDERR = "stdout.txt", "stderr.txt"


def load(spec: str, here: Path) -> Callable[[dict[str, Any]], Any]:
    """The function that module:function or file.py:function names; InvalidInputError if there is none."""
    place, name = spec.split(":")
    sys.path.insert(0, str(here))
    try:
        if place.endswith(".py"):
            found = importlib.util.spec_from_file_location(Path(place).stem, here / place)
            assert found is not None
            assert found.loader is not None
            module = importlib.util.module_from_spec(found)
            sys.modules[found.name] = module
            found.loader.exec_module(module)
        else:
            module = importlib.import_module(place)
    except Exception as error:
        raise InvalidInputError(
            f"expected to import {place!r}; got {type(error).__name__}: {error}; try it in a Python session"
        ) from error
    function = getattr(module, name, None)
    if not callable(function):
        raise InvalidInputError(f"expected a function {name!r} in {place!r}; got {function!r}; try another name")
    return function  # type: ignore[no-any-return]


def _answer_call(function: Callable[[dict[str, Any]], Any], x: dict[str, Any]) -> dict[str, Any]:
    try:
        value = function(x)
    except BaseException as error:  # SystemExit too: it ends this evaluation, not the run
        outcome = exception_outcome(error)
        names = [name for full in outcome.exception_names for name in (full, full.rsplit(".", 1)[-1])]
        return {"reason": outcome.reason, "names": names}
    try:
        return {"value": repr(as_float(value))}
    except TypeError as error:
        return {"reason": str(error), "names": []}


def main() -> None:
    """The process: load the function, then answer calls until stdin is closed."""
    answers, spec, here, limit = int(sys.argv[1]), sys.argv[2], Path(sys.argv[3]), float(sys.argv[4])
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    requests = os.fdopen(os.dup(0), "rb")
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)

    def reply(fields: dict[str, Any]) -> None:
        os.write(answers, json.dumps(fields).encode() + b"\n")

    try:
        function = load(spec, here)
    except InvalidInputError as error:
        reply({"error": str(error)})
        return
    limit_memory(limit or None)
    reply({"ready": True})
    for line in requests:
        request = json.loads(line)
        folder = Path(request["folder"])
        os.environ.update(request["environment"])
        for name, descriptor in ((STDOUT, 1), (STDERR, 2)):
            file = os.open(folder / name, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
            os.dup2(file, descriptor)
            os.close(file)
        answer = _answer_call(function, request["x"])
        sys.stdout.flush()
        sys.stderr.flush()
        reply(answer)


if __name__ == "__main__":
    main()
