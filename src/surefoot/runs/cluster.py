"""A Dask cluster as an executor."""

from __future__ import annotations

from concurrent.futures import Executor
from typing import Any

from surefoot.errors import InvalidInputError, MissingExtraError


def connect(address: str) -> tuple[Any, Executor, int]:
    """The client, its executor and the number of evaluations that can run at a time."""
    try:
        from distributed import Client
    except ImportError as error:
        raise MissingExtraError(
            "expected Dask's distributed; it is not installed; try pip install 'surefoot[dask]'"
        ) from error
    try:
        client = Client(address, timeout="10s")
        threads = sum(client.nthreads().values())
    except (OSError, TimeoutError, ValueError, TypeError) as error:
        raise InvalidInputError(
            f"expected the address of a Dask scheduler; got {address!r} ({error}); try tcp://host:8786"
        ) from None
    if not threads:
        client.close()
        raise InvalidInputError(f"expected a Dask cluster with workers; {address} has none; try dask worker {address}")
    return client, client.get_executor(retries=0), threads
