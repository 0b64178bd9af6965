"""What an evaluation returned, by name: the one place that knows which outputs there are and what may be one.

Outputs    The function returns a number, or a dict of numbers by name. The objective is one of them: the one that the
           user names, or the only one, or the only one without a limit. A number alone is the objective.
Missing    NaN in an output other than the objective: it was not computed. In the objective: the evaluation failed.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from surefoot.errors import InvalidInputError, described, shown
from surefoot.expect import nearest
from surefoot.optimize.checks import is_a, plain_number
from surefoot.optimize.given import listed, same_rows
from surefoot.optimize.history import VALUE, Evaluation, History
from surefoot.optimize.parameters import Value
from surefoot.optimize.space import Space

OPTIONAL = ("progress", "fidelity")  # numbers of an evaluation that are columns of a table only where one is known
_MAX_SHOWN = 100  # characters of a returned value in a reason
_MAX_LISTED = 400  # characters of the names of outputs
_MOST_OUTPUTS = 1_000
_AMONG = " among the outputs; got"
_NUMBERS = "expected a number for each output"
_RETURNED = "the function returned"  # what begins a reason: something that is no number
_NEARLY = ", which is spelled nearly so"  # ends a reason: a name is misspelled, most probably
_MISNAMED, _MISSPELLED = 5, 2  # evaluations


def as_float(value: Any) -> float:
    """A scalar result as a float: numbers, 0-d and one-element arrays. TypeError for anything else."""
    if is_a(value, bool, np.bool_, str, bytes) or value is None:
        raise TypeError(f"{_RETURNED} {shown(value, _MAX_SHOWN)}, not a number")
    if is_a(value, np.ma.MaskedArray) and np.ma.is_masked(value):  # its data mean nothing
        raise TypeError(f"{_RETURNED} a masked value, not a number")
    try:
        array = np.asarray(value)
    except Exception as error:
        kind = "a ragged sequence" if is_a(value, list, tuple) else f"an object of type {type(value).__name__}"
        raise TypeError(f"{_RETURNED} {kind}, not one real number ({described(error)})") from None
    if array.size == 1 and array.dtype.kind in "iuf":
        return float(array.reshape(()).item())
    of_shape = f"of shape {array.shape}" if array.ndim > 0 else shown(value, _MAX_SHOWN)
    raise TypeError(f"{_RETURNED} {type(value).__name__} {of_shape}, not one real number")


def check_objective(name: Any) -> str | None:
    """The objective's name, or None where none was given; an error if it is no name."""
    if name is None or (is_a(name, str) and name):
        return None if name is None else str(name)
    raise InvalidInputError(f"expected the objective's name as text; got {shown(name)}; try objective='mass'")


def as_outputs(value: Any, objective: str | None = None, limited: Collection[str] = ()) -> tuple[str, dict[str, float]]:
    """The objective's name, and all outputs of what a function returned; limited: outputs that have limits.

    Where the objective has a name, what is no number and not limited is left alone. TypeError if it is neither a number
    nor a dict; InvalidInputError if the dict is no dict of outputs.
    """
    if not is_a(value, Mapping):
        name = VALUE if objective is None else objective
        return name, {name: as_float(value)}
    outputs = check_outputs(value, None if objective is None else {objective, *limited})
    names = list(outputs)
    free = [name for name in names if name not in limited]
    if objective is None and 1 in (len(names), len(free)):
        objective = (free or names)[0]
    if objective is None or objective not in outputs:
        wanted = "one number, or a name for the objective" if objective is None else f"the objective {objective!r}"
        raise InvalidInputError(f"expected {wanted}{_AMONG} {_listed(names)}; try {_meant(objective, names, limited)}")
    return objective, outputs


def _meant(objective: str | None, names: list[str], limited: Collection[str]) -> str:
    """What to try where the objective is none of the names: perhaps its name, or that of a limit, is misspelled."""
    free = [name for name in names if name not in limited]
    if objective is not None:
        near = nearest(objective, free)
        return f"the objective {near!r}{_NEARLY}" if near else "returning it as a number"
    missing = [name for name in limited if name not in names]
    near = nearest(missing[0], free) if missing else None
    if near:
        return f"the limit of {missing[0]!r} on {near!r}{_NEARLY}"
    return f"{(free or names)[0]!r} as the objective" if names else "returning it as a number"


def check_named(evaluations: Sequence[Evaluation], n_before: int = 0) -> None:
    """Raise if nothing of a session has succeeded and several have failed because of what the function returned.

    Some of them may be simulations that ended early; several are a wrong name, or a text, and where another name is
    nearly that one, two are. None is a failure.
    n_before: evaluations of earlier sessions. Where one has succeeded the names were right once: more are asked for.
    """
    own = evaluations[n_before:]
    reasons = [e.reason for e in own if _is_of_names(e.reason) or _is_no_number(e.reason)]
    if not reasons or any(e.ok for e in own):
        return
    least = _MISSPELLED if all(reason.endswith(_NEARLY) for reason in reasons) else _MISNAMED
    if len(reasons) < (2 * _MISNAMED if any(e.ok for e in evaluations[:n_before]) else least):
        return
    so_often = f"({len(reasons)} evaluations have failed so)"
    if _is_of_names(reasons[0]):
        raise InvalidInputError(f"{reasons[0]} {so_often}")
    raise InvalidInputError(
        f"expected a function that returns a number or a dict of numbers; got one where {reasons[0]}; "
        f"try float(…) {so_often}"
    )


def _is_of_names(reason: str) -> bool:
    return _AMONG in reason or reason.startswith(_NUMBERS)


def _is_no_number(reason: str) -> bool:
    return reason.startswith(_RETURNED) and not reason.startswith(f"{_RETURNED} None")


def check_outputs(given: Any, needed: Collection[str] | None = None) -> dict[str, float]:
    """Numbers by name; an error if one of those needed (None: all), or every one, is anything else."""
    if not is_a(given, Mapping):
        raise InvalidInputError(f"expected outputs as a dict of numbers; got {shown(given)}; try {{'mass': 1.0}}")
    entries = _entries(given)
    outputs = {name: number for name, number in entries.items() if number is not None}
    bad = [name for name in entries if name not in outputs and (not outputs or needed is None or name in needed)]
    if bad:
        raise InvalidInputError(
            f"{_NUMBERS}; got {_listed(list(entries))}, where {bad[0]!r} is "
            f"{shown(given[bad[0]], _MAX_SHOWN)}; try float('nan') for what was not computed, or the name of the "
            "objective, which leaves other entries alone"
        )
    return outputs


def _entries(given: Mapping[Any, Any]) -> dict[str, float | None]:
    """The numbers of a dict by name, None for what is no number; an error if they have no names."""
    try:
        items = list(given.items())
    except Exception as error:
        raise InvalidInputError(
            f"expected a dict of outputs; got one that cannot be read ({described(error)}); try {{'mass': 1.0}}"
        ) from None
    if len(items) > _MOST_OUTPUTS or not all(is_a(name, str) and name for name, _ in items):
        raise InvalidInputError(
            f"expected a dict of at most {_MOST_OUTPUTS} outputs with names as text; got {len(items)}, "
            f"{_listed([shown(name, _MAX_SHOWN) for name, _ in items])}; try {{'mass': 1.0}}"
        )
    entries: dict[str, float | None] = {}
    for name, entry in items:
        try:
            entries[str(name)] = _as_output(entry)
        except Exception:  # TypeError, or what an object does when it is looked at
            entries[str(name)] = None
    return entries


def _as_output(entry: Any) -> float:
    """One of several outputs: what was not computed is None or NaN, and a truth is 0 or 1."""
    if entry is None:
        return math.nan
    return float(entry) if is_a(entry, bool, np.bool_) else as_float(entry)


def _listed(names: list[str]) -> str:
    text = ", ".join(names) or "none"
    return text if len(text) <= _MAX_LISTED else text[: _MAX_LISTED - 1] + "…"


def as_evaluation(
    x: tuple[Value, ...],
    value: Any,
    duration_s: float = math.nan,
    objective: str | None = None,
    limited: Collection[str] = (),
) -> Evaluation:
    """The evaluation that a returned value stands for: an objective that is NaN or infinite is a failure.

    TypeError or InvalidInputError: not a number, not a dict of outputs.
    """
    name, outputs = as_outputs(value, objective, limited)
    y = outputs.pop(name)
    if math.isfinite(y):
        return Evaluation(x, y, duration_s=duration_s, objective=name, further=outputs)
    what = "the value" if name == VALUE else name
    return Evaluation(x, math.nan, "failed", f"{what} was {y}", duration_s, name, outputs)


def partial_outputs(given: Any) -> dict[str, float]:
    """The numbers by name that a failed evaluation had; a failure is not refused for the sake of them."""
    try:
        return {name: y for name, y in _entries(given).items() if y is not None} if is_a(given, Mapping) else {}
    except InvalidInputError:
        return {}


def as_share(given: Any) -> float:
    """How much of a simulation was reached, from 0 to 1; NaN for everything else."""
    share = plain_number(given)
    return float(share) if share is not None and 0.0 <= share <= 1.0 else math.nan


def renamed(e: Evaluation, objective: str) -> Evaluation:
    """The evaluation with its value under another name."""
    if e.objective == objective:
        return e
    further = {name: y for name, y in e.further.items() if name != objective or not e.ok}
    return replace(e, objective=objective, further=further)


def under_one_name(evaluations: Iterable[Evaluation], objective: str | None) -> tuple[list[Evaluation], str | None]:
    """Evaluations of one objective, and its name: `objective`, or that of the first success.

    A success under another name has failed: its value is one of something else.
    """
    named = []
    for e in evaluations:
        objective = e.objective if objective is None and e.ok else objective
        if e.ok and e.objective != objective:
            reason = (
                f"expected the objective {objective!r} among the outputs, as before; got {_listed(list(e.outputs))}; "
                "try returning the same names each time"
            )
            e = replace(e, y=math.nan, status="failed", reason=reason, further=e.outputs)
        named.append(e if objective is None else renamed(e, objective))
    return named, objective


def history_of(space: Space, x: Any, y: Any, objective: str | None = None, limited: Collection[str] = ()) -> History:
    """A history of given points and values; values that are missing or not finite are failures."""
    points = space.points(x)
    values = listed(y.ravel() if is_a(y, np.ndarray) else y)
    values = [y] if values is None else values
    if len(points) != len(values):
        raise InvalidInputError(
            f"expected as many values as points; got {len(points)} points and {len(values)} values; "
            "try one value of y0 for each point of x0, and NaN where an evaluation failed"
        )
    if not same_rows(x, y):
        raise InvalidInputError(
            "expected values with the row labels of the points; got others; "
            "try y0=y.loc[x.index], or y0=y.to_numpy() if the order is the same"
        )
    evaluations = []
    for point, value in zip(points, values, strict=True):
        try:
            value = math.nan if value is None else value
            evaluations.append(as_evaluation(point, value, objective=objective, limited=limited))
        except TypeError:
            raise InvalidInputError(
                f"expected a number for each point; got {shown(value)}; try a list of floats"
            ) from None
    return History(tuple(under_one_name(evaluations, objective)[0]))


def columns(
    fixed: Iterable[str], parameters: Iterable[str], outputs: Iterable[str]
) -> tuple[dict[str, str], dict[str, str]]:
    """The columns of parameters and of outputs in a table that has `fixed` columns of its own.

    A name that is taken gets a prefix, so that no column overwrites another: parameter.status, output.status.
    """
    taken = set(fixed)

    def free(name: str, kind: str) -> str:
        while name in taken:
            name = f"{kind}.{name}"
        taken.add(name)
        return name

    return {name: free(name, "parameter") for name in parameters}, {name: free(name, "output") for name in outputs}
