"""The report of an optimization: what was found, how, what the model believes, what failed and why."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Callable, Sequence
from dataclasses import fields
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from surefoot import __version__
from surefoot.errors import InvalidInputError, shown
from surefoot.optimize.drawing import (
    best_so_far,
    best_values,
    draw_convergence,
    draw_gap,
    draw_slice,
    headline,
    mappable,
    point_name,
)
from surefoot.optimize.durations import duration, duration_note
from surefoot.optimize.feasible import best_place, how_far_outside, least_outside
from surefoot.optimize.history import VALUE
from surefoot.optimize.notes import constraint_notes, outlook, restart_note, unit_notes
from surefoot.optimize.parameters import Categorical, Integer, Parameter
from surefoot.optimize.settings import AUTO
from surefoot.reports.failures import border_blocks, failure_blocks
from surefoot.reports.limits import limit_blocks
from surefoot.reports.maps import mean_drawing
from surefoot.reports.matters import matter_blocks
from surefoot.reports.numbers import number, percent, power, versions
from surefoot.reports.page import Block, Code, Facts, Figure, Key, Note, Section, Table, Text, render, write
from surefoot.reports.svg import drawing
from surefoot.style import LIGHT

if TYPE_CHECKING:
    from surefoot.optimize.result import Result

_MAX_SLICES = 12
_N_BEST = 10


def write_report(
    result: Result, path: str | os.PathLike[str], *, title: str = "Optimization report", warnings: Sequence[str] = ()
) -> Path:
    """Write the report of a result to an HTML file; returns its path. Any result will do, even without evaluations.

    warnings: what a reader must know first
    """
    if not hasattr(result, "nfev"):
        raise InvalidInputError(
            f"expected a result of minimize, Optimizer.result() or result_of(study); got {shown(result, 80)}; "
            "try write_report(result, 'report.html')"
        )
    return write(report(result, title, warnings), path)


def report(result: Result, title: str, warnings: Sequence[str] = ()) -> str:
    """The page of a result."""
    first: list[Block] = [Note(text, title="Warning", kind="warning") for text in warnings]
    sections = [Section("Result", [*first, *_outcome(result)])]
    if result.nfev:
        sections.append(Section("Convergence", _convergence(result)))
    if result.success:
        sections.append(Section("What the model believes", _beliefs(result)))
        if matters := matter_blocks(result):
            sections.append(Section("What matters", matters))
    if result.nfev:
        sections.append(Section("Failures", failure_blocks(result)))
        sections.append(Section("Time", _time(result)))
    sections.append(Section("Settings", _settings(result)))
    written = datetime.now().astimezone().strftime("%d %B %Y, %H:%M %Z").lstrip("0")
    return render(title, _lead(result), sections, f"surefoot {__version__} · written {written}")


def _lead(result: Result) -> str:
    what = "maximized" if result.sign < 0 else "minimized"
    d = result.space.d
    return f"A function of {d} parameter{'s' * (d > 1)}, {what} with Bayesian optimization."


# --- what was found


def _outcome(result: Result) -> list[Block]:
    if not result.nfev:
        return [Note("Nothing has been evaluated yet.")]
    n, failed = result.nfev, result.n_failures
    counts = ("Evaluations", str(n), f"{failed} failed ({percent(failed / n)})" if failed else "none failed")
    if not result.success:
        return [
            Facts([counts]),
            Note("No evaluation has succeeded, so there is no best point. The reasons are below.", kind="warning"),
        ]
    place = best_place(result.history, result.sign, result.settings.outputs)
    at = 0 if place is None else result.numbers[place]
    what = "value" if result.objective == VALUE else result.objective
    which = f"{'Largest' if result.sign < 0 else 'Smallest'} {what}"
    nothing = []
    if not result.feasible:
        which = f"{what}, least outside"
        nothing = [("Within all limits", "nothing", f"of {n} evaluation{'s' * (n != 1)}")]
    point = point_name(result)
    facts = [*nothing, (which, number(result.fun), f"at evaluation {at} (the first is 0)"), counts]
    blocks: list[Block] = [Facts(facts)]
    best = best_values(result)
    rows = [
        (name, _value(value), _range(p), _position(p, value))
        for name, p, value in zip(result.space.names, result.space.parameters, best, strict=True)
    ]
    blocks.append(Table(f"The {point}", ("parameter", "value", "range", "where in it"), rows, left=(0, 2)))
    if not result.feasible:
        blocks.insert(1, Note("No evaluation is within all limits; this is the one least outside.", kind="warning"))
    blocks.extend(limit_blocks(result))
    if len(result.outputs) > 1 + len(result.settings.outputs):
        outputs = [(name, number(y) if math.isfinite(y) else "not computed") for name, y in result.outputs.items()]
        blocks.append(Table(f"The outputs at the {point}", ("output", "value"), outputs, left=(0,)))
    if any("bound" in row[-1] for row in rows):
        blocks.append(Note(f"The {point} lies on a bound: a better one may lie beyond it. Consider wider bounds."))
    told = filter(None, [*unit_notes(result), *constraint_notes(result), restart_note(result)])
    blocks.extend(Note(f"{note[0].upper()}{note[1:]}.") for note in told)
    blocks.extend(border_blocks(result))
    exact = dict(zip(result.space.names, best, strict=True))
    blocks.append(Text("With all digits, to copy:"))
    blocks.append(Code(json.dumps(exact, default=str, ensure_ascii=False, indent=2), f"The {point} as JSON"))
    return blocks


def _value(value: Any) -> str:
    return number(value) if isinstance(value, float) else str(value)


def _range(p: Parameter) -> str:
    if isinstance(p, Categorical):
        return ", ".join(map(str, p.choices))
    kind = f"{', integer' if isinstance(p, Integer) else ''}{', log' if p.log else ''}"
    return f"{power(p.low)} to {power(p.high)}{kind}"


def _position(p: Parameter, value: Any) -> str:
    """How far along its range a value lies: people look here for bounds that were too narrow."""
    if isinstance(p, Categorical) or p.low == p.high:
        return ""
    share = p.encode(value)[0]
    if share in (0.0, 1.0):
        return "lower bound" if share == 0.0 else "upper bound"
    return percent(share)


# --- how


def _convergence(result: Result) -> list[Block]:
    design = min(result.settings.n_init, result.nfev)
    caption = f"Values as the run went on. The initial design has {design} point{'s' * (design != 1)}, spread evenly."

    def with_grid(draw_on: Callable[[Any, Result], None]) -> Callable[[Any], None]:
        def draw(figure: Any) -> None:
            ax = figure.add_subplot()
            draw_on(ax, result)
            ax.yaxis.grid(True, color=LIGHT["rule"], lw=0.6)
            ax.set_axisbelow(True)

        return draw

    best = f"best value {number(result.fun)}" if result.feasible else headline(result)
    alt = f"Convergence over {result.nfev} evaluations, {best}, {result.n_failures} failed"
    drawings = [drawing(with_grid(draw_convergence), (4.15, 2.9), alt)]
    if result.success and (result.sign * (best_so_far(result) - result.fun) > 0.0).any():
        drawings.append(drawing(with_grid(draw_gap), (4.15, 2.9), "Distance of the best so far to the best of all"))
        caption += (
            " The second drawing: how far the best so far was from the best of all; the line ends where that was found."
        )
    blocks: list[Block] = [Figure(drawings, caption, columns=2, legend=_convergence_legend(result))]
    if ahead := outlook(result):
        blocks.append(Text(f"{ahead[0].upper()}{ahead[1:]}."))
    if result.success:
        blocks.append(_best_table(result) if result.feasible else _least_outside_table(result))
    return blocks


def _convergence_legend(result: Result) -> list[Key]:
    """What is drawn, and no more."""
    legend = []
    if result.feasible:
        legend.append(Key("evaluation", "dot", "dots"))
    if n_outside := int((result.history.ok & ~result.within).sum()):
        legend.append(Key(f"outside limits ({n_outside})", "ring", "dots"))
    if result.feasible:
        legend.append(Key("best so far", "line", "blue"))
    legend.append(Key("end of the initial design", "dashes", "dots"))
    if result.n_failures:
        legend.append(Key(f"failed ({result.n_failures}), drawn at the bottom", "cross", "red"))
    return legend


def _best_table(result: Result) -> Table:
    told = zip(result.numbers, result.history.evaluations, result.within.tolist(), strict=True)
    ok = [(i, e) for i, e, counts in told if counts]
    ok.sort(key=lambda pair: result.sign * pair[1].y)
    rows = [(i, number(e.y), *map(_value, e.x)) for i, e in ok[:_N_BEST]]
    header = ("evaluation", result.objective, *result.space.names)
    only = "The only evaluation within all limits" if result.settings.outputs else "The only success"
    return Table(f"The {len(rows)} best evaluations" if len(rows) > 1 else only, header, rows, _left(result, 2))


def _least_outside_table(result: Result) -> Table:
    """Where nothing is within all limits: the order by which `result.x` is chosen."""
    history, outputs = result.history, result.settings.outputs
    far, places = how_far_outside(history, outputs), least_outside(history, result.sign, outputs)[:_N_BEST]
    rows = [
        (result.numbers[k], number(far[k], 3), number(history.y[k]), *map(_value, history.evaluations[k].x))
        for k in places.tolist()
    ]
    header = ("evaluation", "outside by", result.objective, *result.space.names)
    caption = f"The {len(rows)} evaluations least outside limits" if len(rows) > 1 else "The only success"
    caption += "; by how much, in standard deviations of each output that has a limit, together"
    return Table(caption, header, rows, _left(result, 3))


def _left(result: Result, first: int) -> tuple[int, ...]:
    """The columns of categories, where those of parameters begin with the first."""
    return tuple(k + first for k, p in enumerate(result.space.parameters) if isinstance(p, Categorical))


# --- what the model believes


def _beliefs(result: Result) -> list[Block]:
    noise = f"Estimated standard deviation of the noise of one evaluation: {number(result.model.noise_sd, 3)}."
    return [_slices(result), *_map(result), Text(noise)]


def _map(result: Result) -> list[Block]:
    """The model over the two parameters along which it varies most, with limits and what is forbidden."""
    drawn = mappable(result)
    if len(drawn) < 2:
        return []
    relevance, names = result.model.relevance(), result.space.names
    i, j = sorted(sorted(drawn, key=lambda k: -float(relevance[k]))[:2])
    caption = f"The mean of the model over {names[i]} and {names[j]}"
    caption += f", the others as at the {point_name(result)}." if result.space.d > 2 else "."
    if result.settings.outputs:
        caption += " Dashed: where the models of outputs reach their limits."
    return [Figure([mean_drawing(result, i, j)], caption)]


def _slices(result: Result) -> Figure:
    relevance = result.model.relevance()
    order = [int(i) for i in np.argsort(-relevance, kind="stable")[:_MAX_SLICES]]
    names = result.space.names
    columns = 3 if len(order) > 2 else 2
    size = (2.75, 1.95) if columns == 3 else (4.15, 2.6)
    drawings = []
    for i in order:

        def draw(figure: Any, i: int = i) -> None:
            draw_slice(figure.add_subplot(), result, i)

        alt = f"Predicted value along {names[i]}, the other parameters at the {point_name(result)}"
        drawings.append(drawing(draw, size, alt))
    d = result.space.d
    order_text = ", the most relevant first" if d > 1 else ""
    some = f" The {len(order)} most relevant of {d} parameters are shown." if d > len(order) else ""
    caption = (
        f"The Gaussian process along each parameter through the {point_name(result)}{order_text}. "
        f"Where the band is wide, little is known.{some}"
    )
    legend = [
        Key("mean", "line", "blue"),
        Key("± 2 standard deviations", "band", "blue", 0.2),
        Key(point_name(result), "ring", "orange"),
    ]
    if result.model.learns_failures:
        legend.append(Key("P(success), right-hand scale", "dotted", "red"))
    if d == 1:
        legend.append(Key("evaluation", "dot", "dots"))
    return Figure(drawings, caption, columns=columns, legend=legend)


# --- time, settings


def _time(result: Result) -> list[Block]:
    evaluations = result.history.evaluations
    rows = []
    for what, chosen in (
        ("succeeded", [e for e in evaluations if e.ok]),
        ("failed", [e for e in evaluations if not e.ok]),
    ):
        times = [e.duration_s for e in chosen if math.isfinite(e.duration_s)]
        if times:
            numbers = (float(np.median(times)), max(times), sum(times))
            rows.append((what, len(times), *map(duration, numbers)))
    if not rows:
        return [Text("No evaluation reported how long it took.")]
    table = Table("Time of the evaluations", ("", "evaluations", "median", "longest", "together"), rows)
    note = duration_note(result.history)
    return [table, *([Text(f"{note[0].upper()}{note[1:]}.")] if note else [])]


def _settings(result: Result) -> list[Block]:
    blocks: list[Block] = []
    if not result.success:  # else the table of the best point has them
        space = [(name, _range(p)) for name, p in zip(result.space.names, result.space.parameters, strict=True)]
        blocks.append(Table("Parameters", ("parameter", "range or choices"), space, left=(0, 1)))
    if result.space.constraints:
        known = [(c.name, c.text) for c in result.space.constraints]
        blocks.append(Table("Known constraints", ("name", "constraint"), known, left=(0, 1)))
    values = {f.name: str(getattr(result.settings, f.name)) for f in fields(result.settings) if f.name != "outputs"}
    if result.success:  # what the model of all evaluations has in the place of "auto"
        used = {"kernel": result.model.kernel, "warp": result.model.warp}
        values |= {name: f"{values[name]}: {what}" for name, what in used.items() if values[name] == AUTO}
    blocks.append(Table("Settings of the optimizer", ("setting", "value"), list(values.items()), left=(0, 1)))
    packages = [("surefoot", __version__), *versions("numpy", "scipy")]
    blocks.append(Table("Versions", ("package", "version"), packages, left=(0, 1)))
    if result.message:
        blocks.append(Text(f"How the run ended: {result.message}"))
    return blocks
