"""A two-storey steel frame pushed sideways to a drift of 6 %, by OpenSeesPy: the least steel that holds.

Six inputs: depth, width and flange thickness of the columns and of the beams. They are I sections of fibres that yield
(Steel02) and break (MinMax); the columns lean under the weight of the floors (P-Δ). Where Newton's method stops, the
frame has collapsed: OpenSees' word for it is the reason, the drift by then is the progress.
"""

import openseespy.opensees as ops

from surefoot import Failed

BAY, STOREY = 8.0, 4.0  # m
YIELD, YOUNG, HARDENING, DENSITY = 355e6, 210e9, 0.005, 7850.0  # Pa, Pa, 1, kg/m³
WEIGHT = 0.5e6  # N on each floor
FRACTURE = 0.05  # strain at which a fibre breaks
WEB = 0.01  # m, thickness
DRIFT, STEPS = 0.06, 120  # of the height; steps of the push
WANTED = 300e3  # N, base shear
WORDS = {-2: "the Integrator failed", -3: "the Algorithm failed", -4: "the Integrator failed to commit"}  # of OpenSees


def area(x, what):
    """Of a section, m²."""
    flange = x[f"{what}_flange"]
    return 2 * x[f"{what}_width"] * flange + WEB * (x[f"{what}_depth"] - 2 * flange)


def section(tag, depth, width, flange):
    """An I section of fibres."""
    web = depth / 2 - flange
    ops.section("Fiber", tag)
    ops.patch("rect", 1, 4, 1, web, -width / 2, depth / 2, width / 2)
    ops.patch("rect", 1, 12, 1, -web, -WEB / 2, web, WEB / 2)
    ops.patch("rect", 1, 4, 1, -depth / 2, -width / 2, -web, width / 2)
    ops.beamIntegration("Lobatto", tag, tag, 5)


def build(x):
    """Nodes 1 to 6, two by two from the ground; columns, beams and the weight of the floors."""
    ops.wipe()
    ops.model("basic", "-ndm", 2, "-ndf", 3)
    for floor in range(3):
        for side in range(2):
            ops.node(2 * floor + side + 1, side * BAY, floor * STOREY)
    ops.fix(1, 1, 1, 1)
    ops.fix(2, 1, 1, 1)
    ops.uniaxialMaterial("Steel02", 2, YIELD, YOUNG, HARDENING, 18.0, 0.925, 0.15)
    ops.uniaxialMaterial("MinMax", 1, 2, "-min", -FRACTURE, "-max", FRACTURE)
    section(1, x["column_depth"], x["column_width"], x["column_flange"])
    section(2, x["beam_depth"], x["beam_width"], x["beam_flange"])
    ops.geomTransf("PDelta", 1)
    ops.geomTransf("Linear", 2)
    for tag, (i, j) in enumerate(((1, 3), (2, 4), (3, 5), (4, 6)), 1):
        ops.element("forceBeamColumn", tag, i, j, 1, 1)
    ops.timeSeries("Linear", 1)
    ops.pattern("Plain", 1, 1)
    for tag, (i, j) in enumerate(((3, 4), (5, 6)), 5):
        ops.element("forceBeamColumn", tag, i, j, 2, 2)
        ops.eleLoad("-ele", tag, "-type", "-beamUniform", -WEIGHT / BAY)


def steps_made(integrator, steps, loads):
    """How many steps Newton's method makes, and why not the next one ("": all made); load factors into `loads`."""
    ops.wipeAnalysis()
    ops.constraints("Plain")
    ops.numberer("RCM")
    ops.system("BandGeneral")
    ops.test("NormDispIncr", 1e-8, 25)
    ops.algorithm("Newton")
    ops.integrator(*integrator)
    ops.analysis("Static")
    for step in range(steps):
        code = ops.analyze(1)
        if code:
            return step, WORDS.get(code, f"analyze returned {code}")
        loads.append(ops.getTime())
    return steps, ""


def push(x):
    """Mass and strength of the frame; kg, N."""
    build(x)
    mass = DENSITY * (4 * STOREY * area(x, "column") + 2 * BAY * area(x, "beam"))
    _, why = steps_made(("LoadControl", 0.1), 10, [])
    if why:
        raise Failed(f"gravity: {why}", outputs={"mass": mass}, progress=0.0)
    ops.loadConst("-time", 0.0)
    ops.pattern("Plain", 2, 1)
    ops.load(3, 1.0, 0.0, 0.0)
    ops.load(5, 2.0, 0.0, 0.0)
    loads = [0.0]
    steps, why = steps_made(("DisplacementControl", 5, 1, DRIFT * 2 * STOREY / STEPS), STEPS, loads)
    found = {"mass": mass, "shear": 3.0 * max(loads), "residual": 3.0 * loads[-1]}
    if why:
        raise Failed(f"push: {why}", outputs=found, progress=steps / STEPS)
    return {"cost": mass + 0.02 * max(0.0, WANTED - found["shear"]), **found}
