"""TrainingEnd: ends a training that was asked to stop, by the trainer of a library or by an exception."""

from __future__ import annotations

from typing import Callable, Optional

from .. import faults
from ..hook import Hook
from ..stopping import StopTraining
from . import trainers
from .ranks import LastStep


class TrainingEnd:
    """Of one session."""

    def __init__(self, leave: Callable[[], None]) -> None:
        """`leave` ends the session."""
        self._leave = leave
        self._last_step = LastStep()
        self._has_asked = False  # the trainer of a library was asked to end the training

    def end(self, hook: Optional[Hook], reason: str, step: int) -> None:
        """Ends the training after this step: a trainer of a library keeps its work, all else gets StopTraining."""
        if self._has_asked or not self._last_step.has_come(step):
            return
        _flush(hook)
        library = _ask_trainer()
        if library is not None:
            faults.say(f"the training was asked to stop, and the trainer of {library} ends it: {reason}")
            self._has_asked = True
            return
        faults.say(f"the training was asked to stop: {reason}")
        self._leave()
        raise StopTraining(reason)


@faults.guarded("ask the trainer to end the training")
def _ask_trainer() -> Optional[str]:
    return trainers.ask_to_stop()


@faults.guarded("write out what was captured")
def _flush(hook: Optional[Hook]) -> None:
    if hook is not None:
        hook.flush()
