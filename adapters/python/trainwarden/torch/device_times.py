"""Device times: how long an accelerator worked on each phase of a step, by events that it passes in its own time.

An event is recorded where the host passes from one phase to another. Nobody waits for it: once the accelerator has
passed the last one of a step, the times between them are known, and are written with the step that is open then.
"""

from __future__ import annotations

from collections import deque
from typing import Any, Callable, NamedTuple, Optional

import torch

from .. import faults

# Of a step; one with more is left out.
_MAX_EDGES = 256
# Steps that the accelerator may lie behind; older ones are left out.
_MAX_WAITING = 4


class Known(NamedTuple):
    """What is known of a step by now."""

    global_step: int
    seconds: dict[str, float]  # by phase


class _Edge(NamedTuple):
    event: Any
    ends: str  # the phase that ends here


class DeviceTimes:
    """Of one thread and its current stream."""

    def __init__(self, make_event: Optional[Callable[[], Any]] = None) -> None:
        """`make_event`: in place of torch.cuda's, wherever the program computes."""
        self._given = make_event
        self._is_broken = False
        self._free: list[Any] = []
        self._edges: Optional[list[_Edge]] = None  # of the step that is open; None: it is left out
        self._waiting: deque[tuple[int, list[_Edge]]] = deque()

    def begin_step(self) -> Optional[Callable[[str], None]]:
        """Gives what is to be told where a phase ends; None while no accelerator is in use."""
        self._edges = None
        if self._is_broken or (self._given is None and not torch.cuda.is_initialized()):
            return None
        self._edges = []
        self._see("")
        return self._see

    def _see(self, phase: str) -> None:
        if self._edges is None:
            return
        try:
            self._record(self._edges, phase)
        except Exception as error:
            self._give_up(error)

    def _record(self, edges: list[_Edge], phase: str) -> None:
        if len(edges) == _MAX_EDGES or (self._given is None and is_recorded()):
            self._forget(edges)
            self._edges = None
            return
        event = self._free.pop() if self._free else self._make()
        event.record()
        edges.append(_Edge(event, phase))

    def _make(self) -> Any:
        return self._given() if self._given is not None else torch.cuda.Event(enable_timing=True)

    def end_step(self, global_step: int) -> None:
        if self._edges and len(self._edges) > 1:
            if len(self._waiting) == _MAX_WAITING:
                self._forget(self._waiting.popleft()[1])
            self._waiting.append((global_step, self._edges))
        self._edges = None

    def take_known(self) -> Optional[Known]:
        """Of the newest step that the accelerator is done with, which is given once."""
        try:
            return self._newest_known()
        except Exception as error:
            self._give_up(error)
            return None

    def _give_up(self, error: Exception) -> None:
        """An accelerator that has failed is the program's to deal with; the times of the host go on."""
        self._is_broken = True
        self._edges = None
        self._waiting.clear()
        faults.report("time the accelerator", error)

    def _newest_known(self) -> Optional[Known]:
        known = None
        while self._waiting and self._waiting[0][1][-1].event.query():
            step, edges = self._waiting.popleft()
            seconds: dict[str, float] = {}
            for before, edge in zip(edges, edges[1:]):
                milliseconds = before.event.elapsed_time(edge.event)
                seconds[edge.ends] = seconds.get(edge.ends, 0.0) + milliseconds / 1e3
            self._forget(edges)
            known = Known(step, seconds)
        return known

    def _forget(self, edges: list[_Edge]) -> None:
        self._free += [edge.event for edge in edges]


def is_recorded() -> bool:
    """Is what the stream is asked for recorded as a graph, instead of done?"""
    is_capturing = getattr(torch.cuda, "is_current_stream_capturing", None)
    return is_capturing is not None and bool(is_capturing())
