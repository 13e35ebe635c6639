"""RunningSteps: which optimizers' step() runs, of which some call those of others."""

from __future__ import annotations

import sys
import threading
import weakref
from typing import Optional

from torch.optim import Optimizer

from .._horovod import sums_up_in_step
from .frames import frames, variables_of

# After so many steps of other threads in a row the one that trained before does no longer.
_PATIENCE = 64


class RunningSteps:
    """Of the thread that trains, which is another one once another one steps."""

    def __init__(self) -> None:
        self.thread = 0  # that trains
        self.nest = False  # one of them has called another's
        self._running: list[weakref.ref[Optimizer]] = []  # the outermost first
        self._has_stepped = False
        self._others = 0  # steps of other threads since one of this
        self._summing: Optional[int] = None  # the optimizer of Horovod's whose step() waits for others, by its id

    def __bool__(self) -> bool:
        return bool(self._running)

    def are_in_thread(self) -> bool:
        return threading.get_ident() == self.thread

    def is_only(self, optimizer: Optimizer) -> bool:
        return len(self._running) == 1 and self._running[0]() is optimizer

    def enter(self, optimizer: Optimizer) -> bool:
        """Does a step() begin that is one by itself, with whatever it calls? False: somebody else's, which is going on."""
        if not self.are_in_thread() and not self._moves_here():
            return False
        self._has_stepped = True
        self._others = 0
        if sums_up_in_step(optimizer) and self._summing != id(optimizer):
            self._summing = id(optimizer)  # the step() that it calls then has the gradients
            self.nest = True
            return False
        self._summing = None
        if self._running:
            self._running = [each for each in self._running if _is_running(each())]
        self._running.append(weakref.ref(optimizer))
        self.nest = self.nest or self.are_nested()
        return True

    def are_nested(self) -> bool:
        return len(self._running) > 1

    def _moves_here(self) -> bool:
        """Has training moved to this thread? Where several train at once the first one counts, as long as it goes on."""
        self._others += 1
        is_alive = self.thread in sys._current_frames()
        if is_alive and (self._running or (self._has_stepped and self._others < _PATIENCE)):
            return False
        self.thread = threading.get_ident()
        self._running.clear()
        return True

    def leave(self, optimizer: Optimizer) -> bool:
        """Has the outermost step() ended?"""
        if not self.are_in_thread() or not self._running:
            return False
        return self._running.pop()() is optimizer and not self._running


def _is_running(optimizer: Optional[Optimizer]) -> bool:
    """Is a method of the optimizer on the stack? One whose step() has raised is not."""
    if optimizer is None:
        return False
    methods = (frame for frame in frames() if frame.f_code.co_varnames[:1] == ("self",))
    return any(variables_of(frame).get("self") is optimizer for frame in methods)
