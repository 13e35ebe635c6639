"""Tensor: one tensor of a trial, over its steps."""

from __future__ import annotations

import bisect
from collections.abc import Callable
from enum import Enum
from typing import TYPE_CHECKING, Any, NoReturn, TypeVar

import numpy as np
import trainwarden
from trainwarden.errors import InvalidArgument, NotFound, OutOfRange, Unavailable

from ..exceptions import (
    InvalidWorker,
    ShapeUnavailableForStep,
    SMDebugNotImplementedError,
    SMDebugRuntimeError,
    SMDebugValueError,
    TensorUnavailableForStep,
)
from .late_files import read_patiently
from .modes import ModeKeys, core_mode
from .original_names import original_name

if TYPE_CHECKING:
    from ..trials.trial import Trial

Array = np.ndarray[Any, np.dtype[Any]]
Read = TypeVar("Read")

_SAVED = ("value", "scalar", "reductions", "shape")
_REDUCTIONS = ("min", "max", "mean", "std", "variance", "sum", "prod", "l1", "l2")


class StepState(Enum):
    """Whether a step can be read. UNAVAILABLE: it was never saved, or never will be."""

    UNAVAILABLE = 0
    AVAILABLE = 1
    NOT_YET_AVAILABLE = 2


class _OtherForm(Exception):
    """The tensor exists, but not in the requested form; the message says in which."""


class Tensor:
    """One tensor of a trial, from trial.tensor(name).

    `step_num` is a step of `mode`; with the default, ModeKeys.GLOBAL, it is the global step. `worker` is a name of
    trial.workers(); None is the first that has the tensor at that step.

    Each method that takes a step raises, when the tensor does not exist there:
        StepUnavailable: the step was not saved. StepNotYetAvailable: the training has not reached it.
        TensorUnavailableForStep: the step was saved without this tensor.
        InvalidWorker: the worker has not written it.
        SMDebugRuntimeError: its bytes are damaged.

    Attributes:
        name: of the tensor.
        trial: where it is from.
        cache: keep the values that were read.
    """

    def __init__(self, name: str, trial: Trial, cache: bool = False):
        self.name = name
        self.trial = trial
        self.cache = cache
        self._handle = trial.source.tensor(name)
        self._kept: dict[tuple[int, ModeKeys, str | None], Array] = {}

    def __repr__(self) -> str:
        return f"<Tensor {self.name!r} of {self.trial.path!r}>"

    @property
    def original_name(self) -> str | None:
        """What the framework called it, where smdebug's hook made the name nicer and kept the shape; else None."""
        return original_name(self.trial.source, self.name)

    # Steps.

    def steps(self, mode: ModeKeys = ModeKeys.GLOBAL, show_incomplete_steps: bool = False) -> list[int]:
        """The steps at which the tensor was saved, rising; incomplete ones only on request.

        These are the steps with its value, reductions, or shape, as smdebug's hook saves them. Steps at which only a
        rule of Trainwarden needed statistics are left out, unless nothing else was ever saved of the tensor.
        """
        self.trial.maybe_refresh()
        core = core_mode(mode)
        steps = self._handle.steps(core, kept=_SAVED, include_incomplete=show_incomplete_steps)
        if not steps and not self._handle.steps(kept=_SAVED, include_incomplete=True):
            steps = self._handle.steps(core, kept="any", include_incomplete=show_incomplete_steps)
        return self.trial.within_range(steps, mode)

    def prev_steps(self, step: int, n: int | None = None, mode: ModeKeys = ModeKeys.GLOBAL) -> list[int]:
        """The last n of its steps up to this one, itself included; all of them when n is None or 0."""
        steps = self.steps(mode)
        before = steps[: bisect.bisect_right(steps, step)]
        return before[-n:] if n else before

    def workers(self, step_num: int, mode: ModeKeys = ModeKeys.GLOBAL) -> list[str]:
        """Those that wrote this tensor at the step. TensorUnavailableForStep when none did."""
        found = self._writers(step_num, mode)
        if not found:
            raise TensorUnavailableForStep(self.name, step_num, mode)
        return found

    def step(self, step_num: int, mode: ModeKeys = ModeKeys.GLOBAL, worker: str | None = None) -> NoReturn:
        raise SMDebugNotImplementedError("step() is gone; ask for value() or reduction_value()")

    # What is there at a step.

    def value(self, step_num: int, mode: ModeKeys = ModeKeys.GLOBAL, worker: str | None = None) -> Array:
        """A copy of the whole tensor, in the dtype in which it was saved.

        A number of save_scalar() has shape (1,); texts are an array of str. TensorUnavailableForStep also when only
        reductions or the shape were saved.
        """
        key = (step_num, mode, worker)
        if key in self._kept:
            return self._kept[key]
        try:
            value = self._read(self._value_of, step_num, mode, worker)
        except _OtherForm as other:
            has_reductions = bool(self.reduction_values(step_num, mode, worker))
            raise TensorUnavailableForStep(self.name, step_num, mode, has_reductions, hint=str(other)) from None
        if self.cache:
            self._kept[key] = value
        return value

    def values(self, mode: ModeKeys = ModeKeys.GLOBAL, worker: str | None = None) -> dict[int, Array]:
        """value() by step, of all complete steps of the tensor."""
        return {step: self.value(step, mode, worker) for step in self.steps(mode)}

    def shape(
        self, step_num: int, mode: ModeKeys = ModeKeys.GLOBAL, worker: str | None = None
    ) -> tuple[int, ...]:
        """ShapeUnavailableForStep when neither the shape nor the value was saved."""
        try:
            return self._read(self._shape_of, step_num, mode, worker)
        except _OtherForm as other:
            raise ShapeUnavailableForStep(self.name, step_num, mode, hint=str(other)) from None

    def reduction_value(
        self,
        step_num: int,
        reduction_name: str,
        mode: ModeKeys = ModeKeys.GLOBAL,
        worker: str | None = None,
        abs: bool = False,
    ) -> np.float64:
        """The reduction that was saved, else one computed from what was: from statistics, or from the value.

        Computed ones are exact to the last bits of a double: norms over all elements, of any shape; variance and
        std of the population. `abs`: of |x|.

        Arguments:
            reduction_name: min, max, mean, std, variance, sum, prod, l1 or l2.

        Raises:
            SMDebugValueError: it is none of these, or the tensor holds texts.
            TensorUnavailableForStep: nothing from which it could be computed was saved.
        """
        if reduction_name not in _REDUCTIONS:
            self._expect_at(step_num, mode, worker)
            raise SMDebugValueError(f"expected one of {', '.join(_REDUCTIONS)}, found {reduction_name!r}")

        def reduction_of(name: str, step: int, core: str, of_worker: str) -> np.float64:
            source = self.trial.source
            return np.float64(source.reduction(name, step, reduction_name, abs=abs, mode=core, worker=of_worker))

        try:
            return self._read(reduction_of, step_num, mode, worker)
        except _OtherForm as other:
            raise TensorUnavailableForStep(self.name, step_num, mode, hint=f"no {reduction_name}: {other}") from None

    def reduction_values(
        self, step_num: int, mode: ModeKeys = ModeKeys.GLOBAL, worker: str | None = None
    ) -> dict[tuple[str, bool], np.float64]:
        """The reductions that were saved, by (name, of |x|); none when only the value was."""
        try:
            saved = self._read(self.trial.source.saved_reductions, step_num, mode, worker)
        except _OtherForm:
            return {}
        return {(name, of_abs): np.float64(value) for name, of_abs, value in saved}

    # Reading.

    def _read(
        self, read: Callable[[str, int, str, str], Read], step_num: int, mode: ModeKeys, worker: str | None
    ) -> Read:
        """read(name, step, mode, worker) of the trial. _OtherForm when the tensor is there at the step, but not so."""
        core, of_worker = core_mode(mode), self.trial.core_worker(worker)
        step = int(step_num)
        try:
            if self.trial.in_range(step, mode):
                return read_patiently(self.trial, lambda: read(self.name, step, core, of_worker))
        except (NotFound, OutOfRange):
            pass  # which of the reasons it is, the following finds out
        except (trainwarden.DataLoss, InvalidArgument) as error:
            raise self._unreadable(error) from error
        self._expect_at(step, mode, worker)
        try:
            return read(self.name, step, core, self.trial.core_worker(worker))
        except (NotFound, OutOfRange, Unavailable) as other:
            raise _OtherForm(str(other)) from None
        except (trainwarden.DataLoss, InvalidArgument) as error:
            raise self._unreadable(error) from error

    @staticmethod
    def _unreadable(error: trainwarden.Error) -> Exception:
        kind = SMDebugRuntimeError if isinstance(error, trainwarden.DataLoss) else SMDebugValueError
        return kind(str(error))

    def _expect_at(self, step: int, mode: ModeKeys, worker: str | None) -> None:
        """Raises the reason when the tensor is not there at the step, after another look for new data."""
        writers = self._writers(step, mode)
        if not writers:
            self.trial.maybe_refresh(self.name)
            self.trial.expect_step(step, mode)
            writers = self._writers(step, mode)
        if not writers:
            nearest = self._nearest_steps(step, mode)
            raise TensorUnavailableForStep(self.name, step, mode, hint=f"steps that have it: {nearest}")
        if worker and worker not in writers:
            raise InvalidWorker(worker, hint=f"those that have written {self.name}: {', '.join(writers)}")

    def _writers(self, step: int, mode: ModeKeys) -> list[str]:
        if not self.trial.in_range(step, mode):
            return []
        found = self.trial.source.workers_of(self.name, step, core_mode(mode))
        return [self.trial.shown_worker(worker) for worker in found]

    def _nearest_steps(self, step: int, mode: ModeKeys) -> str:
        steps = self.steps(mode)
        at = bisect.bisect_left(steps, step)
        return ", ".join(map(str, steps[max(at - 2, 0) : at + 2])) or "none"

    def _value_of(self, name: str, step: int, mode: str, worker: str) -> Array:
        source = self.trial.source
        try:
            value = source.value(name, step, mode, worker)
        except OutOfRange as not_whole:  # as a number of save_scalar() is not
            try:
                return np.array([source.scalar(name, step, mode, worker)])
            except OutOfRange:
                raise not_whole from None
        return value.astype(str) if value.dtype == object else value.copy()

    def _shape_of(self, name: str, step: int, mode: str, worker: str) -> tuple[int, ...]:
        shape = self.trial.source.shape(name, step, mode, worker)
        if shape == () and self._handle.info.scalars:
            return self._value_of(name, step, mode, worker).shape
        return shape
