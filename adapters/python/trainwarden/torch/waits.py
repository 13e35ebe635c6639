"""Waits: how long the training thread was blocked in data loaders, counted also in steps that nobody looks at.

A batch costs two readings of the clock and a few additions. Whose waits they were is known later: the wait for the first
batches of a loader is the evaluation's when a model is called in evaluation mode next.
"""

from __future__ import annotations

import threading
import time
from typing import Any, Callable, Optional

# Programs that draw batches ahead have so many before the first call of a model.
_MAX_AHEAD = 2

_clock = time.perf_counter_ns
_thread = threading.get_ident


class Waits:
    """Of one process; those of the thread that trains."""

    __slots__ = ("thread", "timed", "total_ns", "changes", "_source", "_batches", "_source_ns", "_start_ns")

    def __init__(self) -> None:
        self.thread = 0  # that trains
        self.timed: Optional[Callable[..., None]] = None  # called with a name of Listener's around each wait
        self.total_ns = 0
        self.changes = 0  # how often batches came from another iterator than before
        self._source = 0  # id of the iterator that gave the last batch
        self._batches = 0  # that it has given since the change
        self._source_ns = 0  # waited for them
        self._start_ns = 0  # and until the iterator was made

    def next(self, torch_next: Callable[[Any], Any], iterator: Any) -> Any:
        """torch_next(iterator), on the clock."""
        timed = self.timed
        if timed is not None:
            return self._timed_next(timed, torch_next, iterator)
        begin = _clock()
        try:
            return torch_next(iterator)
        finally:
            if _thread() == self.thread:
                if id(iterator) != self._source:
                    self._change(id(iterator))
                waited = _clock() - begin
                self.total_ns += waited
                self._source_ns += waited
                self._batches += 1

    def _timed_next(self, timed: Callable[..., None], torch_next: Callable[[Any], Any], iterator: Any) -> Any:
        timed("phase_begins", "data_wait")
        self.timed = None  # one loader may draw from another
        try:
            return self.next(torch_next, iterator)
        finally:
            self.timed = timed
            timed("phase_ends", "data_wait")

    def started(self, iterator: Any, nanoseconds: int) -> None:
        """An iterator was made in this time, or begins anew."""
        if _thread() == self.thread:
            self._change(id(iterator))
            self._start_ns = nanoseconds

    def of_newest(self, changes: int) -> tuple[int, int]:
        """Nanoseconds waited for the first batches of an iterator that was new since there were so many changes, and
        until it was made; 0 where none was, or it has given more than first batches."""
        if self.changes == changes or self._batches > _MAX_AHEAD:
            return 0, 0
        return self._source_ns, self._start_ns

    def _change(self, source: int) -> None:
        self._source = source
        self._batches = self._source_ns = self._start_ns = 0
        self.changes += 1


WAITS = Waits()
