"""RequiredTensors: what a rule needs at a step, fetched before it judges."""

from __future__ import annotations

from collections.abc import Iterable, KeysView, ValuesView
from typing import TYPE_CHECKING

from ..exceptions import TensorUnavailable

if TYPE_CHECKING:
    from ..core.tensor import Tensor
    from ..trials.trial import Trial


class RequiredTensors:
    """Of all trials of a rule; the default of `trial` is its base trial."""

    def __init__(self, base_trial: Trial, other_trials: Iterable[Trial] | None):
        self.base_trial = base_trial
        trials = [base_trial, *(other_trials or ())]
        self._per_trial = {trial: RequiredTensorsForTrial(trial) for trial in trials}

    def _of(self, trial: Trial | None) -> RequiredTensorsForTrial:
        return self._per_trial[self.base_trial if trial is None else trial]

    def add(self, name: str, steps: list[int], trial: Trial | None = None, should_match_regex: bool = False) -> None:
        """Asks for a tensor, or for those whose names a pattern matches now, at these global steps.

        Raises:
            TensorUnavailable: there is no tensor of that name.
        """
        self._of(trial).add(name, steps, should_match_regex)

    def get(self, trial: Trial | None = None) -> ValuesView[Tensor]:
        return self._of(trial).get()

    def get_names(self, trial: Trial | None = None) -> KeysView[str]:
        return self._of(trial).get_names()

    def get_tensor_steps(self, name: str, trial: Trial | None = None) -> list[int]:
        return self._of(trial).get_tensor_steps(name)

    def clear(self) -> None:
        for required in self._per_trial.values():
            required.clear()

    def fetch(self) -> None:
        """Waits until all steps are there. Raises when a tensor is not."""
        for required in self._per_trial.values():
            required.fetch()


class RequiredTensorsForTrial:
    """The same of one trial."""

    def __init__(self, trial: Trial):
        self.trial = trial
        self._steps: dict[str, list[int]] = {}
        self._tensors: dict[str, Tensor] = {}

    def add(self, name: str, steps: list[int], should_match_regex: bool = False) -> None:
        if not should_match_regex and not self.trial.has_tensor(name):
            raise TensorUnavailable(name)
        for found in self.trial.tensor_names(regex=[name]) if should_match_regex else [name]:
            self._tensors.setdefault(found, self.trial.tensor(found))
            self._steps.setdefault(found, []).extend(steps)

    def get(self) -> ValuesView[Tensor]:
        return self._tensors.values()

    def get_names(self) -> KeysView[str]:
        return self._steps.keys()

    def get_tensor_steps(self, name: str) -> list[int]:
        return self._steps[name]

    def clear(self) -> None:
        self._steps.clear()
        self._tensors.clear()

    def fetch(self) -> None:
        self.trial.wait_for_steps(sorted({step for steps in self._steps.values() for step in steps}))
        for name, steps in self._steps.items():
            for step in steps:
                self._tensors[name].value(step)
