"""TrialSteps: a run's steps, which of them are there, and what is new."""

from __future__ import annotations

import time

import trainwarden
from trainwarden.errors import Unavailable

from ..analysis.utils import refresh
from ..core.logger import get_logger
from ..core.modes import ModeKeys, core_mode
from ..core.tensor import StepState
from ..exceptions import NoMoreData, StepNotYetAvailable, StepUnavailable
from .news import RunNews
from .step_range import StepRange
from .workers import WorkerNames

_POLL_INTERVAL_S = 0.05
_STATES = {state.name.replace("_", " ").lower(): state for state in StepState}


class TrialSteps:
    """The half of a Trial that knows of no tensor. Steps are steps of `mode`; with ModeKeys.GLOBAL, global steps."""

    def __init__(self, path: str, source: trainwarden.Trial, steps: StepRange):
        self.path = path
        self.source = source
        self.logger = get_logger()
        self.dynamic_refresh = True
        self.range_steps = None if steps.is_all else (steps.begin, steps.end)
        self._range = steps
        self._names = WorkerNames(source)
        self._news = RunNews(source)
        self._news.look()

    # Looking for new data.

    @property
    def loaded_all_steps(self) -> bool:
        """The training has ended, and the trial knows all that it left."""
        return self.source.loaded_all_steps

    def job_finished(self) -> bool:
        """Has the training ended?"""
        self.maybe_refresh()
        return self.loaded_all_steps

    def maybe_refresh(self, name: str | None = None) -> None:
        """Looks for new data, unless there can be none or dynamic_refresh is False."""
        if self.dynamic_refresh and not self.source.loaded_all_steps:
            self.refresh_data()

    def refresh_tensor(self, tname: str, steps: list[int] | None = None) -> None:
        """The same as refresh_data()."""
        self.refresh_data()

    def refresh_data(self) -> None:
        """Looks for new data. A passing fault of the storage is logged, and the next look may do better."""
        try:
            self.source.refresh()
        except Unavailable as fault:
            self.logger.warning("%s; trying again at the next look", fault)
            return
        self._news.look()

    # Workers.

    @property
    def num_workers(self) -> int:
        """How many processes write the run."""
        return self.source.world_size

    def workers(self) -> list[str]:
        """Their names, sorted: "worker_0", ..."""
        self.maybe_refresh()
        return self._names.shown()

    def shown_worker(self, core_name: str) -> str:
        return self._names.shown_of(core_name)

    def core_worker(self, worker: str | None) -> str:
        """What trainwarden calls the worker; "" for None, the first that has the tensor."""
        return self._names.core_of(worker)

    # Steps.

    @property
    def last_complete_step(self) -> int:
        """The newest global step that all workers have written; -1 when there is none."""
        if self._range.is_all:
            return self.source.last_complete_step
        return max(self.within_range(self.source.steps(), ModeKeys.GLOBAL), default=-1)

    @property
    def last_index_token(self) -> str | None:
        """Where smdebug would go on reading: the index file of the last complete step's last worker."""
        step = self.last_complete_step
        if step < 0:
            return None
        return f"{self.path}/index/{step // 1000:09d}/{step:012d}_{self._names.shown()[-1]}.json"

    def steps(self, mode: ModeKeys = ModeKeys.GLOBAL, show_incomplete_steps: bool = False) -> list[int]:
        """The complete steps, rising; those that some workers have yet to write only when they are asked for."""
        self.maybe_refresh()
        return self.within_range(self.source.steps(core_mode(mode), include_incomplete=show_incomplete_steps), mode)

    def modes(self) -> list[ModeKeys]:
        """Those that the program has set."""
        return [ModeKeys[mode.name] for mode in self.source.modes if mode is not trainwarden.Mode.GLOBAL]

    def global_step(self, mode: ModeKeys, mode_step: int) -> int | None:
        """None when the mode has no such step."""
        if mode is ModeKeys.GLOBAL:
            return mode_step
        core, step = core_mode(mode), int(mode_step)
        found = self.source.global_step(core, step)
        if found is None:
            self.maybe_refresh()
            found = self.source.global_step(core, step)
        return found

    def mode_modestep(self, global_step: int) -> tuple[ModeKeys, int] | tuple[None, None]:
        """The mode of a global step and the number that it has there; (None, None) when it is not known."""
        step = int(global_step)
        if self.source.mode_of(step) is None:
            self.maybe_refresh()
        mode, mode_step = self.source.mode_of(step), self.source.mode_step_of(step)
        if mode is None or mode_step is None or step not in self._range:
            return None, None
        return ModeKeys[mode.name], mode_step

    def mode(self, global_step: int) -> ModeKeys | None:
        return self.mode_modestep(global_step)[0]

    def mode_step(self, global_step: int) -> int | None:
        return self.mode_modestep(global_step)[1]

    def has_passed_step(self, step: int, mode: ModeKeys = ModeKeys.GLOBAL) -> StepState:
        """Is the step there, may it still come, or will it never?"""
        self.maybe_refresh()
        core = core_mode(mode)
        if self.in_range(int(step), mode):
            return _STATES[self.source.step_state(int(step), core).value]
        passed = any(known > step for known in self.within_range(self.source.steps(core), mode))
        never = passed or self.loaded_all_steps
        return StepState.UNAVAILABLE if never else StepState.NOT_YET_AVAILABLE

    def wait_for_steps(self, required_steps: list[int], mode: ModeKeys = ModeKeys.GLOBAL) -> None:
        """Waits until each step is there.

        Raises:
            StepUnavailable: one was not saved.
            NoMoreData: the training has ended before one.
        """
        with refresh(self):
            for step in required_steps:
                while True:
                    state = self.has_passed_step(step, mode)
                    if state is StepState.AVAILABLE:
                        break
                    if state is StepState.UNAVAILABLE:
                        raise self._never(step, mode)
                    time.sleep(_POLL_INTERVAL_S)

    def expect_step(self, step: int, mode: ModeKeys) -> None:
        """Raises StepUnavailable or StepNotYetAvailable unless the step is there."""
        state = self.has_passed_step(step, mode)
        if state is StepState.UNAVAILABLE:
            raise StepUnavailable(step, mode, hint=self._saved_around(step, mode))
        if state is StepState.NOT_YET_AVAILABLE:
            raise StepNotYetAvailable(step, mode, hint=self._saved_around(step, mode))

    def _never(self, step: int, mode: ModeKeys) -> StepUnavailable | NoMoreData:
        known = self.steps(mode, show_incomplete_steps=True)
        if self.loaded_all_steps and (not known or step >= known[-1]):
            return NoMoreData(step, mode, known[-1] if known else -1)
        return StepUnavailable(step, mode, hint=self._saved_around(step, mode))

    def _saved_around(self, step: int, mode: ModeKeys) -> str:
        known = self.steps(mode, show_incomplete_steps=True)
        near = sorted(sorted(known, key=lambda other: abs(other - step))[:3])
        return f"the nearest saved: {', '.join(map(str, near))}" if near else "no step was saved yet"

    def in_range(self, step: int, mode: ModeKeys) -> bool:
        """Is the step one that this trial may know? Steps that the run does not have are in no doubt."""
        if self._range.is_all:
            return True
        global_step = step if mode is ModeKeys.GLOBAL else self.source.global_step(core_mode(mode), step)
        return global_step is None or global_step in self._range

    def within_range(self, steps: list[int], mode: ModeKeys) -> list[int]:
        return steps if self._range.is_all else [step for step in steps if self.in_range(step, mode)]
