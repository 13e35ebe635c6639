"""Allowance: what may be spent on what nobody has asked for."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager

# What a budget does not count at the start of a training (docs/reference/config.md).
_START_NS = 100_000_000


class Allowance:
    """Of one training: its share of the time so far, in equal parts for each kind of thing, so that what is dear takes
    nothing from the rest. Costs are CPU time of the thread: a machine that is busy makes nothing dearer."""

    def __init__(self, share: float, parts: int) -> None:
        """`share`: of the training's time; 0: there is no limit."""
        self._share = share
        self._parts = parts
        self._began_ns = time.perf_counter_ns()
        self._spent_ns: dict[str, int] = {}
        self._last_ns: dict[str, int] = {}

    def allows(self, kind: str) -> bool:
        """Once more of this kind, as dear as the last time? The first time is for nothing."""
        if self._share <= 0 or kind not in self._last_ns:
            return True
        passed_ns = time.perf_counter_ns() - self._began_ns
        earned_ns = (_START_NS + self._share * passed_ns) / self._parts
        return self._spent_ns[kind] + self._last_ns[kind] <= earned_ns

    @contextmanager
    def paying(self, kind: str) -> Iterator[None]:
        begin = time.thread_time_ns()
        try:
            yield
        finally:
            self._last_ns[kind] = time.thread_time_ns() - begin
            self._spent_ns[kind] = self._spent_ns.get(kind, 0) + self._last_ns[kind]
