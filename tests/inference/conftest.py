"""One synthetic patient and one inference, made once."""

import io
from contextlib import redirect_stdout

import pytest

from surefoot.inference.infer import Plan, infer
from surefoot.inference.synthesize import synthesize
from surefoot.pulmonary import Settings

TRUTH = (3.0e5, 5.0e4, 2.7)
ORIGINAL = Settings().with_variant("original")


@pytest.fixture(scope="session")
def patient():
    """All 22 signals."""
    return synthesize(TRUTH, seed=1)


@pytest.fixture(scope="session")
def small_patient():
    """Three signals, 64 samples, of the faster variant."""
    return synthesize(TRUTH, settings=ORIGINAL, seed=1, names=("p_MPA", "q_MPA", "p_LIA"), n_samples=64)


@pytest.fixture(scope="session")
def shown() -> io.StringIO:
    """What a person sees of that inference while it goes on."""
    return io.StringIO()


@pytest.fixture(scope="session")
def inferred(small_patient, shown):
    """A whole inference with a small budget."""
    with redirect_stdout(shown):
        return infer(small_patient, plan=Plan(n_evals=12, n_init=9), settings=ORIGINAL, progress=True)
