"""Optuna's own tests of a sampler."""

import pytest
from optuna.testing.pytest_samplers import BasicSamplerTestCase, RelativeSamplerTestCase, SingleOnlySamplerTestCase

from surefoot.integrations.optuna import SurefootSampler

# small finite spaces are exhausted in some of them; the sampler says so, and they want it to go on
pytestmark = pytest.mark.filterwarnings("ignore:every point has been evaluated")


class TestConformance(BasicSamplerTestCase, RelativeSamplerTestCase, SingleOnlySamplerTestCase):
    @pytest.fixture
    def sampler(self):
        return lambda: SurefootSampler(n_init=2, when_exhausted="repeat")
