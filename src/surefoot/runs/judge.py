"""Whether evaluations lie within the limits and known constraints that their study has now, not when they ended."""

from __future__ import annotations

from optuna.study import Study
from optuna.trial import FrozenTrial, TrialState

from surefoot.errors import InvalidInputError
from surefoot.integrations.optuna_history import LIMITS, STUDY, stored_parameters
from surefoot.integrations.optuna_outputs import constraint_attributes, outputs_of
from surefoot.integrations.optuna_space import constrained_space, shown


class Judge:
    """Says of a trial whether it is within; has nothing to say where a study has neither limits nor constraints."""

    def __init__(self, study: Study) -> None:
        attributes = study.user_attrs
        about = attributes.get(STUDY) or {}
        self._limits = (about.get("settings") or {}).get("outputs") or attributes.get(LIMITS) or {}
        self._parameters = stored_parameters(about)
        try:
            wanted = about.get("constraints") if self._parameters else None
            self._space = constrained_space(self._parameters, wanted) if wanted else None
        except InvalidInputError:  # damaged
            self._space = None

    def has_rules(self) -> bool:
        """Whether there is anything to be within."""
        return bool(self._limits) or self._space is not None

    def is_within(self, trial: FrozenTrial) -> bool:
        """Whether it succeeded, and meets all limits and constraints; what Optuna has been told, where it has none."""
        if trial.state != TrialState.COMPLETE or trial.value is None:
            return False
        if self._limits:
            told = outputs_of(trial)
            excesses = constraint_attributes({told["objective"]: trial.value, **told["further"]}, self._limits)
        else:
            excesses = trial.constraints
        if not all(excess <= 0.0 for excess in excesses.values()):
            return False
        if self._space is None or not self._parameters.keys() <= trial.params.keys():
            return True
        return not self._space.violated([shown(d, trial.params[name]) for name, d in self._parameters.items()])
