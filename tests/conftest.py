"""One BLAS thread for all tests: the engine limits itself, but many tests call its parts directly."""

import pytest
from threadpoolctl import threadpool_limits


@pytest.fixture(scope="session", autouse=True)
def _one_blas_thread():
    import scipy.linalg  # noqa: F401 - so that its BLAS is loaded and limited too

    with threadpool_limits(limits=1, user_api="blas"):
        yield
