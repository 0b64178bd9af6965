"""On a compute node: evaluate the one point of a job, and leave its result in a file.

    python -m surefoot.runs.job FOLDER ATTEMPT

A job touches no database. FOLDER holds what is to be evaluated (request.pkl, written by jobs.py) and will hold
result.json, which appears whole or not at all. A SIGTERM, with which SLURM announces the end of a job, ends this
process at once and without a result: what it would say of the point is not the point's fault.
"""

from __future__ import annotations

import json
import pickle
import platform
import sys
import time
from dataclasses import asdict
from pathlib import Path
from typing import Any

from surefoot.errors import SurefootError, described
from surefoot.optimize.files import write_whole
from surefoot.optimize.history import Evaluation
from surefoot.runs import evaluation
from surefoot.runs.evaluation import Finished, evaluate_trial

REQUEST, RESULT = "request.pkl", "result.json"
_OUTSIDE = {"SIGKILL", "SIGTERM"}  # how a program dies that the scheduler, or a node without memory, ends
_SETTLE_S = 1.0  # SLURM signals the program and us, one after the other


def script_of(attempt: int) -> str:
    """The file of an attempt that SLURM is given; with other endings: what it printed, and that it began."""
    return f"try-{attempt}.sh"


def started_of(attempt: int) -> str:
    """The file that says that an attempt began, and where."""
    return f"try-{attempt}.started"


def result_from(text: str) -> Finished:
    """What a job left. SurefootError: the objective cannot be started; OSError: its machine could not evaluate."""
    told = json.loads(text)
    if "error" in told:
        raise SurefootError(f"on a compute node: {told['error']}")
    if "trouble" in told:
        raise OSError(told["trouble"])
    fields = {**told["evaluation"], "x": (), "violates": ()}
    return Finished(Evaluation(**fields), told["output"])


def _told(folder: Path) -> dict[str, Any] | None:
    """What is to be said; None if the evaluation was ended from outside."""
    problem, number, point = pickle.loads((folder / REQUEST).read_bytes())
    try:
        finished = evaluate_trial(problem, number, point)
    except SurefootError as error:
        return {"error": str(error)}
    except OSError as error:
        return {"trouble": f"{platform.node()}: {described(error)}"}
    finally:
        evaluation.close()
    if not finished.evaluation.ok:
        time.sleep(_SETTLE_S)  # if SLURM has ended the program, it is about to end us
        if _OUTSIDE & set(finished.names) and finished.evaluation.status == "failed":
            print(finished.evaluation.reason, file=sys.stderr)  # noqa: T201 - into the job's own output
            return None
    return {"evaluation": asdict(finished.evaluation), "output": finished.output}


def main() -> int:
    """The exit status of the job."""
    folder, attempt = Path(sys.argv[1]), int(sys.argv[2])
    if (folder / RESULT).exists() or (folder / script_of(attempt + 1)).exists():
        return 0  # another attempt has taken its place
    (folder / started_of(attempt)).write_text(platform.node())
    told = _told(folder)
    if told is None:
        return 1
    write_whole(folder / RESULT, json.dumps(told))
    return 0


if __name__ == "__main__":
    sys.exit(main())
