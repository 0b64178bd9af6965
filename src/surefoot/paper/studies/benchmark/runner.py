"""Runs the groups of a benchmark on any executor, in slices, with a checkpoint after each.

A slice is `advance` for some seconds: a pure function from state to state. Only this process writes files, so workers
may be processes here, sharing a GPU, or Dask workers elsewhere; kill -9 loses at most the slices under way.
"""

from __future__ import annotations

import json
import math
import os
import shutil
import signal
import statistics
import subprocess
import tempfile
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Executor, Future, wait
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from pathlib import Path

import numpy as np

from surefoot import backend
from surefoot.engine.warmth import Warmth
from surefoot.errors import InvalidInputError
from surefoot.execute.pool import worker_pool
from surefoot.gp.hyperparameters import FitState
from surefoot.paper.resumable import save_whole
from surefoot.paper.studies.benchmark.study import Group, Member, State, advance, begin

SLICE_S = 60.0  # seconds between checkpoints of a group


def save(group: Group, state: State, folder: Path) -> None:
    """Write a checkpoint, whole or not at all."""
    fit, fields = state.warmth.objective, asdict(group)
    fitted = {} if fit is None else {"theta": fit.theta, "inv_hessian": fit.inv_hessian, "n_cold": fit.n_cold}
    save_whole(
        folder / f"{group.name}.npz",
        group=json.dumps({"runs": fields.pop("members"), **fields}),
        X=state.X,
        y=state.y,
        seconds=state.seconds,
        **fitted,
    )


def load(path: Path) -> tuple[Group, State]:
    """Read a checkpoint."""
    with np.load(path) as data:
        fields = json.loads(str(data["group"]))
        members = tuple(Member(**member) for member in fields.pop("runs"))  # their name in the file
        group = Group(**fields, members=members)
        fit = None
        if "theta" in data:
            n_cold = np.broadcast_to(data["n_cold"], len(data["theta"]))  # one number in older checkpoints
            fit = FitState(data["theta"], data["inv_hessian"], tuple(n_cold.tolist()))
        return group, State(data["X"], data["y"], Warmth(fit), float(data["seconds"]))


def load_all(folder: Path) -> list[tuple[Group, State]]:
    """All checkpoints of a folder."""
    found = [load(path) for path in sorted(folder.glob("*.npz"))]
    if not found:
        raise InvalidInputError(f"expected checkpoints in {folder}; got none; try the study without --only-tables")
    return found


def resume(group: Group, folder: Path) -> State:
    """The group's last checkpoint, or its beginning; a longer run's first part serves a shorter study."""
    path = folder / f"{group.name}.npz"
    if not path.exists():
        return begin(group)
    found, state = load(path)
    if replace(found, n_max=group.n_max) != group:
        raise InvalidInputError(
            f"expected {path} to hold the runs of this study; got {len(found.members)} others; "
            "try another --out, or the options it was begun with"
        )
    return state


@dataclass(frozen=True)
class Progress:
    """For whoever shows it."""

    done: int  # evaluations
    total: int
    seconds_left: float  # estimate, NaN while unknown


@dataclass(frozen=True)
class Workers:
    """Who advances groups, and on what."""

    executor: Executor
    n: int
    device: str  # as backend.reference_on takes it


def advance_all(
    groups: Sequence[Group],
    folder: Path,
    workers: Workers,
    *,
    time_limit_s: float = math.inf,
    slice_s: float = SLICE_S,
    show: Callable[[Progress], None] = lambda progress: None,
) -> bool:
    """Advance every group to its end, checkpoints in `folder`; False if the time limit came first.

    A group that finds too little memory on the GPU is tried again later, with fewer groups beside it.

    Interrupted (KeyboardInterrupt) it lets the slices under way end, which workers do within a step, and keeps them.
    """
    folder.mkdir(parents=True, exist_ok=True)
    began = time.monotonic()
    states = {group: resume(group, folder) for group in groups}
    waiting = deque(group for group in groups if states[group].n < group.n_max)
    running: dict[Future[State | None], Group] = {}
    total = sum(len(group.members) * group.n_max for group in groups)
    n_workers = workers.n

    def collect(finished: set[Future[State | None]]) -> None:
        nonlocal n_workers
        alone = len(running) == 1
        for future in finished:
            group, state = running.pop(future), future.result()
            if state is None:
                if alone:
                    raise InvalidInputError(
                        f"expected memory for {len(group.members)} runs of {states[group].n} evaluations on "
                        f"{workers.device}; got too little; try fewer --seeds or --policy at a time"
                    )
                n_workers = max(1, n_workers - 1)
                waiting.append(group)
                continue
            states[group] = state
            save(group, state, folder)
            if states[group].n < group.n_max:
                waiting.appendleft(group)  # finish what is begun
        done = sum(len(group.members) * min(states[group].n, group.n_max) for group in groups)
        show(Progress(done, total, _left(groups, states, n_workers)))

    def left() -> float:
        return time_limit_s - (time.monotonic() - began)

    try:
        while running or (waiting and left() > 0.0):
            while waiting and len(running) < n_workers and left() > 0.0:
                group = waiting.popleft()
                seconds = min(slice_s, left())
                future = workers.executor.submit(advance_slice, group, states[group], workers.device, seconds)
                running[future] = group
            collect(wait(running, return_when=FIRST_COMPLETED).done)
    except KeyboardInterrupt:
        collect(wait(running).done)
        raise
    return not waiting


def _left(groups: Sequence[Group], states: dict[Group, State], n_workers: int) -> float:
    """Seconds left, at each group's own pace; at that of the others for one that has not begun."""

    def total(n: int) -> float:
        """If each step costs 1 + (n / 500)^2: twice as much at n = 500 as at first."""
        return n + n**3 / (3.0 * 500.0**2)

    def work(group: Group, n: int) -> float:
        return total(n) - total(10 * group.d)

    begun = [group for group in groups if states[group].n > 10 * group.d and states[group].seconds > 0.0]
    if not begun:
        return math.nan
    pace = {group: states[group].seconds / work(group, states[group].n) for group in begun}
    usual = statistics.median(pace.values())
    own = [
        pace.get(group, usual) * max(0.0, work(group, group.n_max) - work(group, states[group].n)) for group in groups
    ]
    return max(max(own), sum(own) / n_workers)


_interrupted = False


def advance_slice(group: Group, state: State, device: str, seconds: float) -> State | None:
    """`advance` in a worker: ends early, with what it has, when Ctrl-C reached the worker too.

    None: the GPU's memory, which other workers use too, was not enough.
    """
    try:
        return advance(group, state, device, seconds, stop=lambda: _interrupted)
    except Exception as error:
        if type(error).__name__ != "OutOfMemoryError":  # PyTorch's, which need not be installed
            raise
        return None
    finally:
        backend.release_gpu()


def _prepare_worker(n_processes: int) -> None:
    def note(*_: object) -> None:
        global _interrupted
        _interrupted = True

    signal.signal(signal.SIGINT, note)
    backend.share_gpu(n_processes)


@contextmanager
def shared_gpu() -> Iterator[bool]:
    """NVIDIA's multi-process service, for this study alone; yields whether it runs.

    A group of runs is bound by the time it takes to launch small kernels: side by side, groups fill a GPU. Without
    the service the driver gives the GPU to one process at a time, and many take longer than one.
    """
    program = shutil.which("nvidia-cuda-mps-control")
    if program is None:
        yield False
        return
    with tempfile.TemporaryDirectory(prefix="surefoot-mps-") as folder:
        own = {"CUDA_MPS_PIPE_DIRECTORY": folder, "CUDA_MPS_LOG_DIRECTORY": folder}
        before = {name: os.environ.get(name) for name in own}
        os.environ.update(own)  # the workers inherit it
        try:
            started = subprocess.run([program, "-d"], capture_output=True).returncode == 0
            yield started
        finally:
            subprocess.run([program], input=b"quit\n", capture_output=True)
            for name, value in before.items():
                if value is None:
                    del os.environ[name]
                else:
                    os.environ[name] = value


def local_executor(n_workers: int) -> Executor:
    """Processes of this machine."""
    return worker_pool(n_workers, _prepare_worker, n_workers)
