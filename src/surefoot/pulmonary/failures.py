"""How a simulation can fail: a few named kinds, raised only at the public boundary."""

from enum import StrEnum

from surefoot.errors import SurefootError


class FailureKind(StrEnum):
    """Every way a simulation can end without a result."""

    CFL = "cfl"  # waves outran the grid: dt (|u| + c) > dx somewhere
    MATCHING = "matching"  # no state joins a terminal artery, its tree and its vein
    JUNCTION = "junction"  # no state joins a vessel and its branches
    NOT_FINITE = "not-finite"  # a NaN or an infinity appeared
    COLLAPSED = "collapsed"  # an area fell to zero or below
    NOT_PERIODIC = "not-periodic"  # the beats still differed after max_beats
    INVALID_PARAMETERS = "invalid-parameters"  # in a batch: this vector cannot be simulated at all


class SimulationFailure(SurefootError):  # noqa: N818 - a failure is data here, "error" would say bug
    """A simulation without result: `kind`, `vessel` (None if no single one), `time_s` since the start."""

    def __init__(self, kind: FailureKind, vessel: str | None, time_s: float | None, message: str) -> None:
        super().__init__(kind, vessel, time_s, message)  # these arguments make it survive pickling
        self.kind = kind
        self.vessel = vessel
        self.time_s = time_s
        self.message = message

    def __str__(self) -> str:
        return self.message

    def __eq__(self, other: object) -> bool:
        return isinstance(other, SimulationFailure) and self.args == other.args

    def __hash__(self) -> int:
        return hash(self.args)
