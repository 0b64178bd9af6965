"""How far the posterior is, for people."""

from __future__ import annotations

from surefoot.optimize.progress import Progress


class PosteriorBar(Progress):
    """Simulations done, of those that one round needs; what a further round needs is added when it begins."""

    def __init__(self, n_needed: int, shown: bool) -> None:
        self._done, self._needed = 0, n_needed
        self._state = "near the best"
        super().__init__(self._needed, shown, "posterior")

    def simulated(self) -> None:
        """One more simulation has ended."""
        self._done += 1
        self._needed = max(self._needed, self._done)
        self.show(self._done, self._state, self._needed)

    def round(self, number: int, error: float) -> None:
        """A round has ended; what follows is another, or the last draws."""
        self._state = f"round {number}: error {error:.2g} sd; sampling"
        self.show(self._done, self._state)
