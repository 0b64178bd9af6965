"""The paper's benchmark [NH18, section 4]: problems x policies x seeds x kernels, advanced in lock-step.

Members   A member is one optimization: (problem, policy, seed) under a kernel. All policies of a seed start from the
          same Latin hypercube: the tests are paired. Everything else a member draws depends on problem, policy, seed
          and iteration alone.
Groups    Members that advance together: on a GPU all problems of one dimension with some policies, on a CPU the
          seeds of one problem and policy. `advance` is a pure function of a group and its state, so a
          study can stop anywhere, run on any executor, and go on to the same bits on the same kind of device.
RND       asks no model: it is run once and stands in the tables of both kernels, as the paper's MES (SE only) does.
Shapes    X (R, n, d) in the unit cube, y (R, n).
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from surefoot.acquisition.registry import PAPER_POLICIES, check_policy
from surefoot.backend import reference_on
from surefoot.engine.batch import Batch
from surefoot.engine.searches import PAPER_MODEL
from surefoot.engine.suggest import initial_design, suggest
from surefoot.engine.warmth import Warmth
from surefoot.errors import InvalidInputError
from surefoot.gp.kernels import get_kernel
from surefoot.optimize.settings import Settings
from surefoot.optimize.space import Space
from surefoot.paper import problems
from surefoot.paper.labels.comparisons import Distances

NO_KERNEL = "none"  # of runs that ask no model
AGAIN = "ScaledEI again"  # ScaledEI with other search seeds from the same designs: the A/A control
MAX_TOGETHER = 80  # members of a group on a GPU: the study takes as long as its largest group
_PROBLEMS = tuple(problem.abbreviation for problem in problems.ALL)
_OTHER = ""  # any policy that is not named here
# fixed for ever: a policy's place enters its draws
_ORDER = (*PAPER_POLICIES, AGAIN, "alternate", "MES-R", _OTHER, "ES", "PES")


def _place(policy: str) -> int:
    return _ORDER.index(policy if policy in _ORDER else _OTHER)


@dataclass(frozen=True, order=True)
class Member:
    """One optimization."""

    policy: str
    problem: str
    seed: int

    @property
    def number(self) -> int:
        """A number of its own, whatever else the study holds: random draws derive from it."""
        return (_PROBLEMS.index(self.problem) * 64 + _place(self.policy)) * 65536 + self.seed


@dataclass(frozen=True)
class Group:
    """Optimizations of one dimension and kernel that advance in lock-step, equal policies side by side."""

    kernel: str
    search: str
    n_max: int
    members: tuple[Member, ...]
    min_noise: float = 0.0  # see Settings; in no name: each value has a folder of its own

    @property
    def name(self) -> str:
        """Of its file."""
        found = sorted({m.problem for m in self.members}), sorted({m.policy.replace(" ", "-") for m in self.members})
        seeds = {m.seed for m in self.members}
        return "_".join([self.kernel, self.search, *("+".join(part) for part in found), f"{min(seeds)}-{max(seeds)}"])

    @property
    def reading(self) -> str:
        """How policies are searched, and with how much noise at least, in words."""
        return f"{self.search}, noise at least {self.min_noise:g}" if self.min_noise else self.search

    @property
    def d(self) -> int:
        """Inputs of its problems."""
        return problems.get(self.members[0].problem).d


@dataclass(frozen=True)
class State:
    """How far a group is."""

    X: np.ndarray  # (R, n, d)
    y: np.ndarray  # (R, n)
    warmth: Warmth
    seconds: float  # of computing so far

    @property
    def n(self) -> int:
        """Evaluations done by every member."""
        return int(self.y.shape[1])


@dataclass(frozen=True)
class Way:
    """How every member is optimized, but for its kernel and policy."""

    n_max: int
    search: str = "paper"
    min_noise: float = 0.0


def plan(
    kernels: Sequence[str],
    policies: Sequence[str],
    names: Sequence[str],
    seeds: range,
    way: Way,
    *,
    together: bool,
) -> list[Group]:
    """The groups of a study, the longest first; together: all problems of one dimension (for a GPU)."""
    for kernel in kernels:
        get_kernel(kernel)
    chosen = [AGAIN if policy.lower() == AGAIN.lower() else check_policy(policy) for policy in policies]
    found = [problems.get(name) for name in names]
    too_small = [p.abbreviation for p in found if 10 * p.d > way.n_max]
    if too_small:
        raise InvalidInputError(
            f"expected n_max above the initial design of 10 d points; got {way.n_max} for {', '.join(too_small)}; "
            "try 200"
        )
    groups = []
    for d in sorted({p.d for p in found}, reverse=True):
        of_d = [p.abbreviation for p in found if p.d == d]
        for kernel in (*kernels, NO_KERNEL):
            wanted = [p for p in chosen if (p == "RND") == (kernel == NO_KERNEL)]
            wanted = [p for p in wanted if not (p.startswith("MES") and kernel != "se" and "se" in kernels)]
            members = sorted(Member(policy, name, seed) for policy in wanted for name in of_d for seed in seeds)
            if kernel == NO_KERNEL:
                parts = [members]
            elif together:
                parts = [[m for m in members if m.policy in some] for some in _shares(wanted, len(members))]
            else:
                parts = [[m for m in members if (m.problem, m.policy) == (n, p)] for p in wanted for n in of_d]
            groups += [Group(kernel, way.search, way.n_max, tuple(part), way.min_noise) for part in parts if part]
    return groups


def _shares(policies: Sequence[str], n_members: int) -> list[Sequence[str]]:
    """The policies in equal shares of at most MAX_TOGETHER members; one policy is never divided."""
    if not policies:
        return []
    n_shares = math.ceil(len(policies) / max(1, MAX_TOGETHER * len(policies) // n_members))
    return [policies[i::n_shares] for i in range(n_shares)]


def _settings(group: Group, seed: int = 0) -> Settings:
    kernel = "se" if group.kernel == NO_KERNEL else group.kernel
    n_init = 10 * group.d
    model = {**PAPER_MODEL, "kernel": kernel, "min_noise": group.min_noise}
    return Settings.of(seed=seed, n_init=n_init, search=group.search, failures="ignore", **model)


def _evaluate(group: Group, x: np.ndarray) -> np.ndarray:
    """Values (R, ...) at x (R, ..., d) in the unit cube."""
    y = np.empty(x.shape[:-1])
    for name in {member.problem for member in group.members}:
        rows = [r for r, member in enumerate(group.members) if member.problem == name]
        problem = problems.get(name)
        low, high = np.asarray(problem.lower), np.asarray(problem.upper)
        y[rows] = problem(low + x[rows] * (high - low))
    return y


def _origin(member: Member) -> np.ndarray:
    """Where the zero of the problem's own coordinates lies in the unit cube, (d,)."""
    problem = problems.get(member.problem)
    return Space.of(list(zip(problem.lower, problem.upper, strict=True))).origin


def begin(group: Group) -> State:
    """The initial designs, evaluated."""
    space = Space.of([(0.0, 1.0)] * group.d)
    designs = {seed: initial_design(space, _settings(group).spec, seed) for seed in {m.seed for m in group.members}}
    X = np.stack([designs[member.seed] for member in group.members])
    return State(X, _evaluate(group, X), Warmth(), 0.0)


def advance(
    group: Group, state: State, device: str, seconds: float = np.inf, stop: Callable[[], bool] = lambda: False
) -> State:
    """Go on until the end, or until so many seconds have passed or `stop` says so [NH18, Algorithm 1]."""
    space = Space.of([(0.0, 1.0)] * group.d)
    spec = _settings(group, seed=1).spec
    reference = reference_on(device)
    names = tuple("ScaledEI" if member.policy == AGAIN else member.policy for member in group.members)
    no_points = np.zeros((len(group.members), 0, group.d))
    numbers = tuple(member.number for member in group.members)
    origin = np.stack([_origin(member) for member in group.members])
    begin_s = time.monotonic()
    while state.n < group.n_max and time.monotonic() - begin_s < seconds and not stop():
        step_s = time.monotonic()
        batch = Batch(state.X, state.y, np.ones(state.y.shape, bool), no_points, numbers, policies=names, origin=origin)
        found = suggest(space, batch, state.n, spec, state.warmth, reference)
        state = State(
            np.concatenate([state.X, found.x[:, None]], axis=1),
            np.concatenate([state.y, _evaluate(group, found.x)[:, None]], axis=1),
            found.warmth,
            state.seconds + time.monotonic() - step_s,
        )
    return state


def distances(done: Sequence[tuple[Group, State]], kernel: str) -> Distances:
    """What the tests and figures of one kernel need, cut to the shortest trace; RND and MES from SE if need be."""
    traces: dict[tuple[str, str], dict[int, np.ndarray]] = {}
    own = {(m.problem, m.policy) for group, _ in done if group.kernel == kernel for m in group.members}
    for group, state in done:
        for member, y in zip(group.members, state.y, strict=True):
            key = (member.problem, member.policy)
            if group.kernel == kernel or (key not in own and member.policy in ("RND", "MES")):
                best = np.minimum.accumulate(y)
                traces.setdefault(key, {})[member.seed] = problems.get(member.problem).log10_distance(best)
    found: dict[tuple[str, str], np.ndarray] = {}
    for key in sorted(traces, key=_paper_order):
        by_seed = traces[key]
        n = min(map(len, by_seed.values()))
        found[key] = np.stack([by_seed[seed][:n] for seed in sorted(by_seed)])
    return found


def _paper_order(key: tuple[str, str]) -> tuple[int, int]:
    problem, policy = key
    return _PROBLEMS.index(problem), _place(policy)
