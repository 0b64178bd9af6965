"""What may be given as the search space of the sampler."""

import pytest

from surefoot.errors import InvalidInputError
from surefoot.integrations.optuna import SurefootSampler


@pytest.mark.parametrize("given", [{"x": (0, 1)}, [("x", 0, 1)], {"x": None}], ids=str)
def test_a_search_space_of_anything_but_distributions_is_rejected(given) -> None:
    with pytest.raises(InvalidInputError, match=r"expected .*distributions.*got .*try search_space="):
        SurefootSampler(given)
