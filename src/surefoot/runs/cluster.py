"""A Dask cluster as an executor that survives its scheduler: it connects again when there is one at the address."""

from __future__ import annotations

import logging
from collections.abc import Callable
from concurrent.futures import CancelledError, Executor, Future
from contextlib import suppress
from typing import Any, TypeVar

from surefoot.errors import InvalidInputError, MissingExtraError

_TIMEOUT = "10s"  # of the first connection, and how long Dask itself tries to get a lost one back
_AGAIN_TIMEOUT = "3s"
T = TypeVar("T")


class Cluster(Executor):
    """Submits to a cluster, or raises ConnectionError that says what is missing: then try again later."""

    def __init__(self, address: str) -> None:
        self._address = address
        self._client = _client(address, _TIMEOUT)
        self.n_threads: int = sum(self._client.nthreads().values())  # evaluations that can run at a time

    def submit(self, fn: Callable[..., T], /, *args: Any, **kwargs: Any) -> Future[T]:
        """As any executor does."""
        if self._client.status == "closed":
            with suppress(OSError, TimeoutError):
                self._client = _client(self._address, _AGAIN_TIMEOUT)
        if self._client.status != "running":
            raise ConnectionError(f"the Dask scheduler at {self._address} does not answer")
        if not self._client.scheduler_info()["workers"]:
            raise ConnectionError(f"the Dask cluster at {self._address} has no workers")
        return _as_local(self._client.submit(fn, *args, pure=False, retries=0, **kwargs))

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """Leave the cluster, which goes on without us."""
        with suppress(Exception):  # it may have gone away
            self._client.close(timeout=5)


def _as_local(remote: Any) -> Future[Any]:
    """What comes of a future of Dask's, as a future of Python's own.

    That of Dask's own executor stays pending for ever if the scheduler goes away while a result is fetched.
    """
    local: Future[Any] = Future()

    def tell(_: Any) -> None:
        if not local.set_running_or_notify_cancel():
            return
        try:
            local.set_result(remote.result(timeout=_TIMEOUT))
        except (CancelledError, TimeoutError):
            local.set_exception(ConnectionError("its worker was lost"))
        except BaseException as error:
            local.set_exception(error)

    def cancel(ended: Future[Any]) -> None:
        if ended.cancelled():
            with suppress(Exception):  # the scheduler may have gone away
                remote.cancel()

    local.add_done_callback(cancel)
    remote.add_done_callback(tell)
    return local


def _client(address: str, timeout: str) -> Any:
    from distributed import Client

    # what it logs when a scheduler goes away are tracebacks; what matters is told by the run
    logging.getLogger("distributed.client").setLevel(logging.CRITICAL)
    return Client(address, timeout=timeout, set_as_default=False)


def connect(address: str) -> Cluster:
    """The cluster whose scheduler is at the address; leave it with `shutdown`, or as a context."""
    try:
        import distributed  # noqa: F401 - asked for here, to say what is missing
    except ImportError as error:
        raise MissingExtraError(
            "expected Dask's distributed; it is not installed; try pip install 'surefoot[dask]'"
        ) from error
    try:
        cluster = Cluster(address)
    except (OSError, TimeoutError, ValueError, TypeError) as error:
        raise InvalidInputError(
            f"expected the address of a Dask scheduler; got {address!r} ({error}); try tcp://host:8786"
        ) from None
    if not cluster.n_threads:
        cluster.shutdown()
        raise InvalidInputError(f"expected a Dask cluster with workers; {address} has none; try dask worker {address}")
    return cluster
