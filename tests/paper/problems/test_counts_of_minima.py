"""Table 1's numbers of local minima, counted; docs/reference/problems.md tells the story.

In one, two and three dimensions: all points of a fine grid that are no higher than their neighbours, boundary
included, each polished by a local search; distinct results with a positive definite Hessian are counted.
"""

import itertools

import numpy as np
import pytest
from scipy.optimize import brentq, minimize

from surefoot.paper import problems
from surefoot.paper.problems import Problem, functions


def grid_minima(problem: Problem, n: int) -> np.ndarray:
    """Points of the n^d grid, boundary included, with no lower neighbour among the 3^d - 1 around them."""
    axes = [np.linspace(low, high, n) for low, high in problem.bounds]
    x = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1)  # (n, ..., n, d)
    f = problem.function(x)
    padded = np.pad(f, 1, constant_values=np.inf)
    lowest = np.ones(f.shape, dtype=bool)
    for shift in itertools.product((0, 1, 2), repeat=problem.d):
        lowest &= f <= padded[tuple(slice(s, s + n) for s in shift)]
    return x[lowest]  # (m, d)


def descend(problem: Problem, start: np.ndarray) -> np.ndarray:
    options = {"ftol": 1e-15, "gtol": 1e-8, "maxiter": 5000, "maxfun": 50_000}
    return minimize(problem, start, bounds=problem.bounds, method="L-BFGS-B", options=options).x


def is_minimum(problem: Problem, x: np.ndarray) -> bool:
    """Whether the Hessian is positive definite at an interior x (a search may stop at a saddle)."""
    h = 1e-4
    d = problem.d
    e = h * np.eye(d)
    H = np.empty((d, d))
    for i, j in itertools.product(range(d), repeat=2):
        corners = np.array([x + e[i] + e[j], x + e[i] - e[j], x - e[i] + e[j], x - e[i] - e[j]])
        H[i, j] = problem(corners) @ [1, -1, -1, 1] / (4 * h * h)
    return bool(np.linalg.eigvalsh(H).min() > 0)


def distinct(points: list[np.ndarray], tolerance: float = 1e-2) -> list[np.ndarray]:
    found: list[np.ndarray] = []
    for x in points:
        if all(np.abs(x - y).max() > tolerance for y in found):
            found.append(x)
    return found


def on_boundary(problem: Problem, x: np.ndarray) -> bool:
    return bool((np.isclose(x, problem.lower) | np.isclose(x, problem.upper)).any())


def counted(problem: Problem, n: int) -> tuple[int, int]:
    """Numbers of interior minima and of minima on the boundary."""
    points = distinct([descend(problem, start) for start in grid_minima(problem, n)])
    boundary = [x for x in points if on_boundary(problem, x)]
    interior = [x for x in points if not on_boundary(problem, x) and is_minimum(problem, x)]
    return len(interior), len(boundary)


def test_csf_has_eight_interior_minima_and_one_at_each_end():
    assert counted(problems.get("CSF"), 20_001) == (8, 2)


def test_ros_has_one_minimum():
    assert counted(problems.get("ROS"), 301) == (1, 0)


def test_bra_has_three_minima():
    assert counted(problems.get("BRA"), 501) == (3, 0)


def test_gpr_has_four_minima():
    assert counted(problems.get("GPR"), 1001) == (4, 0)


def test_cam_has_six_minima():
    assert counted(problems.get("CAM"), 601) == (6, 0)


def test_hm3_has_three_minima_where_table_1_says_four():
    assert counted(problems.get("HM3"), 81) == (3, 0)


@pytest.fixture(scope="module")
def shubert_factor():
    """s, s' and the zeros of s' on [-10, 10] for SHU = s(x1) s(x2)."""
    j = np.arange(1, 6)

    def s(t):
        return np.sum(j * np.cos((j + 1) * t + j))

    def slope(t):
        return -np.sum(j * (j + 1) * np.sin((j + 1) * t + j))

    t = np.linspace(-10.0, 10.0, 4001)
    v = np.array([slope(a) for a in t])
    turning = [brentq(slope, t[k], t[k + 1], xtol=1e-14) for k in np.nonzero(v[:-1] * v[1:] < 0)[0]]
    return s, slope, turning


def test_shu_has_722_interior_minima(shubert_factor):
    # s' = 0 in both inputs (s = 0 in both is a saddle). Hessian there: diag(s''(x1) s(x2), s(x1) s''(x2)).
    s, slope, turning = shubert_factor
    facts = [(s(t), slope(t + 1e-4) > slope(t - 1e-4)) for t in turning]  # value, convex
    assert sum((b > 0) == up_a and (a > 0) == up_b for a, up_a in facts for b, up_b in facts) == 722


def test_shu_has_38_minima_on_its_edges_which_make_the_760_of_table_1(shubert_factor):
    s, slope, turning = shubert_factor
    count = 0
    for end, inward in ((-10.0, 1.0), (10.0, -1.0)):
        for t in turning:
            convex = slope(t + 1e-4) > slope(t - 1e-4)
            count += (s(end) > 0) == convex and slope(end) * s(t) * inward > 0
    assert 2 * count == 38  # each of the two inputs can be the one at its end


def test_shu_has_one_more_minimum_at_a_corner_that_table_1_leaves_out(shubert_factor):
    s, slope, _ = shubert_factor
    ends = ((-10.0, 1.0), (10.0, -1.0))
    corners = [
        (a, b)
        for (a, into_a), (b, into_b) in itertools.product(ends, repeat=2)
        if slope(a) * s(b) * into_a > 0 and s(a) * slope(b) * into_b > 0
    ]
    assert corners == [(-10.0, -10.0)]


@pytest.fixture(scope="module")
def shubert_grid_minima():
    return grid_minima(problems.get("SHU"), 1001)


def test_a_grid_finds_the_same_761_minima_of_shu(shubert_grid_minima):
    assert len(shubert_grid_minima) == 722 + 38 + 1


def test_shu_has_eighteen_global_minima(shubert_grid_minima):
    # The grid misses each by at most 0.01, which is 0.5 in value (curvature 4.7e3). The next are at -123.6.
    shubert = problems.get("SHU")
    assert np.sum(shubert(shubert_grid_minima) < shubert.f_star + 1.0) == shubert.n_global_minima


@pytest.mark.parametrize(("abbreviation", "n"), [("SH5", 5), ("SH7", 7), ("SH10", 10)])
def test_shekel_has_one_minimum_beside_each_centre(abbreviation, n):
    problem = problems.get(abbreviation)
    found = distinct([descend(problem, centre) for centre in functions._SHEKEL_CENTRES[:n]], tolerance=0.5)
    assert sum(is_minimum(problem, x) for x in found) == n


@pytest.mark.parametrize("abbreviation", ["SH5", "SH7", "SH10"])
def test_descents_from_everywhere_find_no_other_minimum_of_shekel(abbreviation):
    problem = problems.get(abbreviation)
    starts = np.random.default_rng(3).uniform(0.0, 10.0, size=(150, 4))
    centres = functions._SHEKEL_CENTRES[: problem.n_local_minima]
    ends = np.array([descend(problem, start) for start in starts])
    assert np.abs(ends[:, None, :] - centres).max(axis=-1).min(axis=-1).max() < 0.1


def ridge(A: np.ndarray, P: np.ndarray, parts: int) -> np.ndarray:
    """Points (sum w A)^-1 sum w A P for weights w on a grid of the simplex.

    Where the gradient of sum_i c_i exp(-sum_j A_ij (x_j - P_ij)^2) vanishes, x is such a point with w_i in
    proportion to the i-th term: every stationary point lies on this three-dimensional surface (Ray & Lindsay
    2005, The topography of multivariate normal mixtures, Ann. Statist. 33).
    """
    w = np.array([k for k in itertools.product(range(parts + 1), repeat=4) if sum(k) == parts]) / parts  # (m, 4)
    return (w @ (A * P)) / (w @ A)


@pytest.mark.parametrize(
    ("abbreviation", "A", "P", "n"),
    [
        ("HM3", functions._HARTMAN_3_A, functions._HARTMAN_3_P, 3),
        ("HM6", functions._HARTMAN_6_A, functions._HARTMAN_6_P, 2),
    ],
)
def test_descents_from_the_ridge_of_hartman_find_fewer_minima_than_the_four_of_table_1(abbreviation, A, P, n):
    problem = problems.get(abbreviation)
    found = distinct([descend(problem, start) for start in ridge(A, P, 10)])
    assert [is_minimum(problem, x) for x in found] == [True] * n


@pytest.mark.parametrize("P", [functions._HARTMAN_3_P, functions._HARTMAN_6_P, functions._SHEKEL_CENTRES / 10.0])
def test_hartman_and_shekel_have_no_minimum_on_the_boundary_since_all_centres_are_inside(P):
    # On a face the slope inwards is a sum of terms of one sign: every well pulls towards its centre.
    assert ((P > 0.0) & (P < 1.0)).all()


def test_ras_has_eleven_minima_in_each_input():
    # A sum of one term in each input: the minima are all combinations, 11^10.
    one_input = Problem.from_callable(functions.rastrigin, problems.get("RAS").bounds[:1])
    assert counted(one_input, 20_001) == (11, 0)
