"""What this system can do for evaluations in processes: all on Linux, most on macOS, nothing on Windows."""

from __future__ import annotations

import os
import select
import sys

from surefoot.errors import InvalidInputError


def require_processes(what: str, memory_limit_mb: float | None = None) -> None:
    """InvalidInputError if this system cannot start, watch and end processes as `what` needs it, or not limit them."""
    if not (hasattr(os, "fork") and hasattr(select, "poll")):
        raise InvalidInputError(
            f"expected Linux or macOS for {what}; got {sys.platform}, which cannot fork processes; "
            "try minimize or Optimizer without isolate, timeout and memory_limit_mb, or Linux inside Windows (WSL)"
        )
    if memory_limit_mb is not None and sys.platform == "darwin":
        raise InvalidInputError(
            f"expected Linux for memory_limit_mb; got {memory_limit_mb:g} on macOS, which does not keep such limits; "
            "try without it"
        )
