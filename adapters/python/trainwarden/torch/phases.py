"""Phases: what the wall time of each train step was spent on, every nanosecond in exactly one phase.

Which there are, and what they mean: docs/format/phases.md. On an accelerator, whose work goes on by itself, these are the
times that the training thread took to ask for it; device_times.py has the accelerator's.

Evaluation, checkpoints, waits for data and capture are timed in every step, the rest in those that are written. What lies between
two train steps belongs to the one that ends after it.
"""

from __future__ import annotations

import threading
import time
from typing import Any, Callable, Optional

from . import listeners
from .device_times import DeviceTimes
from .stopwatch import CAPTURE, REST, Stopwatch
from .waits import WAITS, Waits

_EVALUATION, _CHECKPOINT = "evaluation", "checkpoint"
_DATA_WAIT, _DATA_START = "data_wait", "data_start"
# While a program evaluates only these are phases of their own, and in a train step that is not written these.
_IN_EVALUATION = frozenset({_CHECKPOINT})
_IN_EVERY_STEP = frozenset({_CHECKPOINT, _DATA_WAIT, _DATA_START})


class Phases:
    """Of one hook. Belongs to the thread that trains."""

    def __init__(
        self,
        hook: Any,
        clock: Callable[[], int] = time.perf_counter_ns,
        captured: Callable[[], int] = listeners.spent_ns,
        waits: Waits = WAITS,
    ) -> None:
        self._hook = hook
        self._watch = Stopwatch(clock, captured)
        self._device = DeviceTimes()
        self._waits = waits
        self._run_began = self._step_began = self._watch.now
        self._totals = {_EVALUATION: 0, _CHECKPOINT: 0, _DATA_WAIT: 0, _DATA_START: 0, CAPTURE: 0}
        self._counts = {_EVALUATION: 0, _CHECKPOINT: 0}
        self._waits_seen = waits.total_ns
        self._changes_seen = waits.changes
        self._mode = ""
        self._is_evaluating = False
        self._next_steps: dict[str, int] = {}  # the first train step of each mode that is not counted yet
        self._steps = 0  # train steps that have ended
        self._is_first = True

    # What the program does.

    def begin(self, phase: str) -> None:
        if phase == _CHECKPOINT:
            self._counts[_CHECKPOINT] += 1
        self._watch.begin(phase)

    def end(self, phase: str) -> None:
        self._watch.end(phase)

    def saved(self, nanoseconds: int) -> None:
        """A checkpoint that somebody asked for took so long, inside a listener, whose bill it is not on."""
        self._counts[_CHECKPOINT] += 1
        self._watch.settle()
        self._watch.move(nanoseconds, _CHECKPOINT, REST, _EVALUATION, CAPTURE)

    # Steps.

    def begin_step(self, mode: str, is_training: bool, is_idle: bool) -> None:
        """A step begins, perhaps in another mode."""
        if mode != self._mode:
            self._change_mode(mode, is_training)
        self._waits.thread = threading.get_ident()
        is_timed = is_training and not is_idle
        self._watch.edge = self._device.begin_step() if is_timed else None
        if is_training:
            self._watch.only = None if is_timed else _IN_EVERY_STEP

    def leave_mode(self, mode_step: int) -> None:
        """Before the hook has another mode: `mode_step` is the one that is open."""
        if not self._mode or self._is_evaluating:
            return
        if self._count_steps(mode_step):  # some ended without notice: the open step began later than all that is known
            self._forget()
            self._step_began = self._watch.now

    def end_step(self, mode_step: int, is_wanted: bool) -> bool:
        """This step of the mode ends. Is it a train step? It is written where anything of it is wanted."""
        if self._is_evaluating:
            return False
        is_known = self._count_steps(mode_step) == 0
        spent = self._forget()
        now = self._watch.now
        began, self._step_began = self._step_began, now
        self._count_steps(mode_step + 1)
        self._count_waits()
        if is_wanted and is_known:
            self._save("phase/", {**spent, "start" if self._is_first else "step": now - began})
        if is_wanted:
            self._save("phase_total/", {**self._totals, "wall": now - self._run_began})
            self._hook.save_scalar("phase_total/steps", self._steps)
            self._save_counts()
            self._save_device_times()
            self._hook.save_step_times()
        self._device.end_step(self._hook.global_step)
        self._is_first = False
        return True

    def _forget(self) -> dict[str, int]:
        """What was spent since the last time, which counts in the totals from now on."""
        spent = self._watch.take()
        for phase in (_EVALUATION, _CHECKPOINT, _DATA_START, CAPTURE):
            self._totals[phase] += spent.get(phase, 0)
        return spent

    def _count_steps(self, mode_step: int) -> int:
        """Counts the train steps of the mode before this one; gives how many were not counted yet."""
        new = mode_step - self._next_steps.get(self._mode, mode_step)
        self._next_steps[self._mode] = mode_step
        self._steps += new
        return new

    # Modes.

    def _change_mode(self, mode: str, is_training: bool) -> None:
        was_evaluating, self._mode, self._is_evaluating = self._is_evaluating, mode, not is_training
        if is_training:
            self._next_steps.setdefault(mode, self._hook.mode_step)
        if was_evaluating == self._is_evaluating:
            return
        self._counts[_EVALUATION] += self._is_evaluating
        self._watch.settle()
        self._give_newest_waits()
        self._watch.base = REST if is_training else _EVALUATION
        self._watch.only = None if is_training else _IN_EVALUATION

    def _give_newest_waits(self) -> None:
        """The mode changes because a model is called: what that was given has been waited for in the mode before."""
        waited, started = self._waits.of_newest(self._changes_seen)
        self._changes_seen = self._waits.changes
        if self._is_evaluating:
            self._count_waits()
            self._totals[_DATA_WAIT] -= waited
            missing = waited - self._watch.move(waited, _EVALUATION, _DATA_WAIT, REST)
            late = started - self._watch.move(started, _EVALUATION, _DATA_START, REST)
            self._totals[_DATA_START] -= late
            # Of steps that ended without notice nothing was kept, but these lie in the one that is open.
            self._watch.charge(missing + late, _EVALUATION)
            self._step_began -= missing + late
        else:
            self._waits_seen = self._waits.total_ns  # evaluation is one phase
            self._totals[_DATA_WAIT] += self._watch.move(waited, _DATA_WAIT, _EVALUATION)
            self._watch.move(started, _DATA_START, _EVALUATION)

    def _count_waits(self) -> None:
        seen, self._waits_seen = self._waits_seen, self._waits.total_ns
        self._totals[_DATA_WAIT] += self._waits_seen - seen

    # Writing.

    def _save(self, prefix: str, spent: dict[str, int]) -> None:
        for phase, nanoseconds in spent.items():
            if nanoseconds > 0:
                self._hook.save_scalar(prefix + phase, nanoseconds / 1e9)

    def _save_counts(self) -> None:
        for phase, count in self._counts.items():
            if count > 0:
                self._hook.save_scalar(f"phase_count/{phase}", count)

    def _save_device_times(self) -> None:
        known = self._device.take_known()
        if known is not None:
            self._hook.save_scalar("phase_device/global_step", known.global_step)
            for phase, seconds in known.seconds.items():
                self._hook.save_scalar(f"phase_device/{phase}", seconds)
