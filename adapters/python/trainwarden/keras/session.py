"""Session: each batch of a process' models becomes a step of its run."""

from __future__ import annotations

import functools
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from operator import methodcaller
from typing import Any, Optional

from .. import faults
from .._cluster import rank_and_size
from .._opening import open_for_attach
from .._owners import is_owned, owning
from ..guard import StepAdvice, may_veto
from ..hook import Hook
from ..stopping import StopTraining
from .fit_length import FitLength
from .functions import Followed, FollowedStep, Parts
from .names import ModelNames, package_of
from .recorder import Recorder
from .vetoing import Veto
from .whole_loops import LoopStep

_MODES = {"train": "train", "test": "eval", "predict": "predict"}


class Session:
    """Captures what one thread of this process does with its models; those of others meanwhile are left alone.

    Attributes:
        may_veto: rules inside the training can keep a step from happening.
    """

    def __init__(self, run_dir: Optional[str], backend: Any) -> None:
        self._run_dir = run_dir
        self._backend = backend
        self._hook: Optional[Hook] = None
        self._recorder: Optional[Recorder] = None
        self._thread: Optional[threading.Thread] = None
        self._is_closed = False
        self._is_stopping = False
        self._is_validating = False
        self._is_step_open = False  # of a validation, whose last step has its results, too
        self._expected = self._steps = 1  # of the call that is open: at most, and as it was
        self._steps_before: Optional[int] = None  # it, as the model counts them
        self._length = FitLength()
        self.may_veto = False

    def run(self, function: FollowedStep, args: tuple[Any, ...]) -> Any:
        """A step of a model."""
        if self._is_closed or is_owned() or not self._is_ours():
            return function.own(*args)
        if self._is_stopping and function.kind == "train":
            raise StopTraining("a request")  # the trainer was told, but the program trains on
        parts = self._begin(function, args)
        veto = Veto(functools.partial(function.hold, args)) if self.may_veto and function.kind == "train" else None
        with owning(), self._backend.unheard():
            if self._recorder is None:
                result, found = function.own(*args), dict[str, Any]()
            else:
                result, found = function.call(args, self._recorder.names_of(function.model), parts, veto)
        self._bill(function)
        self._count(function)
        self._record_inside(function, found)
        if veto is not None and veto.is_possible and self._is_vetoed():
            result = veto.take_back(result)
        self._end(function, result)
        return result

    def run_loop(self, loop: LoopStep, args: tuple[Any, ...]) -> Any:
        """A call that has many steps, which are known when it is over. If it fails, those before that are kept."""
        if self._is_closed or is_owned() or not self._is_ours():
            return loop.own(*args)
        if self._is_stopping:
            raise StopTraining("a request")
        self._begin(loop, args)
        if self.may_veto:
            faults.say_once("rules cannot veto steps in a loop within a compiled function")
        try:
            with owning(), self._backend.unheard():
                return loop.run(*args)
        finally:
            self._end_loop(loop)

    def will_want(self, name: str, *collections: str) -> bool:
        """Of a train step, now or later: as far as is known now."""
        if self._hook is None or self._recorder is None:
            return False
        self._hook.set_mode(_MODES["train"])
        return self._recorder.will_want(name, *collections)

    def fitting(self, first_epoch: int) -> Any:
        """While fit() runs, which begins with this epoch."""
        return self._length.fitting(first_epoch)

    def fit_is_to_have(self, params: Mapping[str, Any]) -> None:
        """What Keras tells its callbacks."""
        self._length.learn(params)

    @contextmanager
    def validating(self, model: Any) -> Iterator[dict[str, Any]]:
        """The validation of an epoch. Who runs it puts what came of it into the dict."""
        results: dict[str, Any] = {}
        self._is_validating = not self._is_closed and self._is_ours()
        try:
            yield results
        finally:
            self._is_validating = False
            self._end_validation(model, results)

    def may_update(self, step: FollowedStep, found: dict[str, Any]) -> bool:
        """Before an update that is not compiled, of which this was found, as `step` has learnt."""
        if self._is_closed or not self._is_ours():
            return True
        self._begin(step, ())
        self._record_inside(step, found)
        found.clear()
        return not self._is_vetoed()

    def names_of(self, model: Any) -> Optional[ModelNames]:
        """None: nothing is captured."""
        if self._is_closed or not self._is_ours() or (self._hook is None and self._open(model) is None):
            return None
        return None if self._recorder is None else self._recorder.names_of(model)

    def start_anew(self) -> None:
        """In a forked child."""
        self._hook = self._recorder = self._thread = None
        self._is_stopping = self._is_validating = self._is_step_open = False

    def close(self) -> None:
        self._is_closed = True
        hook, self._hook, self._recorder = self._hook, None, None
        if hook is not None:
            hook.close()

    def _is_ours(self) -> bool:
        if self._thread is None or not self._thread.is_alive():
            self._thread = threading.current_thread()
        return self._thread is threading.current_thread()

    @faults.guarded("begin a step of Keras")
    def _begin(self, function: Followed, args: tuple[Any, ...]) -> Optional[Parts]:
        """The parts that somebody wants of it; None: nothing, not even its loss."""
        self._end_open_step(function.model)
        hook = self._hook or self._open(function.model)
        if hook is None or self._recorder is None:
            return None
        begin = time.perf_counter_ns()
        hook.set_mode(_MODES[function.kind])
        self._expect(function, args, hook)
        parts = self._recorder.wanted_parts(function)
        if function.learnt is not None:  # what is found out once is not on the bill: no interval would make it cheaper
            hook.add_cost_ns(max(0, time.perf_counter_ns() - begin))
        return parts

    def _expect(self, function: Followed, args: tuple[Any, ...], hook: Hook) -> None:
        """A call may have several steps in one graph, of which the last is seen."""
        self._steps = self._expected = self._backend.steps_of_call(function, args)
        if self._expected > 1:
            hook.begin_steps(self._expected)
            self._steps_before = self._backend.steps_so_far(function)

    def _bill(self, function: FollowedStep) -> None:
        """For what ran beside the step."""
        if self._hook is not None:
            self._hook.add_cost_ns(getattr(function, "spent_ns", 0))

    @faults.guarded("count the steps of a call of Keras")
    def _count(self, function: FollowedStep) -> None:
        """The last call of an epoch may have had fewer."""
        if self._expected > 1 and self._steps_before is not None:
            self._steps = max(1, min(self._expected, self._backend.steps_so_far(function) - self._steps_before))

    @faults.guarded("end a step of Keras")
    def _end(self, function: FollowedStep, result: Any) -> None:
        if self._hook is None or self._recorder is None:
            return
        self._record_end(self._recorder, function, result)
        self._is_step_open = True
        if not self._is_validating:
            self._end_open_step(function.model)

    @faults.guarded("record the steps of a loop within a compiled function")
    def _end_loop(self, loop: LoopStep) -> None:
        if self._hook is None or self._recorder is None:
            return
        steps, rows = loop.take()
        if steps == 0:
            return
        self._recorder.learn(loop)
        if not rows:
            self._hook.begin_steps(steps)  # what is wanted at one of them is kept at the last
            self._end_steps(steps, loop.model, lambda recorder: recorder.record_end(loop, None))
            return
        if steps > len(rows):
            self._end_steps(steps - len(rows), loop.model)
        for row in rows[:-1]:
            self._end_steps(1, loop.model, methodcaller("record_row", row))
        self._end_steps(1, loop.model, lambda recorder: recorder.record_last_row(loop, rows[-1]))

    def _end_open_step(self, model: Any) -> None:
        if not self._is_step_open:
            return
        self._is_step_open = False
        steps, self._steps = self._steps, 1
        self._end_steps(steps, model)

    def _end_steps(self, steps: int, model: Any, record: Optional[Callable[[Recorder], None]] = None) -> None:
        """`record`: what is seen of the last of them."""
        if record is not None and self._recorder is not None:
            record(self._recorder)
        if self._hook is not None and self._hook.end_steps(steps).stop_requested:
            self._is_stopping = True
            model.stop_training = True

    @faults.guarded("record the validation of an epoch")
    def _end_validation(self, model: Any, results: dict[str, Any]) -> None:
        if self._is_step_open and self._recorder is not None:
            self._recorder.record_validation(model, results)
        self._end_open_step(model)

    @faults.guarded("record what a step of Keras computes")
    def _record_inside(self, function: FollowedStep, found: dict[str, Any]) -> None:
        if self._recorder is not None:
            self._recorder.record_inside(function, found)

    @faults.guarded("ask whether a step of Keras may be")
    def _is_vetoed(self) -> bool:
        return self._hook is not None and self._hook.judge() is not StepAdvice.PROCEED

    @faults.guarded("record a step of Keras")
    def _record_end(self, recorder: Recorder, function: FollowedStep, result: Any) -> None:
        recorder.record_end(function, result)

    def _open(self, model: Any) -> Optional[Hook]:
        options: dict[str, Any] = {}
        place = rank_and_size()
        if place is not None:
            options.update(rank=place[0], world_size=place[1])
        frameworks = [package_of(model), self._backend.name]
        labels = self._length.labels()
        self._hook = open_for_attach(self._run_dir, frameworks, labels=labels, **options)
        if self._hook is None:
            self._is_closed = True  # said why; once is enough
            return None
        self._recorder = Recorder(self._hook, self._backend)
        self.may_veto = may_veto(self._hook)
        if self.may_veto and self._hook.world_size > 1:
            self.may_veto = False  # each sees gradients of its own, and their sum would be in some weights only
            faults.say_once("rules cannot veto a step of a training with several workers")
        return self._hook
