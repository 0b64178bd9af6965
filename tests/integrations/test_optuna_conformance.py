"""Optuna's own tests of a sampler."""

import pytest
from optuna.testing.pytest_samplers import BasicSamplerTestCase, RelativeSamplerTestCase, SingleOnlySamplerTestCase

from surefoot.integrations.optuna import SurefootSampler

# small finite spaces are exhausted in some of them, and the sampler says so
pytestmark = pytest.mark.filterwarnings("ignore:a random point instead of a suggestion")


class TestConformance(BasicSamplerTestCase, RelativeSamplerTestCase, SingleOnlySamplerTestCase):
    @pytest.fixture
    def sampler(self):
        return lambda: SurefootSampler(n_init=2)
