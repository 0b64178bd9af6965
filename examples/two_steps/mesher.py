"""Step one: the mesh of a nozzle. Reads geometry.json, writes mesh.csv; fails where cells would be too distorted."""

import json
import math
import sys
from itertools import pairwise

with open("geometry.json") as file:
    g = json.load(file)
throat, length, exit_area, grading = g["throat"], g["length"], g["exit_area"], g["grading"]
n = 60
widths = [grading ** (i / (n - 1)) for i in range(n)]
scale = length / sum(widths)
x = 0.0
rows = []
for width in [0.0, *widths]:
    x += width * scale
    s = x / length
    radius = math.sqrt(throat / math.pi) + (math.sqrt(exit_area / math.pi) - math.sqrt(throat / math.pi)) * s**1.5
    rows.append((x, math.pi * radius**2))
steepest = max((math.sqrt(b[1]) - math.sqrt(a[1])) / (b[0] - a[0]) for a, b in pairwise(rows))
if steepest > 0.8:
    print(f"cell {n} has an angle of {math.degrees(math.atan(steepest)):.0f} degrees", file=sys.stderr)
    sys.exit(3)
with open("mesh.csv", "w") as file:
    file.write("x [m],area [m2]\n")
    file.writelines(f"{x!r},{area!r}\n" for x, area in rows)
print(f"{n} cells")
