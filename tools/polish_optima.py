"""Polish the optima of the 12 test problems to 50 digits and print them as doubles.

    python tools/polish_optima.py           print minimizers and f_star, the source of paper/problems/catalogue.py
    python tools/polish_optima.py --check   compare with the catalogue; exit status 1 when anything differs

The formulas are written here a second time, in mpmath, in the form of the literature and with exact decimal
constants; the tests compare both versions. Starting points are the literature's rounded minimizers. Newton's
method runs on the gradient; gradient and Hessian are central differences in 120 digits with step 1e-35: the
gradient is good to about 65 digits, the Hessian, which only steers, to about 45. A point is accepted if the
gradient is below 1e-55 and the Hessian positive definite.
"""

import argparse
import itertools
from collections.abc import Callable, Iterable, Sequence

import mpmath as mp

from surefoot import problems
from surefoot.problems import Problem

WORKING_DIGITS = 120
STEP = "1e-35"
GRADIENT_LIMIT = "1e-55"
# Coordinates and values that are zero come out near 1e-60; 45 decimals make them zero and keep doubles exact.
DECIMALS = 45

Point = list[mp.mpf]
Function = Callable[[Sequence[mp.mpf]], mp.mpf]


def cosine_sine(x: Sequence[mp.mpf]) -> mp.mpf:
    """CSF."""
    return mp.cos(5 * x[0]) + 2 * mp.sin(x[0])


def rosenbrock(x: Sequence[mp.mpf]) -> mp.mpf:
    """ROS."""
    return 100 * (x[1] - x[0] ** 2) ** 2 + (1 - x[0]) ** 2


def branin(x: Sequence[mp.mpf]) -> mp.mpf:
    """BRA."""
    a, b = x
    valley = b - mp.mpf("5.1") / (4 * mp.pi**2) * a**2 + 5 / mp.pi * a - 6
    return valley**2 + 10 * (1 - 1 / (8 * mp.pi)) * mp.cos(a) + 10


def goldstein_price(x: Sequence[mp.mpf]) -> mp.mpf:
    """GPR."""
    a, b = x
    left = 1 + (a + b + 1) ** 2 * (19 - 14 * a + 3 * a * a - 14 * b + 6 * a * b + 3 * b * b)
    right = 30 + (2 * a - 3 * b) ** 2 * (18 - 32 * a + 12 * a * a + 48 * b - 36 * a * b + 27 * b * b)
    return left * right


def six_hump_camel(x: Sequence[mp.mpf]) -> mp.mpf:
    """CAM."""
    a, b = x
    return 4 * a**2 - mp.mpf("2.1") * a**4 + a**6 / 3 + a * b - 4 * b**2 + 4 * b**4


def shubert(x: Sequence[mp.mpf]) -> mp.mpf:
    """SHU."""
    first, second = (mp.fsum(j * mp.cos((j + 1) * v + j) for j in range(1, 6)) for v in x)
    return first * second


def hartman(widths: str, centres: str) -> Function:
    """HM3 or HM6 from its two tables, four rows each."""
    A, P = _table(widths), _table(centres)
    weights = _numbers("1 1.2 3 3.2")

    def function(x: Sequence[mp.mpf]) -> mp.mpf:
        wells = zip(weights, A, P, strict=True)
        return -mp.fsum(
            c * mp.exp(-mp.fsum(a * (v - p) ** 2 for a, v, p in zip(row_a, x, row_p, strict=True)))
            for c, row_a, row_p in wells
        )

    return function


def shekel(n_wells: int) -> Function:
    """SH5, SH7 or SH10."""
    centres = _table("4 4 4 4; 1 1 1 1; 8 8 8 8; 6 6 6 6; 3 7 3 7; 2 9 2 9; 5 5 3 3; 8 1 8 1; 6 2 6 2; 7 3.6 7 3.6")
    widths = _numbers("0.1 0.2 0.2 0.4 0.4 0.6 0.3 0.7 0.5 0.5")
    wells = list(zip(centres, widths, strict=True))[:n_wells]

    def function(x: Sequence[mp.mpf]) -> mp.mpf:
        return -mp.fsum(
            1 / (mp.fsum((v - c) ** 2 for v, c in zip(x, centre, strict=True)) + width) for centre, width in wells
        )

    return function


def rastrigin(x: Sequence[mp.mpf]) -> mp.mpf:
    """RAS."""
    return 10 * len(x) + mp.fsum(v**2 - 10 * mp.cos(2 * mp.pi * v) for v in x)


def _numbers(text: str) -> Point:
    return [mp.mpf(word) for word in text.split()]


def _table(text: str) -> list[Point]:
    return [_numbers(row) for row in text.split(";")]


def functions_and_starts() -> dict[str, tuple[Function, list[Point]]]:
    """By abbreviation: the formula and a rough start for every global minimizer."""
    shubert_low, shubert_high = ("-7.708", "-1.425", "4.858"), ("-7.083", "-0.800", "5.483")
    shubert_pairs = [
        *itertools.product(shubert_low, shubert_high),
        *itertools.product(shubert_high, shubert_low),
    ]
    hartman_3 = hartman(
        "3 10 30; 0.1 10 35; 3 10 30; 0.1 10 35",
        "0.3689 0.1170 0.2673; 0.4699 0.4387 0.7470; 0.1091 0.8732 0.5547; 0.03815 0.5743 0.8828",
    )
    hartman_6 = hartman(
        "10 3 17 3.5 1.7 8; 0.05 10 17 0.1 8 14; 3 3.5 1.7 10 17 8; 17 8 0.05 10 0.1 14",
        "0.1312 0.1696 0.5569 0.0124 0.8283 0.5886; 0.2329 0.4135 0.8307 0.3736 0.1004 0.9991; "
        "0.2348 0.1451 0.3522 0.2883 0.3047 0.6650; 0.4047 0.8828 0.8732 0.5743 0.1091 0.0381",
    )
    return {
        "CSF": (cosine_sine, _table("4.42")),
        "ROS": (rosenbrock, _table("1.01 1.01")),
        "BRA": (branin, _table("-3.14 12.27; 3.14 2.27; 9.42 2.47")),
        "GPR": (goldstein_price, _table("0.01 -1.01")),
        "CAM": (six_hump_camel, _table("-0.09 0.71; 0.09 -0.71")),
        "SHU": (shubert, [[mp.mpf(a), mp.mpf(b)] for a, b in shubert_pairs]),
        "HM3": (hartman_3, _table("0.115 0.556 0.853")),
        "SH5": (shekel(5), _table("4 4 4 4")),
        "SH7": (shekel(7), _table("4 4 4 4")),
        "SH10": (shekel(10), _table("4 4 4 4")),
        "HM6": (hartman_6, _table("0.202 0.150 0.477 0.275 0.312 0.657")),
        "RAS": (rastrigin, [[mp.mpf("0.01")] * 10]),
    }


def gradient(f: Function, x: Point) -> mp.matrix:
    """Central differences."""
    h = mp.mpf(STEP)
    return mp.matrix([(f(_moved(x, {i: h})) - f(_moved(x, {i: -h}))) / (2 * h) for i in range(len(x))])


def hessian(f: Function, x: Point) -> mp.matrix:
    """Central second differences; they only steer Newton's method and show that the point is a minimum."""
    d, h, centre = len(x), mp.mpf(STEP), f(x)
    H = mp.matrix(d, d)
    for i in range(d):
        H[i, i] = (f(_moved(x, {i: h})) - 2 * centre + f(_moved(x, {i: -h}))) / h**2
        for j in range(i):
            corners = [s * t * f(_moved(x, {i: s * h, j: t * h})) for s in (1, -1) for t in (1, -1)]
            H[i, j] = H[j, i] = mp.fsum(corners) / (4 * h**2)
    return H


def _moved(x: Point, by: dict[int, mp.mpf]) -> Point:
    return [v + by.get(i, 0) for i, v in enumerate(x)]


def polish(f: Function, start: Point) -> Point:
    """Newton's method on the gradient; raises ArithmeticError if the result is not a strict minimum."""
    x = list(start)
    for _ in range(30):
        g = gradient(f, x)
        H = hessian(f, x)
        if mp.norm(g, mp.inf) < mp.mpf(GRADIENT_LIMIT):
            mp.cholesky(H)  # raises ValueError unless positive definite
            return x
        step = mp.lu_solve(H, g)
        x = [v - s for v, s in zip(x, step, strict=True)]
    raise ArithmeticError(f"Newton's method did not converge from {start}")


def _double(value: mp.mpf) -> float:
    scale = mp.mpf(10) ** DECIMALS
    return float(mp.nint(value * scale) / scale) + 0.0  # + 0.0 turns -0.0 into 0.0


def polished(abbreviation: str) -> tuple[tuple[tuple[float, ...], ...], float]:
    """All global minimizers in ascending order, and f_star, as correctly rounded doubles."""
    with mp.workdps(WORKING_DIGITS):
        f, starts = functions_and_starts()[abbreviation]
        points = [polish(f, start) for start in starts]
        values = {_double(f(x)) for x in points}
        if len(values) != 1:
            raise ArithmeticError(f"{abbreviation}: the minima are not equal: {sorted(values)}")
        return tuple(sorted(tuple(_double(v) for v in x) for x in points)), values.pop()


def differences(catalogue: Iterable[Problem]) -> list[str]:
    """One line for each record that is not exactly what the polishing gives."""
    lines = []
    for problem in catalogue:
        minimizers, f_star = polished(problem.abbreviation)
        if problem.f_star != f_star:
            lines.append(f"{problem.abbreviation}: f_star is {problem.f_star!r}, polished {f_star!r}")
        if problem.minimizers != minimizers:
            lines.append(f"{problem.abbreviation}: minimizers are {problem.minimizers}, polished {minimizers}")
    return lines


def main() -> int:
    """Print the table, or check the catalogue against it."""
    parser = argparse.ArgumentParser(description="Polish the optima of the test problems to full double precision.")
    parser.add_argument("--check", action="store_true", help="compare with the catalogue; exit 1 on a difference")
    if parser.parse_args().check:
        lines = differences(problems.ALL)
        print("\n".join(lines) or f"all {len(problems.ALL)} problems agree with the catalogue")
        return 1 if lines else 0
    for abbreviation in functions_and_starts():
        minimizers, f_star = polished(abbreviation)
        print(f"{abbreviation}: f_star = {f_star!r}")
        for x in minimizers:
            print(f"    {x!r}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
