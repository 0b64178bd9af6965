"""The MAPK cascade with negative feedback (Kholodenko, Eur. J. Biochem. 267, 2000), fitted to data by libRoadRunner.

Ten rates are unknown. `data.csv` has the three active kinases during the first half hour, with noise of 5 %, and where
they settle. The misfit needs both: a simulation (CVODE) and a steady state (NLEQ2). Either may fail.
"""

import csv
import functools
import math
import random
from pathlib import Path

from surefoot import Failed

RATES = ("V1", "V2", "k3", "k4", "V5", "V6", "k7", "k8", "V9", "V10")
CONSTANTS = {
    "Ki": 18,
    "K1": 10,
    "K2": 8,
    "K3": 15,
    "K4": 15,
    "K5": 15,
    "K6": 15,
    "K7": 15,
    "K8": 15,
    "K9": 15,
    "K10": 15,
}
START = {
    "MKKK": 90,
    "MKKK_P": 10,
    "MKK": 280,
    "MKK_P": 10,
    "MKK_PP": 10,
    "MAPK": 280,
    "MAPK_P": 10,
    "MAPK_PP": 10,
}  # nM
REACTIONS = (  # from, to, speed (nM/s)
    ("MKKK", "MKKK_P", "V1*MKKK/((1 + MAPK_PP/Ki)*(K1 + MKKK))"),
    ("MKKK_P", "MKKK", "V2*MKKK_P/(K2 + MKKK_P)"),
    ("MKK", "MKK_P", "k3*MKKK_P*MKK/(K3 + MKK)"),
    ("MKK_P", "MKK_PP", "k4*MKKK_P*MKK_P/(K4 + MKK_P)"),
    ("MKK_PP", "MKK_P", "V5*MKK_PP/(K5 + MKK_PP)"),
    ("MKK_P", "MKK", "V6*MKK_P/(K6 + MKK_P)"),
    ("MAPK", "MAPK_P", "k7*MKK_PP*MAPK/(K7 + MAPK)"),
    ("MAPK_P", "MAPK_PP", "k8*MKK_PP*MAPK_P/(K8 + MAPK_P)"),
    ("MAPK_PP", "MAPK_P", "V9*MAPK_PP/(K9 + MAPK_PP)"),
    ("MAPK_P", "MAPK", "V10*MAPK_P/(K10 + MAPK_P)"),
)
SEEN = ("MKKK_P", "MKK_PP", "MAPK_PP")
TIMES = tuple(range(0, 1801, 180))  # s


@functools.cache
def model():
    """The compiled cascade."""
    import roadrunner

    roadrunner.Logger.disableLogging()
    rr = roadrunner.RoadRunner()
    rr.addCompartment("cell", 1.0, False)
    for name, value in (CONSTANTS | dict.fromkeys(RATES, 1.0)).items():
        rr.addParameter(name, value, False)
    for name, value in START.items():
        rr.addSpeciesConcentration(name, "cell", value, False, False, "", False)
    for i, (source, target, speed) in enumerate(REACTIONS, 1):
        rr.addReaction(f"J{i}", [source], [target], speed, i == len(REACTIONS))
    rr.conservedMoietyAnalysis = True
    rr.selections = [f"[{name}]" for name in SEEN]
    rr.steadyStateSelections = [f"[{name}]" for name in START]
    return rr


def courses(rates):
    """The active kinases at TIMES, and where they settle, in nM: twelve rows."""
    rr = model()
    rr.resetAll()
    for name, value in rates.items():
        rr[name] = value
    during = [[float(c) for c in row] for row in rr.simulate(times=list(TIMES))]
    rr.reset()  # the search for the steady state begins where the cell does
    rr.steadyState()
    settled = dict(zip(START, map(float, rr.getSteadyStateValues()), strict=True))
    if min(settled.values()) < -1e-6:
        raise Failed("negative concentrations at the steady state")  # a root of the equations, but no cell
    return [*during, [settled[name] for name in SEEN]]


@functools.cache
def data():
    """The rows of data.csv, in nM."""
    with (Path(__file__).parent / "data.csv").open() as file:
        return [[float(row[name]) for name in SEEN] for row in csv.DictReader(file)]


def misfit(rates):
    """Root mean square of log10(simulated/measured) over all but the known start."""
    squares = []
    for simulated, measured in zip(courses(rates)[1:], data()[1:], strict=True):
        squares += [math.log10(max(c, 1e-3) / m) ** 2 for c, m in zip(simulated, measured, strict=True)]
    return {"misfit": math.sqrt(sum(squares) / len(squares))}


TRUTH = dict(zip(RATES, (0.6, 0.45, 0.03, 0.02, 0.7, 0.8, 0.02, 0.03, 1.4, 0.6), strict=True))


def write_data(seed=1, noise=0.05):
    """data.csv: the courses of TRUTH with relative noise."""
    rng = random.Random(seed)
    with (Path(__file__).parent / "data.csv").open("w", newline="") as file:
        table = csv.writer(file)
        table.writerow(("time_s", *SEEN))
        for time, row in zip((*TIMES, math.inf), courses(TRUTH), strict=True):
            table.writerow((time, *(f"{c * math.exp(noise * rng.gauss(0, 1)):.4g}" for c in row)))


if __name__ == "__main__":
    write_data()
