"""Whatever is told, the next suggestion is a valid new point."""

import math

import numpy as np
import pytest

from surefoot import Categorical, Integer, Optimizer

SQUARE = [(-1.0, 1.0), (-1.0, 1.0)]
RNG = np.random.default_rng(0)
POINTS = RNG.uniform(-1.0, 1.0, (40, 2))


def check_next(opt: Optimizer, n: int = 1) -> None:
    """The next n suggestions lie in the space, and nowhere where something has been evaluated."""
    taken = [e.x for e in opt.history.evaluations]
    for _ in range(n):
        values = opt.space.validate(opt.ask())
        assert values not in taken
        taken.append(values)


VALUES = {
    "constant": np.full(40, 3.0),
    "zero": np.zeros(40),
    "constant and huge": np.full(40, -1e300),
    "constant and tiny": np.full(40, 1e-300),
    "from 1e-300 to 1e300": 10.0 ** np.linspace(-300, 300, 40),
    "both signs from 1e-300 to 1e300": 10.0 ** np.linspace(-300, 300, 40) * np.tile([1.0, -1.0], 20),
    "tiny": 1e-300 * POINTS[:, 0],
    "subnormal": 1e-310 * POINTS[:, 0],
    "huge": 1e300 * POINTS[:, 0],
    "an outlier": np.where(np.arange(40) == 7, 1e12, POINTS[:, 0]),
    "a huge outlier": np.where(np.arange(40) == 7, 1e300, POINTS[:, 0]),
    "a low outlier": np.where(np.arange(40) == 7, -1e12, POINTS[:, 0]),
    "two levels": np.sign(POINTS[:, 0]),
    "one unit in the last place": np.where(np.arange(40) == 7, math.nextafter(1.0, 2.0), 1.0),
    "noise": RNG.standard_normal(40),
    "a large offset": 1e15 + POINTS[:, 0],
}


@pytest.mark.parametrize("policy", ["alternate", "LCB", "MES", "PI"])
@pytest.mark.parametrize("values", VALUES.values(), ids=VALUES)
@pytest.mark.filterwarnings("ignore::surefoot.errors.NumericalWarning")
def test_any_finite_values_lead_to_a_new_point(values: np.ndarray, policy: str) -> None:
    opt = Optimizer(SQUARE, n_init=5, policy=policy)
    opt.tell(POINTS, values)
    check_next(opt, 3)


@pytest.mark.parametrize("settings", [{"noise": 0}, {"kernel": "matern52"}, {"search": "paper"}], ids=str)
@pytest.mark.parametrize("values", VALUES.values(), ids=VALUES)
@pytest.mark.filterwarnings("ignore::surefoot.errors.NumericalWarning")
def test_any_finite_values_lead_to_a_new_point_with_other_settings(values: np.ndarray, settings: dict) -> None:
    opt = Optimizer(SQUARE, n_init=5, **settings)
    opt.tell(POINTS, values)
    check_next(opt)


@pytest.mark.parametrize("values", VALUES.values(), ids=VALUES)
@pytest.mark.filterwarnings("ignore::surefoot.errors.NumericalWarning")
def test_any_finite_values_among_failures_lead_to_a_new_point(values: np.ndarray) -> None:
    opt = Optimizer(SQUARE, n_init=5)
    opt.tell(POINTS, np.where(np.arange(40) % 3 == 0, np.nan, values))
    check_next(opt, 3)


@pytest.mark.filterwarnings("ignore::surefoot.errors.NumericalWarning")
def test_the_largest_floats_lead_to_a_new_point() -> None:
    opt = Optimizer(SQUARE, n_init=5)
    opt.tell(POINTS, 1.7e308 * np.sign(POINTS[:, 0]))
    check_next(opt)


@pytest.mark.parametrize("noise", [0, 0.1, 1e-300, 1e300, "estimate"])
@pytest.mark.filterwarnings("ignore::surefoot.errors.NumericalWarning")
def test_any_given_noise_leads_to_a_point_inside(noise: object) -> None:
    opt = Optimizer(SQUARE, n_init=5, noise=noise)
    opt.tell(POINTS, POINTS[:, 0])
    opt.space.validate(opt.ask())


@pytest.mark.parametrize("y", [[1.0] * 20, list(range(20))], ids=["agreeing", "contradicting"])
@pytest.mark.parametrize("noise", [0, "estimate"])
@pytest.mark.filterwarnings("ignore::surefoot.errors.NumericalWarning")
def test_one_point_told_twenty_times_leads_to_a_new_point(y: list[float], noise: object) -> None:
    opt = Optimizer(SQUARE, n_init=5, noise=noise)
    opt.tell([[0.1, 0.2]] * 20, y)
    check_next(opt, 3)


@pytest.mark.parametrize("noise", [0, "estimate"])
@pytest.mark.filterwarnings("ignore::surefoot.errors.NumericalWarning")
def test_every_point_told_twice_leads_to_a_new_point(noise: object) -> None:
    opt = Optimizer(SQUARE, n_init=5, noise=noise)
    opt.tell([*POINTS, *POINTS], [*POINTS[:, 0], *POINTS[:, 0]])
    check_next(opt, 3)


@pytest.mark.parametrize("policy", ["alternate", "LCB", "MES", "MES-R", "ScaledEI", "MN", "PI"])
def test_one_told_value_leads_to_a_new_point(policy: str) -> None:
    opt = Optimizer(SQUARE, n_init=1, policy=policy)
    opt.tell([0.1, 0.2], 3.0)
    check_next(opt, 3)


def test_one_success_among_failures_leads_to_a_new_point() -> None:
    opt = Optimizer(SQUARE, n_init=1)
    opt.tell(POINTS, [1.0] + [math.nan] * 39)
    check_next(opt, 3)


def test_a_point_that_succeeded_and_failed_leads_to_a_new_point() -> None:
    opt = Optimizer(SQUARE, n_init=1)
    opt.tell([[0.1, 0.2]] * 4, [1.0, math.nan, 2.0, math.nan])
    check_next(opt, 3)


@pytest.mark.parametrize("noise", ["estimate", 0])
@pytest.mark.filterwarnings("ignore::surefoot.errors.NumericalWarning")
def test_a_thousand_points_within_1e8_lead_to_a_new_point(noise: object) -> None:
    opt = Optimizer(SQUARE, n_init=5, noise=noise)
    x = RNG.uniform(-1e-8, 1e-8, (1000, 2))
    opt.tell(x, x[:, 0] * 1e8 + x[:, 1] ** 2)
    check_next(opt)


@pytest.mark.parametrize("d", [1, 2, 10, 20, 50])
def test_any_number_of_parameters_leads_to_new_points(d: int) -> None:
    opt = Optimizer([(-1.0, 1.0)] * d, n_init=20)
    for _ in range(24):
        x = opt.ask()
        opt.tell(x, float(np.sum(np.asarray(x) ** 2)))
    check_next(opt, 2)


def test_a_line_in_fifty_dimensions_leads_to_a_new_point() -> None:
    opt = Optimizer([(-1.0, 1.0)] * 50, n_init=5)
    t = np.linspace(-1, 1, 30)
    opt.tell(np.repeat(t[:, None], 50, axis=1), t**2)
    check_next(opt, 2)


def test_the_corners_of_the_cube_lead_to_a_new_point() -> None:
    opt = Optimizer(SQUARE, n_init=4, noise=0)
    opt.tell([[a, b] for a in (-1.0, 1.0) for b in (-1.0, 1.0)], [1.0, 2.0, 3.0, 4.0])
    check_next(opt, 4)


@pytest.mark.parametrize(
    "bounds",
    [[(-1e308, 1e308)] * 2, [(0.0, 1e-300)] * 2, [(1.0, 1.0 + 1e-9)] * 2, [(1e15, 1e15 + 1e3)] * 2],
    ids=["huge", "tiny", "narrow", "far"],
)
def test_any_bounds_lead_to_new_points(bounds: list[tuple[float, float]]) -> None:
    opt = Optimizer(bounds, n_init=6, noise=0)
    low, high = bounds[0]
    for i in range(12):
        x = opt.ask()
        opt.tell(x, float(np.sum((np.asarray(x) / 2 - low / 2) / (high / 2 - low / 2))) + 0.1 * (i % 2))
    check_next(opt, 2)


def test_a_mixed_space_with_constant_values_leads_to_new_points() -> None:
    opt = Optimizer([Integer(0, 5), Categorical("abc"), (0.0, 1.0)], n_init=5)
    for _ in range(12):
        opt.tell(opt.ask(), 1.0)
    check_next(opt, 4)


def test_a_categorical_space_in_which_some_choices_fail_leads_to_new_points() -> None:
    opt = Optimizer([Integer(0, 9), Categorical("abc")], n_init=5)
    for _ in range(20):
        x = opt.ask()
        if x[1] == "b":
            opt.tell_failure(x)
        else:
            opt.tell(x, float(x[0]))
    check_next(opt, 4)


@pytest.mark.slow
@pytest.mark.parametrize("policy", ["alternate", "MES"])
@pytest.mark.filterwarnings("ignore::surefoot.errors.NumericalWarning")
def test_a_thousand_ordinary_points_lead_to_new_points(policy: str) -> None:
    opt = Optimizer([(-1.0, 1.0)] * 6, n_init=5, policy=policy)
    x = RNG.uniform(-1.0, 1.0, (1000, 6))
    opt.tell(x, (x**2).sum(axis=1))
    check_next(opt, 3)
