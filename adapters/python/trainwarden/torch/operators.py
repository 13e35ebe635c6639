"""Operators: the hook is told which ones run, in the steps in which it wants to know."""

from __future__ import annotations

import _thread
import weakref
from typing import Any, Callable, Optional

import torch

from .. import _core
from ..stacks import StackSampling
from ..faults import guarded
from .memory_use import device_memory

# Of this process, once it was asked: why operators cannot be recorded, or nothing.
_obstacle: Optional[str] = None


class OperatorFeed:
    """Belongs to the thread that drives training. One hook of a process is told at a time."""

    def __init__(self, hook: Any, note_unseen: Callable[[str], None]) -> None:
        """`note_unseen` writes to the run what is not captured."""
        self._hook = hook
        self._note_unseen = note_unseen
        self._stop: Optional[weakref.finalize[..., Any]] = None
        self._stacks = StackSampling(hook, note_unseen, device_memory)
        _prepare()  # now, and not under a profiler of the program's, which would count what is tried

    def follow(self) -> None:
        """A step begins, or a backward pass has ended in it."""
        if self._hook.wants_operators != (self._stop is not None):
            self._change()

    @guarded("record operators")
    def _change(self) -> None:
        if self._stop is not None:
            self.stop()
            return
        obstacle = _find_obstacle()
        if obstacle:
            self._note_unseen(obstacle)
        elif turn := _core.feed_operators(self._hook):
            # Also when whoever watches is dropped in the middle of a window.
            self._stop = weakref.finalize(self, _end, turn, self._stacks)
            self._stacks.start()

    def stop(self) -> None:
        if self._stop is not None:
            self._stop()
            self._stop = None


def _end(turn: int, stacks: StackSampling) -> None:
    stacks.stop()
    _core.end_feeding(turn)


@guarded("find out whether operators can be recorded")
def _prepare() -> None:
    _find_obstacle()


def _find_obstacle() -> str:
    global _obstacle
    if _obstacle is None:
        major, minor = (int(part) for part in torch.__version__.split(".")[:2])
        try:
            _obstacle = _core.prepare_operators(major, minor, _run_named)
        except RuntimeError as error:  # the system gives no thread
            _obstacle = f"operators: {error}"
    return _obstacle


def _run_named(name: str) -> None:
    """In a thread of its own: a profiler of the program that is on in this one would record it too."""
    done = _thread.allocate_lock()

    def run() -> None:
        try:
            with torch.autograd.profiler.record_function(name):
                pass
        finally:
            done.release()

    done.acquire()
    _thread.start_new_thread(run, ())
    done.acquire()
