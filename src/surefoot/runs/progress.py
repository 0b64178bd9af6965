"""How a run goes, for people: a live line in a terminal, a line per evaluation in a log; a table at the end."""

from __future__ import annotations

import time
from collections.abc import Iterable

from optuna.study import Study
from rich.console import Console, RenderableType
from rich.markup import escape
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn
from rich.table import Table
from rich.text import Text

from surefoot.errors import one_line
from surefoot.optimize.history import VALUE
from surefoot.optimize.notes import notes, outlook
from surefoot.optimize.reasons import grouped
from surefoot.optimize.result import Result
from surefoot.runs.study import Counts

_MOST_REASONS = 5


class _Bar(Progress):
    """A bar, and below it the reasons of the last failures, a line each."""

    reasons: tuple[str, ...] = ()

    def get_renderables(self) -> Iterable[RenderableType]:
        """The bar first."""
        yield from super().get_renderables()
        for reason in self.reasons:
            yield Text(f"  {reason}", style="dim", no_wrap=True, overflow="ellipsis")


class ConsoleReporter:
    """Shows counts, best value, rate and time left; with `figures` it also keeps the dashboard's figures up to date."""

    def __init__(self, console: Console, *, figures: bool = True) -> None:
        self._console = console
        self._figures = figures
        self._drawn = 0.0  # when the figures were saved last, and how long that took
        self._cost = 0.0
        self._start = time.monotonic()
        self._first: int | None = None  # evaluations that were there when we began
        self._failed = 0  # when the last line was written to a log
        self._bar = _Bar(
            TextColumn("evaluations"),
            BarColumn(bar_width=24),
            MofNCompleteColumn(),
            TextColumn("{task.fields[state]}"),
            console=console,
            disable=not console.is_terminal,
        )
        self._task = self._bar.add_task("", total=None, state="")

    def __enter__(self) -> ConsoleReporter:
        self._bar.start()
        return self

    def __exit__(self, *error: object) -> None:
        self._bar.stop()

    def progress(self, counts: Counts) -> None:
        """The state after something ended."""
        if self._first is None:
            self._first = counts.finished
            if counts.finished:
                self.note(f"continuing after {counts.finished} evaluation{'s' * (counts.finished != 1)}")
            if counts.forgotten:
                n = counts.forgotten
                do = "evaluation is forgotten: it does" if n == 1 else "evaluations are forgotten: they do"
                self.note(f"{n} {do} not count and {'teaches' if n == 1 else 'teach'} nothing")
            if counts.outside:
                total = counts.finished + counts.outside
                self.note(
                    f"{counts.outside} of {total} evaluation{'s' * (total != 1)} "
                    f"{'is' if counts.outside == 1 else 'are'} outside the parameters of today: kept, neither used nor "
                    f"counted; the other {counts.finished} count{'s' * (counts.finished == 1)} towards n_evals = "
                    f"{counts.n_evals}"
                )
        nothing = "nothing within the limits yet" if counts.finished > counts.failed else "no success yet"
        parts = [nothing if counts.best is None else f"best {counts.best:.6g}"]
        if counts.fallbacks:
            parts.append(f"{counts.fallbacks} at random points: no suggestion could be made")
        if counts.failed:
            parts.append(f"{counts.failed} failed")
        done, seconds = counts.finished - self._first, time.monotonic() - self._start
        if done:
            parts.append(_rate(done / seconds))
            parts.append(f"{_duration((counts.n_evals - counts.finished) * seconds / done)} left")
        state = ", ".join(parts)
        reasons = tuple(map(one_line, counts.reasons))
        self._bar.reasons = reasons
        self._bar.update(self._task, total=counts.n_evals, completed=counts.finished, state=state)
        if not self._console.is_terminal and (done or counts.finished):
            new = f"; {reasons[-1]}" if reasons and counts.failed > self._failed and done else ""
            line = escape(f"{counts.finished}/{counts.n_evals}  {state}{new}")
            self._console.print(line, highlight=False, soft_wrap=True)
        self._failed = counts.failed

    def note(self, text: str) -> None:
        """Something a person wants to know."""
        self._console.print(escape(text), highlight=False, soft_wrap=True)

    def saved(self, study: Study) -> None:
        """Save the figures, as often as a twentieth of the time allows."""
        now = time.monotonic()
        if self._figures and now - self._drawn > max(5.0, 20.0 * self._cost):
            from surefoot.runs.figures import save_figures

            try:
                self._figures = save_figures(study)
            except Exception as error:  # a figure is not worth a run
                self.note(f"the dashboard's figures were not saved: {error}")
            self._drawn = time.monotonic()
            self._cost = self._drawn - now


def _rate(per_second: float) -> str:
    unit, seconds = ("s", 1.0) if per_second >= 1.0 else ("min", 60.0) if per_second >= 1.0 / 60.0 else ("h", 3600.0)
    return f"{per_second * seconds:.2g}/{unit}"


def _duration(seconds: float) -> str:
    minutes, hours = seconds / 60.0, seconds / 3600.0
    return f"{seconds:.0f} s" if seconds < 100 else f"{minutes:.0f} min" if minutes < 100 else f"{hours:.1f} h"


def final_table(result: Result, name: str, n_evals: int, also: str = "") -> Table:
    """What came of it; `also`: another note."""
    of = f"{result.nfev} of {n_evals} evaluations"
    if result.nfev > n_evals:  # late results, or a budget that was lowered
        of = f"{result.nfev} evaluations, more than the {n_evals} asked for"
    table = Table(title=f"{name}: {of}", show_header=False, title_justify="left")
    table.add_column(no_wrap=True)
    table.add_column(overflow="fold")
    if result.success:
        what = "value" if result.objective == VALUE else result.objective
        table.add_row(f"best {escape(what)}", f"{result.fun:.10g}")
        for parameter, value in result.x.items():
            table.add_row(f"  {escape(parameter)}", escape(f"{value:.10g}" if isinstance(value, float) else str(value)))
        limits = result.settings.outputs
        if not result.feasible:
            table.add_row("", "not within all limits: none is")
        for name, y in list(result.outputs.items())[1:]:
            table.add_row(escape(name), f"{y:.10g}" + (escape(f" (limit {limits[name]})") if name in limits else ""))
    else:
        table.add_row("best value", "none: nothing has succeeded")
    table.add_row("failed", f"{result.n_failures} of {result.nfev}")
    reasons = [e.reason for e in result.history.evaluations if not e.ok]
    groups = grouped(reasons)
    for group in groups[:_MOST_REASONS]:
        alike = " (other numbers in others)" if group.differing else ""
        table.add_row(f"  {group.count}×", escape(group.text[:300] + alike))
    if len(groups) > _MOST_REASONS:
        table.add_row("", f"and {len(groups) - _MOST_REASONS} other reasons")
    for constraint in result.space.constraints:
        table.add_row("constraint", escape(str(constraint)))
    for note in [*notes(result), *([also] if also else [])]:
        table.add_row("note", escape(note))
    if ahead := outlook(result):
        table.add_row("outlook", escape(ahead))
    return table
