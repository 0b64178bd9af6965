"""Evaluations whose program was given the same input as an earlier one's, at another point: a format wrote them alike.

A digest of what was written is kept with every evaluation, so that it is known in later runs and to all workers.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from hashlib import sha256
from typing import Any

from optuna.trial import FrozenTrial

from surefoot.integrations.optuna_history import FORGOTTEN, OUTPUT, is_void
from surefoot.runs.contents import files_of, stamps_of
from surefoot.runs.names import PARAMETERS_FILE
from surefoot.runs.placeholders import fillings
from surefoot.runs.problem import Problem

INPUTS = "inputs"  # among what is kept of an evaluation in OUTPUT
_DIGITS = 16


def digest_of(problem: Problem, values: Mapping[str, Any]) -> str:
    """Of all that the commands of an evaluation are given; empty where they may read the parameters otherwise.

    values: of all placeholders. Where it runs makes no difference.
    """
    evaluator = problem.evaluator
    arguments = [argument for step in evaluator.steps for argument in step.command]
    texts = [(text, evaluator.deck.style) for text in evaluator.deck.files.values()]
    texts += [(argument, "{}") for argument in arguments]
    anywhere = {**values, "here": "", "folder": ""}
    try:
        written = sorted({filling for text, style in texts for filling in fillings(text, anywhere, style)})
    except ValueError:  # a value does not fit into its column: nothing is evaluated
        return ""
    if any(PARAMETERS_FILE in argument for argument in arguments):
        return ""
    if not {name for name, *_ in written} & set(problem.parameters):
        return ""
    templates = {name: _digest(text) for name, text in evaluator.deck.files.items()}
    stamps = stamps_of(files_of(evaluator, problem.folder))
    return _digest(json.dumps([written, templates, arguments, stamps, dict(evaluator.environment)]))[:_DIGITS]


def _digest(text: str) -> str:
    return sha256(text.encode(errors="surrogateescape")).hexdigest()


def told_of_same(trials: Sequence[FrozenTrial]) -> str:
    """How many evaluations had the input of an earlier one at another point, and what to do; empty: none."""
    first: dict[str, FrozenTrial] = {}
    pairs = []
    for trial in sorted(trials, key=lambda t: t.number):
        digest = (trial.user_attrs.get(OUTPUT) or {}).get(INPUTS)
        if not isinstance(digest, str) or is_void(trial) or FORGOTTEN in trial.user_attrs:
            continue
        earlier = first.setdefault(digest, trial)
        if earlier.params != trial.params:
            pairs.append((earlier, trial))
    if not pairs:
        return ""
    earlier, trial = pairs[-1]
    name = next(name for name in {**earlier.params, **trial.params} if _differ(name, earlier, trial))
    return (
        f"{len(pairs)} evaluation{'s' * (len(pairs) > 1)} had the same input files and arguments as an earlier one at "
        f"another point (trial {trial.number} as trial {earlier.number}): write more digits ({{{name}:.17g}}), or give "
        "the parameter a step"
    )


def _differ(name: str, one: FrozenTrial, other: FrozenTrial) -> bool:
    return bool(one.params.get(name) != other.params.get(name))


class SameInputs:
    """Says so when it happens first, and how often it was when a run ends."""

    def __init__(self, say: Callable[[str], None]) -> None:
        self._say = say
        self._said = self._told = ""

    def look(self, trials: Sequence[FrozenTrial]) -> None:
        """After an evaluation has ended."""
        self._told = told_of_same(trials)
        if not self._said:
            self.at_the_end()

    def at_the_end(self) -> None:
        """What has not been said yet."""
        if self._told != self._said:
            self._say(self._told)
            self._said = self._told
