"""Everything of the model but (f_L, f_S, ξ), as frozen records: units in the names, sources beside the
defaults.

Sources in words: "the 2014 program" is the two-sided program behind Qureshi et al. 2014 in its public copy;
"the 2014 abstract" is that article's abstract; [NH18] is the paper this package is built from.
"""

# ruff: noqa: N815 - units keep their case (mmHg), symbols the paper's (f_L)

import math
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal

from surefoot.errors import UnknownNameError
from surefoot.pulmonary.checks import number, positive, require
from surefoot.pulmonary.geometry import Network
from surefoot.pulmonary.inflow import Ejection, Inflow

SAMPLES_PER_BEAT = 256


@dataclass(frozen=True)
class Fluid:
    """Blood, Newtonian, the same in large and small vessels."""

    density_g_cm3: float = 1.055  # the 2014 program
    viscosity_g_cm_s: float = 0.049  # the 2014 program
    # friction: as coded, or as printed in [NH18, Eq. 8]
    friction: Literal["constant", "boundary-layer"] = "constant"
    friction_coefficient: float = 50.0  # the 2014 program: F = -50 π ν q/A

    def __post_init__(self) -> None:
        positive("density_g_cm3", self.density_g_cm3, "blood is about 1.055")
        positive("viscosity_g_cm_s", self.viscosity_g_cm_s, "blood is about 0.049")
        require(
            self.friction in ("constant", "boundary-layer"),
            "friction 'constant' or 'boundary-layer'",
            self.friction,
            "try 'constant'",
        )
        number("friction_coefficient", self.friction_coefficient, "50 is the default")
        require(self.friction_coefficient >= 0, "friction_coefficient >= 0", self.friction_coefficient, "try 50")

    @property
    def kinematic_viscosity_cm2_s(self) -> float:
        """ν = μ/ρ."""
        return self.viscosity_g_cm_s / self.density_g_cm3

    def friction_terms(self, period_s: float) -> tuple[float, float]:
        """(k1, k2) of F = -(k1 + k2 sqrt(A)) q/A."""
        nu = self.kinematic_viscosity_cm2_s
        if self.friction == "constant":
            return self.friction_coefficient * math.pi * nu, 0.0
        delta_cm = math.sqrt(nu * period_s / (2.0 * math.pi))  # boundary layer, the usual choice of this model family
        return 0.0, 2.0 * math.sqrt(math.pi) * nu / delta_cm  # 2πν r/δ with r = sqrt(A/π)  [NH18, Eq. 8]


@dataclass(frozen=True)
class Tree:
    """The structured trees: how radii shrink, how long a segment of given radius is, where it stops."""

    asymmetry: float = 0.41  # γ = (r_d2/r_d1)²; the 2014 program
    minimum_radius_cm: float = 0.005  # the 2014 program and abstract: 50 µm
    artery_length_factor: float = 15.75  # l = 15.75 r^1.10, r and l in cm; the 2014 program
    artery_length_exponent: float = 1.10
    vein_length_factor: float = 14.54  # l = 14.54 r; the 2014 program
    vein_length_exponent: float = 1.0
    short_arterioles: bool = False  # l = 1.88 r^0.47 below r_min: an older law of the program, +1 mmHg

    def __post_init__(self) -> None:
        positive("asymmetry", self.asymmetry, "0.41 is the default")
        switch = self.short_arterioles
        require(isinstance(switch, bool), "short_arterioles true or false", switch, "no quotes")
        require(
            self.asymmetry <= 1.0,
            "asymmetry <= 1",
            self.asymmetry,
            "name the smaller daughter second: invert it",
        )
        for key in (
            "minimum_radius_cm",
            "artery_length_factor",
            "artery_length_exponent",
            "vein_length_factor",
            "vein_length_exponent",
        ):
            positive(key, getattr(self, key), "see the defaults of Tree")


@dataclass(frozen=True)
class Grid:
    """Space and time steps of the large vessels."""

    points_per_cm: int = 4  # the 2014 program
    steps_per_beat: int = 4096  # the 2014 program; 2048 changes pressures by about 0.01 mmHg

    def __post_init__(self) -> None:
        good = isinstance(self.points_per_cm, int) and 1 <= self.points_per_cm <= 64
        require(good, "points_per_cm to be a whole number from 1 to 64", self.points_per_cm, "try 4")
        steps = self.steps_per_beat
        good = isinstance(steps, int) and SAMPLES_PER_BEAT <= steps <= 65536 and steps & (steps - 1) == 0
        require(good, "steps_per_beat to be a power of two from 256 to 65536", steps, "try 4096")


@dataclass(frozen=True)
class Variant:
    """Which of the program's three quirks are kept, and how the beats are iterated.

    wall_factor: 4/3 as printed [NH18, Eq. 9]; 1 as the 2014 program computes it (an integer division).
    end_slope_dyn_cm3: df/dr0 in the momentum balance at the tree ends alone. Zero as printed, since the stiffness
    does not depend on r0; reference data of the program's family act as if it were -2.6e5 whatever f_L.
    omega_scale: 1 is the true frequency in the trees; 0.1 as the 2014 program computes it (a period in
    other units).
    """

    name: str = "published"
    wall_factor: float = 4.0 / 3.0
    omega_scale: float = 1.0
    end_slope_dyn_cm3: float = 0.0
    beats: int | None = None  # simulate exactly so many; None: go on until periodic
    accelerate: bool = True  # extrapolate from beat to beat (only when beats is None)
    max_beats: int = 60
    periodicity_mmHg: float = 0.1  # periodic: no midpoint pressure changes more than this over a beat
    target_mmHg: float = 0.005  # where it stops: at 0.1 a slow mode may still be 0.7 mmHg away

    def __post_init__(self) -> None:
        positive("wall_factor", self.wall_factor, "4/3 as printed, 1 as in the 2014 program")
        positive("omega_scale", self.omega_scale, "1 as printed, 0.1 as in the 2014 program")
        require(isinstance(self.accelerate, bool), "accelerate true or false", self.accelerate, "no quotes")
        number("end_slope_dyn_cm3", self.end_slope_dyn_cm3, "0 for a constant stiffness")
        positive("periodicity_mmHg", self.periodicity_mmHg, "0.1 is the default")
        positive("target_mmHg", self.target_mmHg, "0.005 is the default")
        good = self.beats is None or (isinstance(self.beats, int) and 1 <= self.beats <= 10_000)
        require(good, "beats to be a whole number from 1, or none", self.beats, "6 as in the 2014 program")
        good = isinstance(self.max_beats, int) and 2 <= self.max_beats <= 10_000
        require(good, "max_beats to be a whole number from 2", self.max_beats, "try 60")


VARIANTS = {
    "published": Variant(),
    "original": Variant(
        "original", wall_factor=1.0, omega_scale=0.1, end_slope_dyn_cm3=-2.6e5, beats=6, accelerate=False
    ),
}


def named_variant(name: str) -> Variant:
    """The variant of that name."""
    if name not in VARIANTS:
        raise UnknownNameError(f"expected a variant among {', '.join(VARIANTS)}, got {name!r}; try 'published'")
    return VARIANTS[name]


@dataclass(frozen=True)
class Settings:
    """All of the above together; the defaults are the paper's human pulmonary circulation."""

    network: Network = field(default_factory=Network)
    inflow: Inflow = field(default_factory=Ejection)
    fluid: Fluid = field(default_factory=Fluid)
    tree: Tree = field(default_factory=Tree)
    grid: Grid = field(default_factory=Grid)
    variant: Variant = field(default_factory=Variant)
    left_atrial_pressure_mmHg: float = 2.0  # the 2014 abstract and program
    initial_flow_ml_s: float = 10.0  # everywhere at the start, veins included: the 2014 program

    def __post_init__(self) -> None:
        number("left_atrial_pressure_mmHg", self.left_atrial_pressure_mmHg, "2 is the default")
        number("initial_flow_ml_s", self.initial_flow_ml_s, "10 is the default")
        for vessel in self.network.vessels:
            cells = vessel.cells(self.grid.points_per_cm)
            require(cells >= 2, f"vessel {vessel.name} to span at least two cells", cells, "raise points_per_cm")
        for bed in self.network.beds:
            r_a = self.network.vessel(bed.artery).radius_bottom_cm
            r_v = self.network.vessel(bed.vein).radius_bottom_cm
            require(
                r_a == r_v,
                f"{bed.artery} and {bed.vein} to end with equal radii",
                (r_a, r_v),
                "the tree has one root",
            )

    def with_variant(
        self,
        variant: "str | Variant | None" = None,
        *,
        wall_factor: float | None = None,
        omega_scale: float | None = None,
    ) -> "Settings":
        """A copy with another variant, or with one constant of it changed."""
        chosen = self.variant if variant is None else named_variant(variant) if isinstance(variant, str) else variant
        if wall_factor is not None:
            chosen = replace(chosen, name="custom", wall_factor=wall_factor)
        if omega_scale is not None:
            chosen = replace(chosen, name="custom", omega_scale=omega_scale)
        return replace(self, variant=chosen)

    @staticmethod
    def from_toml(path: str | Path) -> "Settings":
        """Read settings from a TOML file; what it leaves out keeps its default."""
        from surefoot.pulmonary.toml import settings_from_toml  # here: toml imports this module

        return settings_from_toml(Path(path))
