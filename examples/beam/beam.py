#!/usr/bin/env python3
"""The simulator of beam.c for a machine without a C compiler; it crashes in the same places: cp beam.py beam."""

import ctypes
import sys

LENGTH, LOAD, YOUNG, DENSITY, ELEMENTS = 2.0, 2.0e4, 2.1e11, 7850.0, 48


def main():
    options = dict(zip(sys.argv[1::2], sys.argv[2::2], strict=False))
    if not {"--width", "--height"} <= options.keys():
        sys.exit("usage: beam --width W --height H")
    width, height = float(options["--width"]), float(options["--height"])
    elements = int(LENGTH / height * 2.0)
    if elements > ELEMENTS:
        ctypes.string_at(0)  # a segmentation fault
    inertia = width * height**3 / 12.0
    deflection = 0.0
    for k in range(elements):
        from_tip = LENGTH * (k + 0.5) / elements
        deflection += LOAD * from_tip / (YOUNG * inertia) * from_tip * LENGTH / elements
    if width * height > 0.04:
        print("relaxation diverged after 1000 sweeps", file=sys.stderr)
        sys.exit(3)
    mass, stiffeners = DENSITY * LENGTH * width * height, 0.05 / width**2
    print(f"elements {elements}\nmass {mass:.3f} kg\nstiffeners {stiffeners:.3f} kg\ndeflection {deflection:.3e} m")
    print(f"{mass + stiffeners + 2.0e3 * deflection:.12g}")


if __name__ == "__main__":
    main()
