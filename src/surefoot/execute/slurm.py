"""SLURM by its own commands: submit a job, list one's jobs, cancel some. Nothing is needed but a login node.

No library stands between: sbatch, squeue and scancel are the interface that SLURM keeps stable, and three calls are
less than any wrapper. Accounting (sacct) is not asked: SLURM itself remembers how a job ended for MinJobAge, five
minutes by default, and what a job has to say it writes into a file.
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from surefoot.errors import InvalidInputError

_TIMEOUT_S = 120.0  # SLURM's own commands give up before
_ENDED = frozenset((
    "BOOT_FAIL", "CANCELLED", "COMPLETED", "DEADLINE", "FAILED", "NODE_FAIL", "OUT_OF_MEMORY", "PREEMPTED", "REVOKED",
    "TIMEOUT",
))  # fmt: skip
# What sbatch says of a request that no waiting will make right.
_REFUSED = (
    "nvalid",
    "nrecognized",
    "not available",
    "ermission",
    "denied",
    "not permitted",
    "nable to open",
    "may not",
)


class NoAnswerError(OSError):
    """SLURM did not do what it was told, and may do it later."""


@dataclass(frozen=True)
class Listed:
    """A job as squeue lists it."""

    number: str
    state: str  # PENDING, RUNNING, TIMEOUT, …

    @property
    def ended(self) -> bool:
        """Whether it will do nothing more."""
        return self.state in _ENDED


def submit(script: Path, options: Sequence[str]) -> str:
    """Queue a script; the job's number. InvalidInputError if it is refused, NoAnswerError if it may be taken later."""
    return _tell("sbatch", "--parsable", *options, str(script)).strip().split(";")[0]


def rehearse(script: Path, options: Sequence[str]) -> None:
    """Raise what `submit` would; queue nothing."""
    _tell("sbatch", "--test-only", *options, str(script))


def listed() -> dict[str, Listed]:
    """All jobs of this user by name, those too that ended a short time ago."""
    found = {}
    text = _tell("squeue", "--noheader", "--states=all", f"--user={os.getuid()}", "--format=%A %T %j")
    for line in text.splitlines():
        number, state, *name = line.split(maxsplit=2)
        if name:
            found[name[0]] = Listed(number, state)
    return found


def cancel(numbers: Iterable[str]) -> None:
    """End jobs; those that have ended are passed over."""
    given = list(numbers)
    if given:
        _tell("scancel", "--quiet", *given)


def _tell(program: str, *arguments: str) -> str:
    """What the command prints."""
    # a run inside a job must not pass that job's own resources on
    inherited = {k: v for k, v in os.environ.items() if not k.startswith("SLURM_") or k == "SLURM_CONF"}
    try:
        done = subprocess.run(
            [program, *arguments], env=inherited, stdin=subprocess.DEVNULL, capture_output=True, timeout=_TIMEOUT_S,
            start_new_session=True,  # Ctrl-C is ours to hear
        )  # fmt: skip
    except FileNotFoundError:
        raise InvalidInputError(
            f"expected SLURM's command {program} on the PATH; there is none; try a login node of the cluster, "
            "or --workers N to evaluate on this machine"
        ) from None
    except subprocess.TimeoutExpired:
        raise NoAnswerError(f"{program} has not ended after {_TIMEOUT_S:g} s") from None
    if done.returncode:
        said = " ".join(done.stderr.decode(errors="replace").split())[:500] or f"exit status {done.returncode}"
        if program == "sbatch" and any(word in said for word in _REFUSED):
            raise InvalidInputError(
                f"expected SLURM to take a job; got {said}; try other values in [slurm] of the problem file"
            )
        raise NoAnswerError(said)
    return done.stdout.decode(errors="replace")
