"""Which axis values are drawn on."""

import numpy as np
import pytest

from surefoot.optimize.scales import scale_of


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        (np.geomspace(1e-3, 1e3, 20), "log"),
        (np.linspace(1.0, 2.0, 20), "linear"),
        (np.linspace(-5.0, 5.0, 20), "linear"),
        (-np.geomspace(1.0, 1e4, 20), "symlog"),
        (np.concatenate([np.linspace(-1.0, 1.0, 20), [1e4]]), "symlog"),
        (np.concatenate([[0.0], np.geomspace(1e-4, 1e4, 20)]), "symlog"),
        (np.concatenate([np.linspace(1.0, 1.5, 60), [60.0]]), "log"),
        (np.concatenate([np.linspace(146.0, 480.0, 38), np.linspace(700.0, 5442.0, 7)]), "log"),
        (np.concatenate([np.linspace(146.0, 480.0, 30), np.linspace(700.0, 5442.0, 15)]), "linear"),
        (np.concatenate([np.linspace(5100.0, 5442.0, 38), np.linspace(146.0, 4900.0, 7)]), "linear"),  # the bad end
        (np.concatenate([np.linspace(1000.0, 1009.0, 38), [1100.0]]), "linear"),  # a logarithm changes nothing
        (np.array([1.0, 1.0, 1.0]), "linear"),
        (np.array([np.nan, 1e-9, 1.0]), "linear"),
        (np.zeros(0), "linear"),
    ],
)
def test_values_that_span_decades_are_drawn_on_a_logarithmic_axis(values, kind):
    assert scale_of(values).kind == kind


def test_bad_values_of_a_maximization_are_the_small_ones():
    values = np.concatenate([np.linspace(0.5, 1.0, 60), [-90.0]])
    assert scale_of(values, sign=-1.0).kind == "symlog"
    assert scale_of(-values).kind == "symlog"


@pytest.mark.parametrize("values", [np.geomspace(1e-3, 1e3, 20), np.linspace(-1e4, 3.0, 30), np.linspace(0.0, 1.0, 5)])
def test_contours_rise_from_the_least_value_to_the_largest(values):
    levels = scale_of(values).contours(values)["levels"]
    if not isinstance(levels, int):
        assert (np.diff(levels) > 0.0).all()
        assert (levels[0], levels[-1]) == (values.min(), values.max())
