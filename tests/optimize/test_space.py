"""Parameters and their image in the unit cube."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from surefoot import Categorical, Integer, Real, Space
from surefoot.errors import InvalidInputError

finite = st.floats(allow_nan=False, allow_infinity=False)
positive = st.floats(min_value=1e-300, max_value=1e300)
unit = st.floats(0.0, 1.0)

SPACES = {
    "real": [(-3.0, 7.0)],
    "log": [Real(1e-5, 1e3, log=True)],
    "integer": [Integer(-4, 9)],
    "log integer": [Integer(1, 1000, log=True)],
    "categorical": [Categorical(["a", "b", "c"])],
    "mixed": [(-1.0, 1.0), Real(0.1, 10.0, log=True), Integer(0, 5), Integer(1, 64, log=True), Categorical("pqr")],
    "named": {"rate": Real(1e-4, 1.0, log=True), "layers": Integer(1, 8), "kind": Categorical(["lu", "qr"])},
}


@pytest.fixture(params=SPACES, name="space")
def _space(request: pytest.FixtureRequest) -> Space:
    return Space.of(SPACES[request.param])


# --- the way there and back


@given(finite, finite, unit)
def test_a_real_value_survives_encoding_and_decoding(low: float, high: float, u: float) -> None:
    assume(low < high)
    p = Real(low, high)
    value = p.decode(np.asarray([u]))
    again = p.decode(np.asarray(p.encode(value)))
    assert again == pytest.approx(value, rel=1e-12, abs=4e-16 * max(abs(low), abs(high)))


@given(positive, positive, unit)
def test_a_log_value_survives_encoding_and_decoding(low: float, high: float, u: float) -> None:
    assume(low < high)
    p = Real(low, high, log=True)
    value = p.decode(np.asarray([u]))
    again = p.decode(np.asarray(p.encode(value)))
    # the logarithms are below 700 in size: their rounding is at most 1e-13 of the value
    assert again == pytest.approx(value, rel=1e-12)


@given(st.integers(-(10**9), 10**9), st.integers(0, 10**9), st.data())
def test_an_integer_survives_encoding_and_decoding_exactly(low: int, width: int, data: st.DataObject) -> None:
    value = data.draw(st.integers(low, low + width))
    p = Integer(low, low + width)
    assert p.decode(np.asarray(p.encode(value))) == value


@given(st.integers(1, 10**6), st.integers(0, 10**6), st.data())
def test_a_log_integer_survives_encoding_and_decoding_exactly(low: int, width: int, data: st.DataObject) -> None:
    value = data.draw(st.integers(low, low + width))
    p = Integer(low, low + width, log=True)
    assert p.decode(np.asarray(p.encode(value))) == value


@given(st.lists(st.one_of(st.integers(), st.text(), st.none()), min_size=1, max_size=6, unique=True), st.data())
def test_a_choice_survives_encoding_and_decoding(choices: list[object], data: st.DataObject) -> None:
    value = data.draw(st.sampled_from(choices))
    p = Categorical(choices)
    assert p.decode(np.asarray(p.encode(value))) == value


@given(finite, finite, unit)
def test_a_decoded_real_lies_within_the_bounds(low: float, high: float, u: float) -> None:
    assume(low < high)
    assert low <= Real(low, high).decode(np.asarray([u])) <= high


@given(finite, finite, unit)
def test_an_encoded_real_lies_in_the_unit_interval(low: float, high: float, u: float) -> None:
    assume(low < high)
    (column,) = Real(low, high).encode(Real(low, high).decode(np.asarray([u])))
    assert 0.0 <= column <= 1.0


def test_the_bounds_encode_as_0_and_1() -> None:
    for p in (Real(-3.0, 7.0), Real(1e-5, 1e3, log=True), Integer(-4, 9), Integer(1, 1000, log=True)):
        assert (p.encode(p.low), p.encode(p.high)) == ((0.0,), (1.0,))


@pytest.mark.parametrize("bounds", [(0.0005, 0.01), (0.3, 0.7), (1e-9, 1e9)])
def test_bounds_of_a_log_parameter_are_as_written(bounds: tuple[float, float]) -> None:
    space = Space.of([Real(*bounds, log=True)])
    assert [space.decode(np.asarray([u]))[0] for u in (0.0, 1.0)] == list(bounds)


def test_a_log_parameter_has_its_geometric_mean_in_the_middle() -> None:
    assert Real(1e-4, 1e2, log=True).decode(np.asarray([0.5])) == pytest.approx(0.1, rel=1e-13)


def test_a_point_of_every_space_survives_the_way_there_and_back(space: Space) -> None:
    rng = np.random.default_rng(1)
    for row in space.from_uniform(rng.random((50, space.d))):
        np.testing.assert_allclose(space.encode(space.decode(row)), row, atol=1e-14)


def test_a_decoded_point_is_a_valid_one(space: Space) -> None:
    rng = np.random.default_rng(2)
    for row in rng.random((50, space.n_inputs)):
        values = space.decode(row)
        assert space.validate(values) == values


def test_snapping_twice_is_snapping_once(space: Space) -> None:
    rng = np.random.default_rng(3)
    once = space.snap(rng.uniform(-0.2, 1.2, (4, 25, space.n_inputs)))
    np.testing.assert_array_equal(space.snap(once), once)


def test_snapping_gives_points_that_decode_and_encode_to_themselves(space: Space) -> None:
    rng = np.random.default_rng(4)
    for row in space.snap(rng.uniform(-0.2, 1.2, (25, space.n_inputs))):
        np.testing.assert_allclose(space.encode(space.decode(row)), row, atol=1e-14)


def test_a_design_point_is_a_valid_one(space: Space) -> None:
    rng = np.random.default_rng(5)
    units = space.from_uniform(rng.random((100, space.d)))
    np.testing.assert_allclose(space.snap(units), units, atol=1e-14)


def test_the_number_of_inputs_is_one_per_number_and_one_per_choice() -> None:
    assert Space.of(SPACES["mixed"]).n_inputs == 4 + 3


# --- uniform numbers


def test_every_integer_is_equally_likely() -> None:
    space = Space.of([Integer(-4, 9)])
    u = (np.arange(14_000) + 0.5) / 14_000
    values = [space.decode(row)[0] for row in space.from_uniform(u[:, None])]
    assert np.unique(values, return_counts=True)[1].tolist() == [1000] * 14


def test_every_choice_is_equally_likely() -> None:
    space = Space.of([Categorical(["a", "b", "c"])])
    u = (np.arange(3000) + 0.5) / 3000
    values = [space.decode(row)[0] for row in space.from_uniform(u[:, None])]
    assert [values.count(c) for c in "abc"] == [1000] * 3


def test_uniform_numbers_at_the_ends_stay_inside() -> None:
    space = Space.of(SPACES["mixed"])
    for u in (0.0, np.nextafter(1.0, 0.0)):
        values = space.decode(space.from_uniform(np.full((1, space.d), u))[0])
        assert space.validate(values) == values


# --- neighbours


def test_an_integer_has_its_neighbours_one_step_up_and_down() -> None:
    assert Integer(0, 9).neighbours(4) == [3, 5]


def test_an_integer_at_a_bound_has_one_neighbour() -> None:
    assert (Integer(0, 9).neighbours(0), Integer(0, 9).neighbours(9)) == ([1], [8])


def test_a_choice_has_all_the_others_as_neighbours() -> None:
    assert Categorical(["a", "b", "c"]).neighbours("b") == ["a", "c"]


def test_neighbours_of_a_point_differ_in_one_discrete_parameter() -> None:
    space = Space.of([(0.0, 1.0), Integer(0, 5), Categorical("pqr")])
    around = [space.decode(row) for row in space.neighbours(space.encode((0.25, 2, "q")))]
    assert around == [(0.25, 1, "q"), (0.25, 3, "q"), (0.25, 2, "p"), (0.25, 2, "r")]


def test_a_fixed_parameter_is_no_step() -> None:
    assert not Space.of([(0.0, 1.0), (2.0, 2.0), Categorical(["only"])]).has_steps


def test_integers_and_choices_are_steps() -> None:
    assert Space.of([(0.0, 1.0), Integer(1, 2)]).has_steps
    assert Space.of([Categorical(["a", "b"])]).has_steps


def test_each_category_has_equal_shares_in_its_inputs() -> None:
    pools = Space.of([(0.0, 1.0), Categorical(["a", "b"]), Integer(1, 3), Categorical("uvw")]).pools
    third = 1 / 3
    assert pools is not None
    assert pools.tolist() == [[0, 0.5, 0.5, 0, 0, 0, 0], [0, 0, 0, 0, third, third, third]]


def test_without_categories_there_are_no_shares() -> None:
    assert Space.of([(0.0, 1.0), Integer(1, 3)]).pools is None


def test_a_real_space_has_no_neighbours() -> None:
    assert Space.of([(0.0, 1.0)]).neighbours(np.asarray([0.3])).shape == (0, 1)


# --- extreme ranges


def test_a_range_of_2e308_does_not_overflow() -> None:
    p = Real(-1e308, 1e308)
    assert [p.encode(v)[0] for v in (-1e308, 0.0, 1e308)] == [0.0, 0.5, 1.0]
    assert [p.decode(np.asarray([u])) for u in (0.0, 0.5, 1.0)] == [-1e308, 0.0, 1e308]


def test_a_log_range_of_600_decades_does_not_overflow() -> None:
    p = Real(1e-300, 1e300, log=True)
    assert p.decode(np.asarray([0.5])) == pytest.approx(1.0, rel=1e-12)


def test_a_range_of_one_unit_in_the_last_place_has_its_two_ends() -> None:
    high = math.nextafter(1.0, 2.0)
    p = Real(1.0, high)
    assert (p.encode(1.0), p.encode(high)) == ((0.0,), (1.0,))


def test_the_smallest_range_there_is_does_not_divide_by_zero() -> None:
    p = Real(0.0, 5e-324)
    assert (p.encode(0.0), p.encode(5e-324)) == ((0.0,), (1.0,))


def test_a_huge_integer_range_decodes_within_its_bounds() -> None:
    p = Integer(-(10**18), 10**18)
    for u in (0.0, 0.1, 0.7, 1.0):
        value = p.decode(np.asarray([u]))
        assert p.accepts(value)
        assert type(value) is int


# --- what comes in


def test_bounds_may_be_an_array() -> None:
    assert Space.of(np.asarray([[0.0, 1.0], [2.0, 3.0]])).parameters == (Real(0.0, 1.0), Real(2.0, 3.0))


def test_a_space_is_taken_as_it_is() -> None:
    space = Space.of([(0, 1)])
    assert Space.of(space) is space


def test_a_named_point_may_be_given_in_any_order() -> None:
    space = Space.of({"a": (0, 1), "b": (0, 2)})
    assert space.validate({"b": 2, "a": 1}) == (1.0, 2.0)


def test_numpy_scalars_become_python_numbers() -> None:
    values = Space.of([(0, 1), Integer(0, 5)]).validate([np.float32(0.5), np.int64(3)])
    assert [type(v) for v in values] == [float, int]


def test_an_integral_float_is_an_integer() -> None:
    (value,) = Space.of([Integer(0, 5)]).validate([3.0])
    assert type(value) is int


def test_a_one_dimensional_point_may_be_a_number() -> None:
    assert Space.of([(0, 1)]).validate(0.5) == (0.5,)


def test_a_finite_space_knows_its_size() -> None:
    assert Space.of([Integer(1, 4), Categorical("ab")]).n_values == 8


def test_a_finite_space_lists_all_its_points() -> None:
    assert len(set(Space.of([Integer(1, 4), Categorical("ab")]).all_points())) == 8


def test_integer_bounds_given_as_floats_still_give_python_integers() -> None:
    space = Space.of([Integer(1.0, 5.0)])  # type: ignore[arg-type]
    assert [type(space.decode(np.asarray([u]))[0]) for u in (0.0, 0.4, 1.0)] == [int] * 3


BAD_BOUNDS = {
    "reversed": [(1.0, 0.0)],
    "nan": [(math.nan, 1.0)],
    "inf": [(0.0, math.inf)],
    "minus inf": [(-math.inf, 0.0)],
    "strings": [("0", "1")],
    "none": [(None, 1.0)],
    "booleans": [(False, True)],
    "complex": [(0, 1j)],
    "an integer beyond float": [(0, 10**400)],
    "fractions": [(Fraction(0), Fraction(1, 2))],
    "one number": [(1.0,)],
    "three numbers": [(0.0, 1.0, 2.0)],
    "a number for a pair": [5.0],
    "a string for a pair": ["01"],
    "no list": 5.0,
    "a string": "ab",
    "a 0-d array": np.asarray(1.0),
    "a 1-d array": np.asarray([0.0, 1.0]),
    "nothing": None,
    "empty list": [],
    "empty dict": {},
    "one parameter not in a list": Real(0.0, 1.0),
    "log from 0": [Real(0.0, 1.0, log=True)],
    "log from below 0": [Real(-1.0, 1.0, log=True)],
    "log integer from 0": [Integer(0, 10, log=True)],
    "integer reversed": [Integer(5, 1)],
    "integer nan": [Integer(math.nan, 5)],  # type: ignore[arg-type]
    "integer not whole": [Integer(0, 2.5)],  # type: ignore[arg-type]
    "integer strings": [Integer("0", "5")],  # type: ignore[arg-type]
    "integer beyond float": [Integer(0, 10**400)],
    "no choices": [Categorical([])],
    "equal choices": [Categorical(["a", "b", "a"])],
    "good then bad": [(0, 1), (3, 2)],
    "bad in a dict": {"a": (0, 1), "b": (0, math.nan)},
}


@pytest.mark.parametrize("bounds", BAD_BOUNDS.values(), ids=BAD_BOUNDS)
def test_bad_bounds_are_rejected_with_a_three_part_message(bounds: object, rejects) -> None:
    with rejects():
        Space.of(bounds)


def test_the_message_about_a_bad_bound_names_the_parameter(rejects) -> None:
    with pytest.raises(ValueError, match="viscosity"):
        Space.of({"density": (0, 1), "viscosity": (2, 1)})


MIXED = {"a": (0.0, 1.0), "n": Integer(0, 5), "c": Categorical(["u", "v"])}
BAD_POINTS = {
    "too short": [0.5, 3],
    "too long": [0.5, 3, "u", 1],
    "nested": [[0.5, 3, "u"]],
    "real below": [-0.1, 3, "u"],
    "real above": [1.1, 3, "u"],
    "real nan": [math.nan, 3, "u"],
    "real string": ["0.5", 3, "u"],
    "real none": [None, 3, "u"],
    "real bool": [True, 3, "u"],
    "real array": [np.asarray([0.5]), 3, "u"],
    "integer not whole": [0.5, 3.5, "u"],
    "integer above": [0.5, 6, "u"],
    "integer inf": [0.5, math.inf, "u"],
    "integer beyond float": [0.5, 10**400, "u"],
    "unknown choice": [0.5, 3, "w"],
    "choice array": [0.5, 3, np.asarray(["u", "v"])],
    "a number": 0.5,
    "a string": "abc",
    "nothing": None,
    "missing name": {"a": 0.5, "n": 3},
    "unknown name": {"a": 0.5, "n": 3, "c": "u", "z": 1},
    "misspelt name": {"a": 0.5, "n": 3, "C": "u"},
}


@pytest.mark.parametrize("x", BAD_POINTS.values(), ids=BAD_POINTS)
def test_a_bad_point_is_rejected_with_a_three_part_message(x: object, rejects) -> None:
    with rejects():
        Space.of(MIXED).validate(x)


def test_bounds_of_one_parameter_without_a_list_are_refused_with_the_list():
    with pytest.raises(InvalidInputError, match=r"got the two numbers \(0, 1\); try \[\(0, 1\)\]"):
        Space.of((0, 1))


def test_a_point_with_a_wrong_name_is_refused_with_the_name_that_is_missing():
    with pytest.raises(InvalidInputError, match=r"try adding rate$"):
        Space.of({"rate": (0, 1)}).validate({"rat": 0.5})
