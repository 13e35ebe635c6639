"""Waits: how long the training thread was blocked in data loaders, counted also in steps that nobody looks at.

A batch costs two readings of the clock and a few additions. Whose waits they were is known later: the wait for the first
batches of a loader is the evaluation's when a model is called in evaluation mode next.
"""

from __future__ import annotations

import threading
import time
from typing import Any, Callable, Optional

from . import loader_queue

# Programs that draw batches ahead have so many before the first call of a model.
_MAX_AHEAD = 2

_clock = time.perf_counter_ns
_thread = threading.get_ident


class Waits:
    """Of one process; those of the thread that trains."""

    __slots__ = ("thread", "timed", "changes", "queue", "_before_ns", "_source", "_batches", "_source_ns", "_start_ns")

    def __init__(self) -> None:
        self.thread = 0  # that trains
        self.timed: Optional[Callable[..., None]] = None  # called with a name of Listener's around each wait
        self.queue: Optional[loader_queue.Queue] = None  # of the last batch that was asked for while `timed`
        self.changes = 0  # how often batches came from another iterator than before
        self._before_ns = 0  # waited for all others than the last one
        self._source = 0  # id of the iterator that gave the last batch
        self._batches = 0  # that it has given since the change
        self._source_ns = 0  # waited for them
        self._start_ns = 0  # and until the iterator was made

    @property
    def total_ns(self) -> int:
        return self._before_ns + self._source_ns

    def begins(self, iterator: Any) -> Any:
        """The next batch of this iterator is asked for: what ends() and fails() get."""
        timed = self.timed
        if timed is not None:
            self.queue = loader_queue.look(iterator) or self.queue
            timed("phase_begins", "data_wait")
            self.timed = None  # one loader may draw from another
        return iterator, _clock(), timed, None

    def ends(self, wait: Any) -> None:
        """The batch is there."""
        iterator, begin, timed, _ = wait
        # An iterator has one thread that draws from it: which, is asked once.
        if id(iterator) == self._source or self._change(id(iterator)):
            self._source_ns += _clock() - begin
            self._batches += 1
        self._end_phase(timed)

    def fails(self, wait: Any) -> None:
        """There is none, or the program's code has raised."""
        self._end_phase(wait[2])

    def _end_phase(self, timed: Optional[Callable[..., None]]) -> None:
        if timed is not None:
            self.timed = timed
            timed("phase_ends", "data_wait")

    def take_queue(self) -> Optional[loader_queue.Queue]:
        """Of the step's last batch, once."""
        queue, self.queue = self.queue, None
        return queue

    def started(self, iterator: Any, nanoseconds: int) -> None:
        """An iterator was made in this time, or begins anew."""
        if self._change(id(iterator)):
            self._start_ns = nanoseconds

    def of_newest(self, changes: int) -> tuple[int, int]:
        """Nanoseconds waited for the first batches of an iterator that was new since there were so many changes, and
        until it was made; 0 where none was, or it has given more than first batches."""
        if self.changes == changes or self._batches > _MAX_AHEAD:
            return 0, 0
        return self._source_ns, self._start_ns

    def _change(self, source: int) -> bool:
        """Another iterator gives what follows, if it does so to the thread that trains."""
        if _thread() != self.thread:
            return False
        self._before_ns += self._source_ns
        self._source = source
        self._batches = self._source_ns = self._start_ns = 0
        self.changes += 1
        return True


WAITS = Waits()
