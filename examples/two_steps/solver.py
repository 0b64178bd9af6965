"""Step two: flow through the nozzle, one-dimensional with friction. Reads mesh.csv, writes flow.csv and summary.json.

It fails where the flow goes back to subsonic within the nozzle, for which it has no solution.
"""

import csv
import json
import sys
from itertools import pairwise

GAMMA, GAS, P0, T0, FRICTION = 1.4, 287.0, 8e5, 900.0, 0.006

with open("mesh.csv") as file:
    mesh = [(float(row["x [m]"]), float(row["area [m2]"])) for row in csv.DictReader(file)]

m2 = 1.0001**2  # just above the throat
rows = []
for (x, area), (x_next, area_next) in pairwise(mesh):
    steps = 400
    h = (x_next - x) / steps
    for k in range(steps):  # d(M^2)/dx with change of area and friction
        a = area + (area_next - area) * k / steps
        slope = (area_next - area) / (x_next - x)
        diameter = (4.0 * a / 3.141592653589793) ** 0.5
        force = -2.0 * slope / a + 4.0 * FRICTION * GAMMA * m2 / diameter
        gain = m2 * (1.0 + 0.2 * m2) / (1.0 - m2) * force
        m2 += h * gain
        if m2 < 1.0:
            print(f"*** the flow chokes at x = {x:.3f} m", file=sys.stderr)
            sys.exit(1)
    temperature = T0 / (1.0 + 0.2 * m2)
    mach = m2**0.5
    rows.append((x_next, area_next, mach, temperature))

# what flows through the throat, and what it pushes with at the end, against 1 bar
area, area_end = mesh[0][1], mesh[-1][1]
flow = area * P0 * (GAMMA / (GAS * T0)) ** 0.5 * (2.0 / (GAMMA + 1.0)) ** ((GAMMA + 1.0) / (2.0 * (GAMMA - 1.0)))
x, _, mach, temperature = rows[-1]
speed = mach * (GAMMA * GAS * temperature) ** 0.5
pressure = flow * GAS * temperature / (speed * area_end)
thrust = flow * speed + (pressure - 1e5) * area_end
with open("flow.csv", "w") as file:
    file.write("# quasi-one-dimensional flow\nx,area,Mach,T\n")
    file.writelines(f"{x:.6e},{a:.6e},{m:.6e},{t:.6e}\n" for x, a, m, t in rows)
with open("summary.json", "w") as file:
    json.dump({"nozzle": {"thrust": thrust, "flow": flow}}, file)
print("done")
