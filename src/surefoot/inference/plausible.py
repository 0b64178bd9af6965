"""Is a signal what its name says? Units by name; wide limits that catch a wrong unit or sign, not a rare patient."""

from __future__ import annotations

import numpy as np

from surefoot.errors import InvalidInputError
from surefoot.pulmonary.arrays import Floats

# What a column may be measured in: units per mmHg, and per ml/s.
PER_MMHG = {"mmHg": 1.0, "Pa": 133.322, "kPa": 0.133322, "cmH2O": 1.35951, "dyn_cm2": 1333.22}
PER_ML_S = {"mls": 1.0, "ml_s": 1.0, "l_min": 0.06, "l_s": 1e-3, "m3_s": 1e-6}
# Cycle means. Pulmonary arteries: 8 to 20 mmHg in health, rarely above 90; the left atrium 2 to 30.
_ARTERY_MMHG = (4.0, 150.0)
_VEIN_MMHG = (-10.0, 60.0)
# Peak flow: 20 ml/s in the least vessel at rest, 1000 ml/s in the main artery at exercise.
_PEAK_ML_S = (4.0, 1500.0)


def check_plausible(name: str, value: Floats) -> None:
    """Raise InvalidInputError where the values (mmHg, ml/s) look like another unit, or like the opposite direction."""
    mean, peak = float(np.mean(value)), float(np.max(np.abs(value)))
    vein = name.endswith("V")
    if name.startswith("p"):
        _check_range(name, "mean pressure", mean, _VEIN_MMHG if vein else _ARTERY_MMHG, PER_MMHG)
        return
    _check_range(name, "peak flow", peak, _PEAK_ML_S, PER_ML_S)
    if (mean > 0.0) == vein:
        wanted = (
            "negative mean flow (veins are drawn from the left atrium to the lung)" if vein else "positive mean flow"
        )
        raise InvalidInputError(f"expected a {wanted} for {name}; got {mean:+.4g} ml/s; try the opposite sign")


def _check_range(name: str, what: str, value: float, limits: tuple[float, float], units: dict[str, float]) -> None:
    low, high = limits
    if low <= value <= high:
        return
    own = next(iter(units))
    likely = next((unit for unit, per in units.items() if low <= value / per <= high), None)
    hint = f"try naming the column {name}_{likely}: the values look like {likely}" if likely else "check the unit"
    raise InvalidInputError(f"expected a {what} from {low:g} to {high:g} {own} for {name}; got {value:.4g}; {hint}")
