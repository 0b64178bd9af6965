"""Where an attack on a study takes place."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from benchmarks.attacks.server import Server
from benchmarks.attacks.team import Team

N_WORKERS = 4


@dataclass(frozen=True)
class Arena:
    """A folder, a storage and a seed."""

    folder: Path
    mark: str  # in the environment of every process
    seed: int
    server: Server | None  # None: SQLite

    def team(self, name: str, n_evals: int, short_s: float = 0.2, long_s: float = 2.0) -> Team:
        """A team on a study of its own."""
        place = self.server.url if self.server else ""
        return Team(self.folder / name, f"{self.mark}-{name}", place, n_evals, self.seed, short_s, long_s)
