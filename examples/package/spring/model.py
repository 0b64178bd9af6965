"""The simulation: semi-implicit Euler, which diverges where the step is too long for the stiffness."""

MASS = 2.0  # kg
STEP = 0.02  # s
LAST = 20.0  # s


class DivergedError(ArithmeticError):
    """The step is too long for this stiffness and damping."""


def settle(stiffness: float, damping: float) -> dict[str, float]:
    """Seconds until the mass stays within 2 % of its start, the largest force, and how far it overshoots."""
    x, v, force, settled, overshoot = 1.0, 0.0, 0.0, 0.0, 0.0
    for k in range(int(LAST / STEP)):
        pull = -stiffness * x - damping * v
        v += STEP * pull / MASS
        x += STEP * v
        if abs(x) > 10.0:
            raise DivergedError(f"x = {x:.3g} after {k * STEP:.2f} s")
        force, overshoot = max(force, abs(pull)), max(overshoot, -x)
        if abs(x) > 0.02:
            settled = (k + 1) * STEP
    return {"seconds": settled, "force": force, "overshoot": overshoot}
