"""A fast charge of an LG M50 cell (OKane 2022) from 10 % to 70 % in three steps of constant current, by PyBaMM.

Wanted: the shortest charge that neither heats the cell above 45 °C nor plates lithium. `dfn` is the Doyle-Fuller-Newman
model; `spme` is the single particle model with electrolyte, coarser and faster. The simulation ends early where the
cell reaches its voltage limit: PyBaMM's event is then the reason, and the charge by then is the progress.
"""

import functools
import os

from surefoot import Failed

os.environ.setdefault("PYBAMM_DISABLE_TELEMETRY", "true")
START, END = 0.10, 0.70  # state of charge
HOT = 45.0  # °C
ZERO_CELSIUS = 273.15
PLATING = "Negative electrode surface potential difference at separator interface [V]"  # below 0: lithium plates


@functools.cache
def prepared(name):
    """Solver, discretized model and capacity (A h); made once in a process."""
    import pybamm

    pybamm.set_logging_level("ERROR")
    values = pybamm.ParameterValues("OKane2022")
    values.set_initial_state(START)
    values.update(
        dict.fromkeys(("Current function [A]", "Ambient temperature [K]", "Initial temperature [K]"), "[input]")
    )
    model = getattr(pybamm.lithium_ion, name)({"thermal": "lumped"})
    simulation = pybamm.Simulation(model, parameter_values=values, solver=pybamm.IDAKLUSolver())
    simulation.build()
    return simulation.solver, simulation.built_model, values["Nominal cell capacity [A.h]"]


def charge(name, x):
    """The charge with currents c1, c2, c3 (C rates), switched at the states of charge s1 and s2."""
    solver, model, capacity = prepared(name)
    kelvin = ZERO_CELSIUS + x["ambient"]
    marks = (START, x["s1"], x["s2"], END)
    solution = None
    for current, begin, end in zip((x["c1"], x["c2"], x["c3"]), marks, marks[1:], strict=False):
        inputs = {"Current function [A]": -current * capacity}
        inputs |= {"Ambient temperature [K]": kelvin, "Initial temperature [K]": kelvin}
        solution = solver.step(solution, model, 3600.0 * (end - begin) / current, inputs=inputs)
        if solution.termination != "final time":
            charged = solution["Throughput capacity [A.h]"].entries[-1] / capacity
            raise Failed(solution.termination, outputs=outputs(solution), progress=charged / (END - START))
    found = outputs(solution)
    too_hot, plated = max(0.0, found["temperature"] - HOT), max(0.0, -1000.0 * found["plating"])
    return {"score": found["minutes"] + too_hot + 0.2 * plated, **found}


def outputs(solution):
    """Minutes, highest temperature (°C), lowest potential of the anode against lithium (V)."""
    return {
        "minutes": float(solution.t[-1]) / 60.0,
        "temperature": float(solution["Cell temperature [K]"].entries.max()) - ZERO_CELSIUS,
        "plating": float(solution[PLATING].entries.min()),
    }


def dfn(x):
    """The fine model."""
    return charge("DFN", x)


def spme(x):
    """The coarse model."""
    return charge("SPMe", x)
