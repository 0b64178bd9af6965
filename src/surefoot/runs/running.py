"""A run of a problem file, from its storage to its result: here, on an executor, or as jobs of SLURM."""

from __future__ import annotations

from concurrent.futures import Executor, ThreadPoolExecutor

from surefoot.errors import InvalidInputError
from surefoot.execute.system import require_processes
from surefoot.optimize.result import Result
from surefoot.runs import evaluation
from surefoot.runs.evaluation import evaluate_trial, processes
from surefoot.runs.jobs import Jobs, tag_of
from surefoot.runs.notify import Notice
from surefoot.runs.patience import Patience
from surefoot.runs.problem import Problem
from surefoot.runs.signals import Signals
from surefoot.runs.storage import close_storage, open_storage
from surefoot.runs.study import Reporter, open_study
from surefoot.runs.worker import Worker


def run(
    problem: Problem,
    place: str | None = None,
    *,
    workers: int = 1,
    executor: Executor | None = None,
    slurm: bool = False,
    reporter: Reporter,
) -> Result:
    """Work on the problem's study until its budget is used up, or the user stops it; the study's result.

    place     the storage; default: a SQLite file beside the problem file
    workers   evaluations at a time
    executor  where they run; default: threads here, each waiting for a process
    slurm     as jobs of SLURM instead, which outlive this process: the next run finds them
    """
    if workers < 1:
        raise InvalidInputError(f"expected at least one evaluation at a time; got workers={workers!r}; try workers=1")
    if executor is None:
        require_processes("evaluations of a problem file", problem.evaluator.memory_limit_mb)
    where = str(place or problem.default_storage)
    notice = Notice(problem.notify, problem.folder, problem.name, reporter.note)
    with Signals() as signals:
        opening = Patience(where, reporter.note, lambda: signals.finish)
        storage = opening(lambda: open_storage(where, create=True))
        try:
            study = opening(lambda: open_study(problem, storage, reporter.note))
            worker = Worker(problem, study, storage, workers, reporter, signals, where)
            if slurm:
                with Jobs(problem, opening(lambda: tag_of(study)), reporter.note) as jobs:
                    worker.run(jobs.start, jobs)
            elif executor is not None:
                worker.run(lambda *point: executor.submit(evaluate_trial, problem, *point))
            else:
                with ThreadPoolExecutor(workers, thread_name_prefix="evaluation") as threads:
                    try:
                        worker.run(lambda *point: threads.submit(evaluate_trial, problem, *point))
                    finally:
                        processes.stop_all()  # what is under way now was given back
            result = worker.result()
            notice("interrupted" if signals.finish else "finished", result.message, result)
            return result
        except Exception as error:
            notice("failed", str(error), getattr(error, "result", None))
            raise
        finally:
            processes.allow()  # all threads have ended; another run may follow in this process
            evaluation.close()
            close_storage(storage)
