"""Calibration: the parameters of a simulator that may fail, from noisy data, with intervals.

from surefoot.calibration import Signal, calibrate

data = [Signal("position", values, noise_sd=0.05)]
result = calibrate(simulate, {"damping": (0.1, 2.0), "stiffness": Real(0.1, 10.0, log=True)}, data)
result.best, result.posterior.intervals, result.notes
"""

from surefoot.calibration.box import Stepped
from surefoot.calibration.calibrate import calibrate
from surefoot.calibration.plan import Plan
from surefoot.calibration.result import Calibration, Interval, Posterior, Residual
from surefoot.calibration.signals import Signal

__all__ = ["Calibration", "Interval", "Plan", "Posterior", "Residual", "Signal", "Stepped", "calibrate"]
