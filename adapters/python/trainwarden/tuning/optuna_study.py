"""What scripts for Optuna ask of a study beside what Study has."""

from __future__ import annotations

import importlib
import weakref
from collections.abc import Container, Mapping, Sequence
from typing import Any, Optional, SupportsFloat, Union

from .. import errors
from ._calls import number
from .records import TrialRecord, Value
from .trial import Trial
from .trial_states import StudyDirection, TrialState


class OptunaStudyNames:
    """The names; Study, which has them, has the data."""

    name: str
    spec: dict[str, Any]
    _live: weakref.WeakValueDictionary[int, Trial]  # that this process was given

    @property
    def objectives(self) -> list[str]:
        raise NotImplementedError

    @property
    def trials(self) -> list[TrialRecord]:
        raise NotImplementedError

    @property
    def best(self) -> Optional[TrialRecord]:
        raise NotImplementedError

    @property
    def front(self) -> list[TrialRecord]:
        raise NotImplementedError

    def enqueue(self, params: Mapping[str, Value]) -> TrialRecord:
        raise NotImplementedError

    def trial(self, number: int) -> Trial:
        raise NotImplementedError

    @property
    def study_name(self) -> str:
        return self.name

    @property
    def directions(self) -> list[StudyDirection]:
        """Of each objective."""
        return [StudyDirection(self.spec["metrics"][name]["goal"]) for name in self.objectives]

    @property
    def direction(self) -> StudyDirection:
        self._check_single("direction", "directions")
        return self.directions[0]

    @property
    def best_trial(self) -> TrialRecord:
        """ValueError when no trial is complete, RuntimeError where there are several objectives."""
        self._check_single("best_trial", "best_trials")
        best = self.best
        if best is None:
            raise ValueError("no trial is complete yet")
        return best

    @property
    def best_params(self) -> dict[str, Value]:
        return self.best_trial.params

    @property
    def best_value(self) -> float:
        value = self.best_trial.value
        assert value is not None
        return value

    @property
    def best_trials(self) -> list[TrialRecord]:
        """The front: trials that no other one is better than in everything."""
        return self.front

    @property
    def user_attrs(self) -> dict[str, Any]:
        """Empty: a study keeps none."""
        return {}

    def get_trials(self, deepcopy: bool = True, states: Optional[Container[TrialState]] = None) -> list[TrialRecord]:
        """All of them, or those with one of these states."""
        return [trial for trial in self.trials if states is None or trial.state in states]

    def tell(
        self,
        trial: Union[Trial, int],
        values: Union[SupportsFloat, Sequence[SupportsFloat], None] = None,
        state: Optional[TrialState] = None,
        skip_if_finished: bool = False,
    ) -> TrialRecord:
        """Ends a trial from ask(), by its number, too: with the value of each objective, or as pruned or failed."""
        one = self._trial_of(trial)
        if skip_if_finished and one.record().state.is_finished():
            return one.record()
        if state == TrialState.PRUNED:
            one.prune()
        elif state == TrialState.FAIL:
            one.fail()
        elif state in (None, TrialState.COMPLETE):
            one.finish(**metrics_of(values, self.objectives))
        else:
            raise errors.InvalidArgument(f"state: expected one that a trial ends with, found {state}")
        return one.record()

    def enqueue_trial(
        self, params: Mapping[str, Any], user_attrs: Optional[Mapping[str, Any]] = None, skip_if_exists: bool = False
    ) -> None:
        """Values that are to be tried next: of an open study of some parameters, which it need not know yet. Where they
        lie outside of what the objective asks for, others are drawn."""
        if user_attrs:
            raise errors.InvalidArgument("user_attrs: expected none, they are kept when a trial ends")
        if skip_if_exists and any(_has(trial.params, params) for trial in self.trials):
            return
        self.enqueue(params)

    def trials_dataframe(self, attrs: Optional[Sequence[str]] = None, multi_index: bool = False) -> Any:
        """A DataFrame with a row for each trial. Needs pandas."""
        if multi_index:
            raise errors.InvalidArgument("multi_index: expected False, there is none")
        pandas: Any = importlib.import_module("pandas")
        return pandas.DataFrame([_row(trial, attrs) for trial in self.trials])

    def set_user_attr(self, key: str, value: Any) -> None:
        raise errors.InvalidArgument(f"{key}: a study keeps no attributes: trial.set_user_attr() keeps them with a trial")

    def _trial_of(self, trial: Union[Trial, int]) -> Trial:
        if isinstance(trial, Trial):
            return trial
        return self._live.get(trial) or self.trial(trial)

    def _check_single(self, asked: str, other: str) -> None:
        if len(self.objectives) != 1:
            raise RuntimeError(f"{asked}: the study has several objectives, expected {other}")


def metrics_of(returned: object, objectives: Sequence[str]) -> dict[str, float]:
    """What an objective returns, by name: a number, a dict, or of several objectives a sequence in their order.

    InvalidArgument for anything else.
    """
    if isinstance(returned, Mapping):
        return {str(name): number(str(name), value) for name, value in returned.items()}
    if isinstance(returned, Sequence) and not isinstance(returned, (str, bytes)) and len(returned) == len(objectives):
        return {name: number(name, value) for name, value in zip(objectives, returned)}
    if len(objectives) == 1 and not isinstance(returned, (list, tuple)):
        return {objectives[0]: number("the objective's result", returned)}
    raise errors.InvalidArgument(
        f"expected the objective to return a dict with {', '.join(objectives)}, found {type(returned).__name__}"
    )


def _has(params: Mapping[str, Any], wanted: Mapping[str, Any]) -> bool:
    return all(name in params and params[name] == value for name, value in wanted.items())


def _row(trial: TrialRecord, attrs: Optional[Sequence[str]]) -> dict[str, Any]:
    values: Sequence[Optional[float]] = trial.values or [None] * len(trial.objectives)
    names = ["value"] if len(values) == 1 else [f"values_{i}" for i in range(len(values))]
    parts: dict[str, dict[str, Any]] = {
        "number": {"number": trial.number},
        "value": dict(zip(names, values)),
        "datetime_start": {"datetime_start": trial.datetime_start},
        "datetime_complete": {"datetime_complete": trial.datetime_complete},
        "duration": {"duration": trial.duration},
        "params": {f"params_{name}": value for name, value in trial.params.items()},
        "user_attrs": {f"user_attrs_{name}": value for name, value in trial.user_attrs.items()},
        "state": {"state": trial.state.name},
    }
    wanted = parts if attrs is None else [attr.replace("values", "value") for attr in attrs]
    return {key: value for part in wanted for key, value in parts[part].items()}
