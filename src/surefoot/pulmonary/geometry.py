"""The network of large vessels as data: tapered tubes and how their ends are joined.

A vessel runs from its top (x = 0) to its bottom. Arteries run away from the heart; veins run from the left
atrium towards the tree, so that healthy venous flow is negative.
"""

import math
from collections import Counter
from dataclasses import dataclass, field

from surefoot.pulmonary.checks import positive, require


@dataclass(frozen=True)
class Vessel:
    """A tube whose unstressed radius tapers exponentially from top to bottom."""

    name: str
    length_cm: float
    radius_top_cm: float
    radius_bottom_cm: float

    def __post_init__(self) -> None:
        require(bool(self.name), "a vessel to have a name", self.name, "give each vessel a short unique name")
        for key in ("length_cm", "radius_top_cm", "radius_bottom_cm"):
            positive(f"{key} of vessel {self.name}", getattr(self, key), "lengths and radii are in cm")

    def cells(self, points_per_cm: int) -> int:
        """N = floor(points_per_cm L), as the 2014 program: at most one cell shorter than the vessel."""
        return math.floor(points_per_cm * self.length_cm + 1e-9)


@dataclass(frozen=True)
class Junction:
    """The bottom of the parent meets the tops of the daughters."""

    parent: str
    daughters: tuple[str, ...]


@dataclass(frozen=True)
class Bed:
    """A structured tree of small vessels between the bottoms of an artery and of a vein."""

    artery: str
    vein: str


# Lengths and radii: the 11-vessel tables of the 2014 two-sided program (its comments call LTA, RTA and the
# veins approximate).
_VESSELS = (
    Vessel("MPA", 4.50, 1.36, 1.30),
    Vessel("RPA", 5.75, 0.93, 0.60),
    Vessel("LPA", 2.50, 1.10, 1.08),
    Vessel("RIA", 1.25, 0.57, 0.55),
    Vessel("RTA", 1.00, 0.46, 0.46),
    Vessel("LIA", 2.25, 1.04, 0.90),
    Vessel("LTA", 1.00, 0.58, 0.58),
    Vessel("RIV", 1.24, 0.59, 0.55),
    Vessel("RSV", 1.50, 0.51, 0.46),
    Vessel("LIV", 2.18, 0.97, 0.90),
    Vessel("LSV", 2.00, 0.64, 0.58),
)
_JUNCTIONS = (
    Junction("MPA", ("RPA", "LPA")),
    Junction("RPA", ("RIA", "RTA")),
    Junction("LPA", ("LIA", "LTA")),
)
_BEDS = (Bed("RIA", "RIV"), Bed("RTA", "RSV"), Bed("LIA", "LIV"), Bed("LTA", "LSV"))


@dataclass(frozen=True)
class Network:
    """Vessels and connections: tops are inlet, outlets or daughters; bottoms parents, in beds or blind."""

    vessels: tuple[Vessel, ...] = _VESSELS
    junctions: tuple[Junction, ...] = _JUNCTIONS
    beds: tuple[Bed, ...] = _BEDS
    inlet: str = "MPA"
    outlets: tuple[str, ...] = ("RIV", "RSV", "LIV", "LSV")  # tops at the left atrium
    blind_ends: tuple[str, ...] = field(default=())  # closed bottoms; none in the pulmonary network

    def __post_init__(self) -> None:
        names = [vessel.name for vessel in self.vessels]
        require(len(names) > 0, "at least one vessel", names, "list the vessels")
        require(len(set(names)) == len(names), "vessel names to be unique", names, "rename the doubles")
        tops = Counter([self.inlet, *self.outlets])
        bottoms = Counter(self.blind_ends)
        for junction in self.junctions:
            require(
                len(junction.daughters) > 0,
                "a junction to have daughters",
                junction,
                "use a blind end instead",
            )
            tops.update(junction.daughters)
            bottoms.update([junction.parent])
        for bed in self.beds:
            bottoms.update([bed.artery, bed.vein])
        for place, ends in (("top", tops), ("bottom", bottoms)):
            unknown = sorted(set(ends) - set(names))
            require(
                not unknown,
                f"connections to name vessels among {', '.join(names)}",
                unknown,
                "correct the names",
            )
            wrong = [name for name in names if ends[name] != 1]
            require(
                not wrong,
                f"the {place} of every vessel to be connected exactly once",
                {name: ends[name] for name in wrong},
                "a top is the inlet, an outlet or a daughter; a bottom is a parent, in a bed or blind",
            )

    @property
    def names(self) -> tuple[str, ...]:
        """Vessel names in their order."""
        return tuple(vessel.name for vessel in self.vessels)

    def vessel(self, name: str) -> Vessel:
        """The vessel of that name."""
        require(name in self.names, f"a vessel among {', '.join(self.names)}", name, "correct the name")
        return self.vessels[self.names.index(name)]
