"""Public benchmarks with categories and integers, and engineering designs with standard sizes and materials.

Sources   func2C, func3C, Ackley-5C: Ru et al., "Bayesian optimisation over multiple continuous and categorical inputs"
          (ICML 2020). Goldstein: Pelamatti et al., "Efficient global optimization of constrained mixed variable
          problems" (2019). Gear train, pressure vessel, coil spring: Sandgren, "Nonlinear integer and discrete
          programming in mechanical design optimization" (1990). Concrete beam: Amir and Hasegawa (1989). Welded beam
          with materials: Deb and Goyal, "A combined genetic adaptive search for engineering design" (1996).
Limits    A design that violates limits costs PENALTY times its relative violations more, in units of a good design.
Points    x (d,): numbers as they are, categories by their index.
"""

from __future__ import annotations

import math

import numpy as np

PENALTY = 10.0


def _rosenbrock(a: float, b: float) -> float:
    return (1.0 - a) ** 2 + 100.0 * (b - a * a) ** 2


def _camel(a: float, b: float) -> float:
    return (4.0 - 2.1 * a * a + a**4 / 3.0) * a * a + a * b + (-4.0 + 4.0 * b * b) * b * b


def _beale(a: float, b: float) -> float:
    return (1.5 - a + a * b) ** 2 + (2.25 - a + a * b * b) ** 2 + (2.625 - a + a * b**3) ** 2


def func2c(x: np.ndarray) -> float:
    """x = (a, b) in [-1, 1], categories with 3 and 5 levels."""
    a, b = 2.0 * x[0], 2.0 * x[1]
    parts = (_rosenbrock(a, b), _camel(a, b), _beale(a, b))
    second = (parts[0], parts[1], parts[2], parts[1], parts[2])  # five levels, some of which are alike
    return parts[int(x[2])] + second[int(x[3])]


def func3c(x: np.ndarray) -> float:
    """func2c and a third category with 4 levels."""
    a, b = 2.0 * x[0], 2.0 * x[1]
    third = (5.0 * _camel(a, b), 2.0 * _rosenbrock(a, b), 2.0 * _beale(a, b), 3.0 * _beale(a, b))
    return func2c(x[:4]) + third[int(x[4])]


_LEVELS = np.random.default_rng(17).permuted(np.tile(np.linspace(-1.0, 1.0, 17), (5, 1)), axis=1)  # in no order


def ackley5c(x: np.ndarray) -> float:
    """Ackley's function of one number and five categories with 17 levels."""
    z = np.append([_LEVELS[i, int(x[i])] for i in range(5)], x[5])
    spread, waves = math.sqrt(np.mean(z * z)), np.mean(np.cos(2.0 * math.pi * z))
    return float(20.0 + math.e - 20.0 * math.exp(-0.2 * spread) - math.exp(waves))


def goldstein(x: np.ndarray) -> float:
    """Two numbers in [0, 100] and two categories with 3 levels."""
    a, b = x[0], x[1]
    c, d = (20.0, 50.0, 80.0)[int(x[2])], (20.0, 80.0, 50.0)[int(x[3])]
    return float(
        53.3108 + 0.184901 * a - 5.02914e-6 * a**3 + 7.72522e-8 * a**4 - 0.0870775 * b - 0.106959 * c
        + 7.98772e-6 * c**3 + 0.00242482 * d + 1.32851e-6 * d**3 - 0.00146393 * a * b - 0.00301588 * a * c
        - 0.00272291 * a * d + 0.0017004 * b * c + 0.0038428 * b * d - 0.000198969 * c * d
        + 1.86025e-5 * a * b * c - 1.88719e-6 * a * b * d + 2.50923e-5 * a * c * d - 5.62199e-5 * b * c * d
    )  # fmt: skip


def gear_train(x: np.ndarray) -> float:
    """Four numbers of teeth, for a ratio of 1 : 6.931; the squared error."""
    return float((1.0 / 6.931 - x[0] * x[1] / (x[2] * x[3])) ** 2)


def _violation(*limits: float) -> float:
    """limits: relative excesses, at most 0 where they hold."""
    return sum(max(0.0, limit) for limit in limits)


def pressure_vessel(x: np.ndarray) -> float:
    """Cost of a vessel: thicknesses in sixteenths of an inch, radius, length."""
    shell, head, R, L = 0.0625 * x[0], 0.0625 * x[1], x[2], x[3]
    cost = 0.6224 * shell * R * L + 1.7781 * head * R * R + 3.1661 * shell**2 * L + 19.84 * shell**2 * R
    volume = math.pi * R * R * L + 4.0 / 3.0 * math.pi * R**3
    broken = _violation(0.0193 * R / shell - 1.0, 0.00954 * R / head - 1.0, 1296000.0 / volume - 1.0)
    return cost + PENALTY * 6000.0 * broken


# Sandgren's 42 standard wires, in inches.
_WIRES = (
    0.009, 0.0095, 0.0104, 0.0118, 0.0128, 0.0132, 0.014, 0.015, 0.0162, 0.0173, 0.018, 0.020, 0.023, 0.025, 0.028,
    0.032, 0.035, 0.041, 0.047, 0.054, 0.063, 0.072, 0.080, 0.092, 0.105, 0.120, 0.135, 0.148, 0.162, 0.177, 0.192,
    0.207, 0.225, 0.244, 0.263, 0.283, 0.307, 0.331, 0.362, 0.394, 0.4375, 0.500,
)  # fmt: skip


def coil_spring(x: np.ndarray) -> float:
    """Volume of wire: number of coils, place of the wire among the standard ones, diameter of the coil."""
    N, d, D = x[0], _WIRES[int(x[1])], x[2]
    index = D / d
    K = 115.0e5 * d**4 / (8.0 * N * D**3)  # pounds per inch
    stress = 8.0 * ((4.0 * index - 1.0) / (4.0 * index - 4.0) + 0.615 / index) * 1000.0 * D / (math.pi * d**3)
    pressed = 1000.0 / K  # at the largest load
    length = pressed + 1.05 * (N + 2.0) * d
    broken = _violation(
        stress / 189000.0 - 1.0 if index > 1.0 else 1e3, length / 14.0 - 1.0, (D + d) / 3.0 - 1.0, 3.0 / index - 1.0,
        300.0 / K / 6.0 - 1.0, (300.0 / K + 700.0 / K + 1.05 * (N + 2.0) * d) / length - 1.0, 1.25 * K / 700.0 - 1.0,
    )  # fmt: skip
    return math.pi**2 * D * d * d * (N + 2.0) / 4.0 + PENALTY * 3.0 * min(broken, 10.0)


_BARS = (
    0.2, 0.31, 0.4, 0.44, 0.6, 0.62, 0.79, 0.8, 0.88, 0.93, 1.0, 1.2, 1.24, 1.32, 1.4, 1.55, 1.58, 1.6, 1.76, 1.8,
    1.86, 2.0, 2.17, 2.2, 2.37, 2.4, 2.48, 2.6, 2.64, 2.79, 2.8, 3.0, 3.08, 3.1, 3.16, 3.41, 3.52, 3.6, 3.72, 3.95,
    3.96, 4.0, 4.03, 4.2, 4.34, 4.4, 4.65, 4.74, 4.8, 4.84, 5.0, 5.28, 5.4, 5.53, 5.72, 6.0, 6.16, 6.32, 6.6, 7.11,
    7.2, 7.8, 7.9, 8.0, 8.4, 8.69, 9.0, 9.48, 10.27, 11.0, 11.06, 11.85, 12.0, 13.0, 14.0, 15.0,
)  # fmt: skip


def concrete_beam(x: np.ndarray) -> float:
    """Cost of a beam: place of the steel's area among the standard ones, depth, width."""
    area, depth, width = _BARS[int(x[0])], x[1], x[2]
    needed = 180.0 + 7.375 * area * area / width
    broken = _violation(depth / width / 4.0 - 1.0, needed / (area * depth) - 1.0)
    return 29.4 * area + 0.6 * depth * width + PENALTY * 360.0 * broken


# Steel, cast iron, aluminium, brass: cost of the bar and of the weld, strength, and stiffness, per cubic inch and psi.
_MATERIALS = (
    (0.0481, 0.1047, 30.0e3, 30.0e6), (0.0489, 0.0489, 8.0e3, 14.0e6), (0.5235, 0.5235, 5.0e3, 10.0e6),
    (0.5584, 0.5584, 8.0e3, 16.0e6),
)  # fmt: skip


def welded_beam(x: np.ndarray) -> float:
    """Cost of a beam: material, weld on two or four sides; weld and bar in sixteenths of an inch, the weld's length."""
    bar_cost, weld_cost, strength, E = _MATERIALS[int(x[0])]
    four = x[1] > 0.5
    h, t, b, length = 0.0625 * x[2], 0.0625 * x[3], 0.0625 * x[4], x[5]
    P, L, G = 6000.0, 14.0, 0.4 * E
    around = length + t if four else length
    cost = (1.0 + weld_cost) * h * h * around + bar_cost * t * b * (L + length)
    throat = math.sqrt(2.0) * h  # of two welds together
    area = throat * around
    R = 0.5 * math.sqrt(length * length + (h + t) ** 2)
    J = throat * length * ((h + t) ** 2 / 4.0 + length * length / 12.0)
    if four:
        J += throat * t * ((h + length) ** 2 / 4.0 + t * t / 12.0)
    direct, twist = P / area, P * (L + length / 2.0) * R / J
    shear = math.sqrt(direct**2 + 2.0 * direct * twist * length / (2.0 * R) + twist**2)
    bending, deflection = 6.0 * P * L / (b * t * t), 4.0 * P * L**3 / (E * b * t**3)
    buckling = 4.013 * math.sqrt(E * G) * t * b**3 / (6.0 * L * L) * (1.0 - t / (2.0 * L) * math.sqrt(E / (4.0 * G)))
    broken = _violation(
        shear / (0.577 * strength) - 1.0, bending / strength - 1.0, h / b - 1.0, deflection / 0.25 - 1.0,
        P / max(buckling, 1e-9) - 1.0,
    )  # fmt: skip
    return cost + PENALTY * 2.0 * min(broken, 10.0)
