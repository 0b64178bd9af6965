"""A perfectly stirred reactor that burns methane and hydrogen in air, by Cantera: the cleanest exhaust.

Five inputs: temperature of what flows in, equivalence ratio, residence time, share of hydrogen in the fuel, pressure.
The reactor begins full of burnt gas and runs until nothing changes. Where the flame is blown out, a cold reactor is the
answer: that is a failure. Cantera's own errors are failures too.
"""

import functools
import math

import cantera as ct

from surefoot import Failed

BURNING = 400.0  # K above what flows in; less is no flame
AIR_OXYGEN, NORM_OXYGEN = 0.2095, 0.15  # shares by volume, dry: emissions are told as if there were 15 %


@functools.cache
def gas():
    """GRI-Mech 3.0, which comes with Cantera."""
    return ct.Solution("gri30.yaml")


def steady(x):
    """The reactor when nothing changes any more."""
    mixture = gas()
    mixture.TP = x["temperature"], x["pressure"] * ct.one_atm
    fuel = {"CH4": 1.0 - x["hydrogen"], "H2": x["hydrogen"]}
    mixture.set_equivalence_ratio(x["phi"], fuel, {"O2": 1.0, "N2": 3.76})
    inlet = ct.Reservoir(mixture, clone=True)
    exhaust = ct.Reservoir(mixture, clone=True)
    mixture.equilibrate("HP")
    reactor = ct.IdealGasReactor(mixture, volume=1.0, clone=True)
    flow = ct.MassFlowController(inlet, reactor, mdot=lambda time: reactor.mass / x["residence"])
    valve = ct.PressureController(reactor, exhaust, primary=flow, K=1e-3)
    ct.ReactorNet([reactor]).advance_to_steady_state()
    return reactor, valve


def burn(x):
    """log10(NO + CO/100); both are in ppm of dry exhaust at 15 % oxygen. The temperature of the flame is in K."""
    reactor, _ = steady(x)
    if reactor.T - x["temperature"] < BURNING:
        raise Failed("blow-out: no flame at the steady state", outputs={"flame": reactor.T})
    exhaust = reactor.phase
    dry = 1.0 - exhaust["H2O"].X[0]
    ppm = 1e6 / dry * (AIR_OXYGEN - NORM_OXYGEN) / (AIR_OXYGEN - exhaust["O2"].X[0] / dry)
    no, co = (float(ppm * exhaust[name].X[0]) for name in ("NO", "CO"))
    return {"emission": math.log10(no + 0.01 * co), "no": no, "co": co, "flame": float(reactor.T)}
