"""A plate: one constraint that is known, one limit on an output, and crashes; all three in one run.

python examples/limits.py [PICTURE.png]
"""

import sys

import surefoot


def plate(x):
    """The cost of a plate and its stress; the solver diverges where the plate is too large."""
    if x["a"] + 2 * x["b"] > 2.2:
        raise RuntimeError("the solver diverges")
    return {"cost": (x["a"] - 1) ** 2 + (x["b"] - 1) ** 2, "stress": x["a"] ** 2 + x["b"] ** 2}


def main():
    """Minimize, and say what came out."""
    result = surefoot.minimize(
        plate,
        {"a": (0, 2), "b": (0, 2)},
        n_evals=20,
        objective="cost",
        constraints=["a - b >= 0.3"],
        outputs={"stress": "<= 1"},
    )
    print(result)
    result.plot(sys.argv[1] if len(sys.argv) > 1 else "limits.png")


if __name__ == "__main__":
    main()
