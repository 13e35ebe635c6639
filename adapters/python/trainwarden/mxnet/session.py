"""Session: captures what this process trains. The run is opened when a model is called that a Trainer trains, or the
first Trainer updates."""

from __future__ import annotations

import atexit
import os
import threading
import weakref
from typing import Any, Callable, Optional

from mxnet import autograd
from mxnet.gluon.loss import Loss

from .. import faults
from .._opening import open_for_attach
from ..guard import StepAdvice
from ..hook import Hook
from ..steps import Cycle
from ..stopping import StopTraining
from .models import Models
from .ranks import rank_and_size
from .recorder import Recorder


class Session:
    """What comes from a thread that does not train is passed over.

    A step of training ends with an update: with that of the last trainer, where several take turns. One of evaluation
    ends before the next call of a model.
    """

    def __init__(self, run_dir: Optional[str], leave: Callable[[], None]) -> None:
        """`leave` ends the session for good: nothing can be captured, or nothing shall be any more."""
        self.run_dir = run_dir
        self._leave = leave
        self._models = Models()
        self._hook: Optional[Hook] = None
        self._recorder: Optional[Recorder] = None
        self._cycle: Cycle[int] = Cycle()
        self._process = os.getpid()
        self._thread = 0  # that trains
        self._mode = ""
        self._forwards = 0  # calls of models in this step
        self._root: Any = None  # the outermost model that is being called
        self._depth = 0  # of its calls within each other
        self._updating: Any = None  # the trainer whose update has begun

    def is_ours(self) -> bool:
        return self._thread in (0, threading.get_ident())

    # Calls.

    def passes_over(self, block: Any) -> bool:
        """Is a call of this block of no interest?"""
        recorder = self._recorder
        if self._root is None or block is self._root or recorder is None:
            return not self.is_ours()
        return recorder.passes_over(block) or not self.is_ours()

    @faults.guarded("follow a call of a block")
    def call_begins(self, block: Any) -> Optional[list[Any]]:
        """What is to be waited for before call_goes_on(): the step before ends with this call."""
        if self._root is not None or not self._models.has(block):
            return None
        recorder = self._recorder or self._open()
        return recorder.held() if recorder is not None and self._ends_before(_mode_of_calls()) else None

    @faults.guarded("follow a call of a block")
    def call_goes_on(self, block: Any) -> None:
        if self._root is not None:
            self._depth += block is self._root
            return
        recorder = self._recorder
        if recorder is None or not self._models.has(block):
            return
        self._enter_mode(recorder, _mode_of_calls())
        self._root, self._depth = block, 1
        self._forwards += 1

    @faults.guarded("capture a call of a block")
    def call_ends(self, block: Any, args: Any, output: Any) -> None:
        recorder = self._recorder
        if recorder is not None and (self._root is not None or isinstance(block, Loss)):
            is_root = block is self._root
            self._leave_call(block)
            recorder.see_call(block, args, output, is_root)

    def call_fails(self, block: Any) -> None:
        self._leave_call(block)

    def _leave_call(self, block: Any) -> None:
        if block is self._root:
            self._depth -= 1
            if self._depth == 0:
                self._root = None

    # Training.

    @faults.guarded("take in a trainer")
    def trainer_made(self, trainer: Any) -> None:
        self._models.add(trainer)
        self._cycle.expect(id(trainer))
        weakref.finalize(trainer, self._cycle.forget, id(trainer)).atexit = False
        if self._recorder is not None:
            self._recorder.expect(trainer)

    @faults.guarded("capture a loss")
    def backward_begins(self, heads: Any) -> None:
        if self._recorder is not None and self._mode == "train" and self.is_ours():
            self._recorder.see_backward(heads)

    @faults.guarded("capture what a trainer updates")
    def update_begins(self, trainer: Any) -> Optional[list[Any]]:
        """What is to be waited for before may_update()."""
        self._updating = None
        if self._hook is not None:
            self._thread = threading.get_ident()  # training may have moved to another
        self._models.add(trainer)
        recorder = self._recorder or self._open()
        if recorder is None:
            return None
        self._enter_mode(recorder, "train")
        if self._cycle.ends_before(id(trainer)):
            self._end_step(recorder)
        self._updating = trainer
        recorder.hold_update(trainer)
        return recorder.held()

    @faults.guarded("ask whether a trainer may update")
    def may_update(self, trainer: Any) -> bool:
        recorder, hook = self._recorder, self._hook
        if recorder is None or hook is None or self._updating is not trainer:
            return True
        recorder.save_held()
        recorder.save_rate(trainer)
        if not hook.is_guarded or hook.judge() is StepAdvice.PROCEED:
            return True
        if rank_and_size(trainer) is not None:  # a worker that leaves out its part would leave the others waiting
            faults.say_once("rules cannot veto a step of a training with several workers")
            return True
        return False

    @faults.guarded("end a step")
    def update_ends(self, trainer: Any) -> Any:
        """The end of the step, if it has ended."""
        recorder = self._recorder
        if recorder is None or self._updating is not trainer:
            return None
        self._updating = None
        return self._end_step(recorder) if self._cycle.ends_after(id(trainer)) else None

    def stop_if_asked(self, end: Any) -> None:
        """Ends the training behind a step, if somebody has asked for that."""
        if end is None or not end.stop_requested:
            return
        faults.say(f"the training was asked to stop: {end.stop_reason}")
        self._flush()
        self._leave()
        raise StopTraining(end.stop_reason)

    @faults.guarded("write out what was captured")
    def _flush(self) -> None:
        if self._hook is not None:
            self._hook.flush()

    # Steps.

    def _ends_before(self, mode: str) -> bool:
        """Does the step end before a call in this mode?"""
        return self._forwards > 0 and (mode != self._mode or mode == "eval")

    def _enter_mode(self, recorder: Recorder, mode: str) -> None:
        if self._ends_before(mode):
            recorder.save_held()
            self._end_step(recorder)
        if mode != self._mode and self._hook is not None:
            self._mode = mode
            self._hook.set_mode(mode)
            self._cycle.abandon()
            recorder.begin_step()

    def _end_step(self, recorder: Recorder) -> Any:
        end = self._hook.step() if self._hook is not None else None
        self._forwards = 0
        self._cycle.end()
        recorder.begin_step()
        return end

    # The run.

    def _open(self) -> Optional[Recorder]:
        trainers = self._models.trainers()
        places = filter(None, map(rank_and_size, trainers))
        place = next(places, None)  # without it the environment has the word
        options: dict[str, Any] = {} if place is None else {"rank": place[0], "world_size": place[1]}
        self._hook = open_for_attach(self.run_dir, ["gluonnlp", "mxnet"], **options)
        if self._hook is None:
            self._leave()
            return None
        self._thread = threading.get_ident()
        self._recorder = Recorder(self._hook)
        for trainer in trainers:
            self._recorder.expect(trainer)
        self._enter_mode(self._recorder, _mode_of_calls())
        atexit.register(self.close)
        return self._recorder

    @faults.guarded("close the run")
    def close(self) -> None:
        """Ends the step that is open and the run."""
        atexit.unregister(self.close)
        hook, recorder, self._hook, self._recorder = self._hook, self._recorder, None, None
        if hook is None or recorder is None or os.getpid() != self._process:
            return
        if self._forwards > 0:
            recorder.save_held()
            hook.step()
        hook.close()


def _mode_of_calls() -> str:
    return "train" if autograd.is_recording() or autograd.is_training() else "eval"
