"""One BLAS thread for all tests: the engine limits itself, but many tests call its parts directly.

In CI (CI=true) a test that is skipped is a failure: what it needs is to be installed there.
What thorough.txt names are longer or further cases of what other tests check: `make test` leaves them out.
Programs that a shell starts in the background ignore Ctrl-C, and so would all that the tests start: not here.
"""

import os
import signal
from pathlib import Path

import pytest
from threadpoolctl import threadpool_limits

if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


THOROUGH = tuple(line for line in Path(__file__).with_name("thorough.txt").read_text().splitlines() if line)


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items):
    for item in items:
        if item.nodeid.startswith(THOROUGH):
            item.add_marker("thorough")


@pytest.fixture(scope="session", autouse=True)
def _one_blas_thread():
    import scipy.linalg  # noqa: F401 - so that its BLAS is loaded and limited too

    with threadpool_limits(limits=1, user_api="blas"):
        yield


def _skipped(config) -> list:
    reporter = config.pluginmanager.get_plugin("terminalreporter")  # None in the workers of pytest-xdist
    return [] if reporter is None or os.environ.get("CI") != "true" else reporter.stats.get("skipped", [])


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session, exitstatus):
    if exitstatus == pytest.ExitCode.OK and _skipped(session.config):
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


def pytest_terminal_summary(terminalreporter, config):
    for report in _skipped(config):
        reason = report.longrepr[2] if isinstance(report.longrepr, tuple) else report.longrepr
        terminalreporter.write_line(f"skipped in CI, which counts as failed: {report.nodeid} ({reason})")
