"""Helpers of the tests of the user-facing layer."""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager

import numpy as np
import pytest
from hypothesis import settings

from surefoot import problems
from surefoot.errors import InvalidInputError
from surefoot.optimize.space import Space

# the same examples every time, and no limit on how long one may take
settings.register_profile("surefoot", deadline=None, derandomize=True)
settings.load_profile("surefoot")

Rejects = Callable[..., AbstractContextManager[None]]


@pytest.fixture(scope="session")
def branin() -> problems.Problem:
    return problems.get("BRA")


@pytest.fixture(scope="session")
def rejects() -> Rejects:
    """A context in which an InvalidInputError with all three parts of a message must be raised."""

    @contextmanager
    def context(kind: type[InvalidInputError] = InvalidInputError) -> Iterator[None]:
        with pytest.raises(kind) as caught:
            yield
        message = str(caught.value)
        missing = [part for part in ("expected", "got", "try") if part not in message]
        assert not missing, f"{missing} not in the message: {message}"

    return context


@pytest.fixture(scope="session")
def closest_pair() -> Callable[[Space, list[object]], float]:
    """The smallest L-infinity distance, in the unit cube, between two of the points."""

    def smallest(space: Space, points: list[object]) -> float:
        units = np.asarray([space.encode(space.validate(x)) for x in points])
        distance = np.abs(units[:, None] - units[None]).max(axis=2)
        return float(distance[np.triu_indices(len(units), 1)].min())

    return smallest
