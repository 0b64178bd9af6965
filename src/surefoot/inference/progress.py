"""How far the posterior is, for people."""

from __future__ import annotations

import threading

from surefoot.inference.posterior import N_FRESH, N_LATTICE
from surefoot.optimize.progress import Progress

N_TANGENT = 12  # simulations, mostly, before the first region (posterior.first_region)


class PosteriorBar(Progress):
    """Simulations done, of those that one round needs; what a further round needs is added when it begins."""

    def __init__(self, shown: bool) -> None:
        self._lock = threading.Lock()  # simulations end in several threads
        self._done, self._needed = 0, N_TANGENT + N_LATTICE + 1 + N_FRESH
        self._state = "near the best"
        super().__init__(self._needed, shown, "posterior")

    def simulated(self) -> None:
        """One more simulation has ended."""
        with self._lock:
            self._done += 1
            self._needed = max(self._needed, self._done)
            self.show(self._done, self._state, self._needed)

    def round(self, number: int, error: float) -> None:
        """A round has ended; what follows is another, or the last draws."""
        self._state = f"round {number}: error {error:.2g} sd; sampling"
        self.show(self._done, self._state)
