"""One call for somebody with a Python function: SciPy's habits, an OptimizeResult-like object back."""

from __future__ import annotations

import contextlib
import inspect
import os
import time
import warnings
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Executor
from typing import Any

from surefoot.engine.candidates import ENUMERATED
from surefoot.errors import (
    InvalidInputError,
    RunStoppedError,
    SpaceExhaustedError,
    SurefootWarning,
    TooManyFailuresError,
    WorkersLostError,
    described,
    shown,
)
from surefoot.execute.isolate import isolated
from surefoot.optimize.checks import as_integer, as_truth, has, is_a
from surefoot.optimize.evaluate import Guard, exception_classes
from surefoot.optimize.history import Evaluation, History
from surefoot.optimize.hopeless import check_max_failures, stop_if_hopeless
from surefoot.optimize.keywords import NOT_GIVEN, check_keywords
from surefoot.optimize.optimizer import Optimizer
from surefoot.optimize.outputs import check_named, history_of
from surefoot.optimize.parallel import in_parallel
from surefoot.optimize.progress import Progress
from surefoot.optimize.result import Result
from surefoot.optimize.settings import Settings
from surefoot.optimize.space import Space
from surefoot.optimize.start import Start, begin
from surefoot.optimize.stopping import Enough, stop_of
from surefoot.optimize.work import Work, one_by_one

Callback = Callable[[Result], Any]


def minimize(
    fun: Callable[[Any], Any],
    bounds: Any = None,
    *,
    constraints: Any = None,
    n_evals: int = 100,
    n_init: int | None = None,
    policy: str = NOT_GIVEN,
    kernel: str = NOT_GIVEN,
    noise: float | str = NOT_GIVEN,
    seed: int = NOT_GIVEN,
    x0: Any = None,
    y0: Any = None,
    history: History | str | os.PathLike[str] | None = None,
    resume: str | os.PathLike[str] | None = None,
    objective: str | None = None,
    outputs: Mapping[str, str] = NOT_GIVEN,
    maximize: bool = NOT_GIVEN,
    callback: Callback | None = None,
    executor: Executor | None = None,
    n_workers: int | None = None,
    timeout: float | None = None,
    isolate: str | None = None,
    memory_limit_mb: float | None = None,
    retry_on: type[BaseException] | tuple[type[BaseException], ...] = (),
    n_retries: int = 2,
    max_failures: int | float | None = 50,
    stop: Mapping[str, Any] | None = None,
    progress: bool = False,
    device: str = "cpu",
    **settings: Any,
) -> Result:
    """Minimize an expensive function that may fail.

    fun       called with an array (dict, if bounds is a dict; list, if types are mixed); returns a number, or a dict of
              numbers by name. An exception, NaN or an infinity is a failed evaluation: recorded, learned from, never
              repeated. `surefoot.Failed(reason, outputs=…, progress=…)` is one that says what is known all the same.
    bounds    a list or dict of (low, high), `Real`, `Integer` or `Categorical`, or scipy.optimize.Bounds; a parameter
              with low = high is fixed
    constraints  known ones on the parameters, a list (or a dict by name) of texts, "d_inner + 0.001 <= d_outer" or
              "a + b + c == 1", and functions of the point as a dict (names x0, x1, … without names in bounds) that
              return True or a number >= 0 where it is allowed. No point that violates one is evaluated, but for
              those that you give. See docs/howto/constraints.md
    n_evals   evaluations in total, failed ones and those of `history` and `x0` included
    n_init    evaluations of the initial Latin hypercube: 2 per parameter and 2 more, at most 14 and half of n_evals
    policy    what to maximize: "alternate", the default (two EI steps, one ScaledEI step), or RND, MN, LCB, PI, EI,
              MES, MES-R, ScaledEI, or one of your own (register_policy)
    kernel    of the objective: "matern52" (twice differentiable), "se" (smooth), "matern52-sums" (nearly a sum of
              functions of one input each), or "auto", the likeliest of them; "no-sums", the likelier of the first two
    noise     "estimate" (the default), 0 for a deterministic function, or the standard deviation of the noise
    x0, y0    points to start from (a list, an array, a data frame with the parameters' names) and their values;
              those without values are evaluated first. Points that `history` or `resume` has are passed over
    history   of an earlier result, or the path of its file, for these bounds and settings
    resume    the path of a file that `result.save` or `Optimizer.save` wrote: bounds, settings and evaluations are in
              it. 50 evaluations = 25, saved and resumed, and 25 more, if both runs have the same n_init (the default
              is the same for all n_evals from 4 per parameter and 4 more on, or from 28 on)
    objective the name of the output to minimize, where fun returns several; default: the only one without a limit
    outputs   limits on outputs that fun returns by name: {"stress": "<= 250e6", "sag": "between -1e-3 and 1e-3",
              "gain": ">= 3", "flow": "= 5 within 0.01"}. The result is the best point that meets all of them;
              "<= 250e6 margin 5e6" aims 5e6 inside (docs/howto/constraints.md)
    seed      of all random numbers; default 0
    maximize  look for the largest value instead; results, histories and callbacks have your sign
    callback  called with the result so far after each evaluation; StopIteration stops the run
    executor  any concurrent.futures.Executor, for parallel evaluations, n_workers at a time
    timeout   seconds an evaluation may take; then it is stopped (it runs in a process of its own) and has failed
    isolate   "process": every evaluation in a process of its own; a segmentation fault, os._exit, sys.exit or lack of
              memory is then a failed evaluation. memory_limit_mb: what it may add to the memory in use
    retry_on  exceptions that are transient (say, OSError): tried again n_retries times, and never learned from
    max_failures  TooManyFailuresError after so many failures in a row; a float: when that share of all evaluations has
              failed, judged after the initial design and from the 21st on; None: never
    stop      what ends the run early: {"target": 1.0, "stagnation": 40, "failures": 20, "hours": 8, "gain": {…}},
              any of them: a value as good as the target, so many evaluations without a better one, failures in all,
              hours; {"more_than": "1 %", "probability": 0.05}: a gain in 20 more evaluations is that unlikely
    progress  show a progress bar
    device    where suggestions are computed: "cpu" (NumPy), "cuda" (a GPU, "cuda:1" the second one) or "torch" (PyTorch
              on the CPU); it is not saved, a run may go on elsewhere. See docs/howto/gpu.md
    settings  search="gradient", or the paper's: "paper", "paper-absolute" or "paper-bayesopt",
              failures="experts", "label-regression", "laplace", "ep", "impute" or "ignore",
              min_success=0.7 (P(success) below which points are avoided; 0: the paper's product), cost="time" (weigh
              failures by how long they take), failure_budget (failures after which min_success is 0.95: it grows as
              they are used up; default: the failures of `stop`, 0 for none), design, kappa,
              max_points=1000 (evaluations that the model of the objective holds, the best and the most telling),
              min_noise=0 (the least noise that is estimated, as a share of y's standard deviation),
              warp="auto" (compress large values where the likelihood says so) or "none",
              restarts="settled" (a run that stands still in a minimum looks for another one; by default with the
              default policy) or "none",
              prior="similar-scales" (length scales are alike and not far below the distance of points, unless the
              evaluations say otherwise), "short-scales" (the second alone) or "none",
              surrogate="exact", or one of your own (register_surrogate)

    Whatever ends a run, its evaluations are kept. Ctrl-C and a lost executor end it with the result so far. Every
    exception that leaves a run that has begun (an error in the callback, sys.exit in fun, TooManyFailuresError)
    has the result so far as its attribute `result`; one that cannot carry it, or has a `result` of its own, is
    the `__cause__` of a RunStoppedError that does.
    """
    check_keywords(settings, _keywords(), "minimize")
    n_evals = as_integer("n_evals", n_evals, 1, 100)
    _check_callables(fun, callback, executor)
    n_workers = None if n_workers is None else as_integer("n_workers", n_workers, 1, 2)
    if executor is None and (n_workers or 1) > 1:
        raise InvalidInputError(
            f"expected an executor beside n_workers={n_workers}; got none; "
            f"try executor=concurrent.futures.ThreadPoolExecutor({n_workers})"
        )
    guard = Guard(timeout, isolate, memory_limit_mb, exception_classes(retry_on), n_retries)
    max_failures, enough = check_max_failures(max_failures), stop_of(stop)
    named = {"policy": policy, "kernel": kernel, "noise": noise, "seed": seed, "outputs": outputs}
    settings |= {name: value for name, value in named.items() if value is not NOT_GIVEN}
    settings |= {} if n_init is None else {"n_init": n_init}
    if enough and enough.failures and resume is None:  # a document says what it was
        settings.setdefault("failure_budget", enough.failures)
    optimizer = begin(Start(bounds, history, resume, objective, maximize, settings, constraints, device, n_evals))
    queue = optimizer.take_pending()
    queue += _given_points(optimizer, x0, y0, queue)
    given = list(queue)
    n_given, began = len(optimizer.history), time.monotonic()

    def so_far(message: str) -> Result:
        begun = given[: len(given) - len(queue)]  # those that have not ended are for whoever resumes
        return optimizer.result(message, [*filter(optimizer.awaits, begun), *queue])

    def report(evaluation: Evaluation) -> None:
        bar.update(optimizer.history, optimizer.settings.outputs)
        optimizer.check_limited()
        if callback is not None:
            callback(so_far("running"))
        if not evaluation.ok:
            check_named(optimizer.history.evaluations, n_given)
            stop_if_hopeless(so_far("too many failures"), max_failures)
        if enough and (why := enough.reason(so_far("running"), time.monotonic() - began)):
            raise Enough(why)

    bar = Progress(n_evals, shown=as_truth("progress", progress))
    with isolated(fun, guard) as fun, _carrying_the_result(optimizer.space, so_far), bar:
        try:
            work = Work(fun, optimizer, queue, n_evals, guard, report)
            if executor is None:
                one_by_one(work)
            else:
                in_parallel(work, executor, n_workers)
            message = _finished(optimizer, n_evals, n_given)
        except Enough as reached:
            message = f"stopped: {reached}"
        except StopIteration:
            message = "stopped by the callback"
        except SpaceExhaustedError:
            message = _finished(optimizer, n_evals, n_given, exhausted=True)
        except WorkersLostError as error:
            warnings.warn(str(error), SurefootWarning, stacklevel=2)
            message = "stopped: the workers were lost; every finished evaluation is kept"
        except KeyboardInterrupt:
            message = "interrupted from the keyboard; every finished evaluation is kept"
    return so_far(message)


def _keywords() -> list[str]:
    """Every keyword of `minimize`, settings included."""
    own = [name for name in inspect.signature(minimize).parameters if name != "settings"]
    return own + [name for name in Settings.__dataclass_fields__ if name not in own]


def _check_callables(fun: Any, callback: Any, executor: Any) -> None:
    if not callable(fun):
        raise InvalidInputError(f"expected a function; got {shown(fun)}; try minimize(f, bounds)")
    _check_signature(fun)
    if callback is not None and not callable(callback):
        raise InvalidInputError(
            f"expected callback as a function of a result; got {shown(callback)}; try callback=print"
        )
    if executor is not None and (is_a(executor, type) or not has(executor, "submit")):
        raise InvalidInputError(
            f"expected executor with a method `submit`; got {shown(executor)}; "
            "try concurrent.futures.ThreadPoolExecutor(4)"
        )


def _check_signature(fun: Callable[[Any], Any]) -> None:
    """Raise if no call of the function with one argument can succeed."""
    if inspect.iscoroutinefunction(fun):
        raise InvalidInputError(f"expected a function that returns a number; got {shown(fun)}, which returns a "
                                "coroutine; try lambda x: asyncio.run(f(x))")  # fmt: skip
    try:
        signature = inspect.signature(fun)
    except (ValueError, TypeError):  # it has none to look at
        return
    try:
        signature.bind(None)
    except TypeError:
        raise InvalidInputError(f"expected a function of one argument, the point; got {shown(fun)} with {signature}; "
                                "try lambda x: f(*x), or functools.partial for the others") from None  # fmt: skip


def _finished(optimizer: Optimizer, n_evals: int, n_given: int, exhausted: bool = False) -> str:
    """What is said of a run that came to its end."""
    n, n_init = len(optimizer.history), optimizer.settings.n_init
    if exhausted:
        whole = optimizer.space.n_values <= ENUMERATED
        message = f"every point of the space has been evaluated ({n})" if whole else f"no new point was found after {n}"
    elif n_given >= n_evals:
        return f"nothing to do: {n_given} evaluations were given, n_evals is {n_evals}"
    else:
        message = f"all {n_evals} evaluations done" if n_evals > 1 else "1 evaluation done"
    of_these = "all of them of" if n > 1 else "of"
    return message if n > n_init else f"{message}, {of_these} the initial design (n_init={n_init})"


@contextlib.contextmanager
def _carrying_the_result(space: Space, so_far: Callable[[str], Result]) -> Iterator[None]:
    """Whatever is raised inside has the result so far as its attribute `result`."""
    try:
        yield
    except BaseException as error:
        if isinstance(error, TooManyFailuresError) and getattr(error.result, "space", None) is space:
            raise
        result = so_far(f"stopped by {described(error)}")
        if _carries(error, result):
            raise
        raise RunStoppedError(
            f"expected a run without interruption; got {described(error)} after {result.nfev} evaluations; "
            "try this exception's .result, which has them",
            result,
        ) from error


def _carries(error: BaseException, result: Result) -> bool:
    """Whether the exception could be given the result: not if it has one of its own, or takes none."""
    carrier: Any = error
    try:
        if getattr(carrier, "result", None) is not None:
            return False
        carrier.result = result
        so_far = f"{result.nfev} evaluation{'s' * (result.nfev != 1)} so far"
        carrier.add_note(f"surefoot: this exception's attribute `result` has the {so_far}")
        return carrier.result is result
    except Exception:
        return False


def _given_points(optimizer: Optimizer, x0: Any, y0: Any, queue: list[Any]) -> list[Any]:
    """Tell the points of x0 whose values are known; return the others. What history or queue have is not done again."""
    known = [*(e.x for e in optimizer.history.evaluations), *queue]
    if y0 is None:
        return [x for x in optimizer.space.points(x0) if x not in known]
    limited = optimizer.settings.outputs
    given = history_of(optimizer.space, x0, y0, optimizer.known_objective, limited).evaluations
    optimizer.record(*(e for e in given if e.x not in known))
    return []
