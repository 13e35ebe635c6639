"""Stopwatch: divides time among what is open, each nanosecond to the innermost. Knows nothing of torch, nor of steps."""

from __future__ import annotations

from typing import Callable, NamedTuple, Optional

REST = "rest"  # while nothing is open
CAPTURE = "capture"  # what our own listeners took, whatever was open
# Programs nest a few phases; what is opened deeper counts as what it was opened in.
_MAX_OPEN = 64
# Inside the one the other is no phase of its own: a model that computes its loss.
_ABSORBED = {("forward", "loss")}


class _Open(NamedTuple):
    name: str
    charged: str  # the phase that its time goes to


class Stopwatch:
    """Of one thread. `clock` gives nanoseconds that never go back, `captured` those of our listeners until now."""

    def __init__(self, clock: Callable[[], int], captured: Callable[[], int]) -> None:
        self._clock = clock
        self._captured = captured
        self._captured_at = captured()
        self.now = clock()  # until when time has been charged
        self._open: list[_Open] = []
        self._too_deep = 0
        self._spent: dict[str, int] = {}
        self.base = REST  # what time is charged to while nothing is open
        self.only: Optional[frozenset[str]] = None  # what can be opened now; None: everything
        self.edge: Optional[Callable[[str], None]] = None  # is told at each border what ends there

    def settle(self) -> None:
        """Charges the time until now."""
        captured, now = self._captured(), self._clock()  # in this order: what has been captured lies before now
        passed = max(0, now - self.now)
        ours = min(max(0, captured - self._captured_at), passed)
        innermost = self._open[-1].charged if self._open else self.base
        self._add(CAPTURE, ours)
        self._add(innermost, passed - ours)
        self._captured_at, self.now = captured, max(now, self.now)
        if self.edge is not None:
            self.edge(innermost)

    def begin(self, name: str) -> None:
        if self.only is not None and name not in self.only:
            return
        if len(self._open) == _MAX_OPEN:
            self._too_deep += 1
            return
        self.settle()
        outer = self._open[-1].charged if self._open else self.base
        self._open.append(_Open(name, outer if (outer, name) in _ABSORBED else name))

    def end(self, name: str) -> None:
        """Ends the innermost phase of this name, and what was left open in it by an exception."""
        if self._too_deep:
            self._too_deep -= 1
            return
        if not self._open:
            return
        depth = next((i for i in reversed(range(len(self._open))) if self._open[i].name == name), None)
        if depth is None:
            return
        self.settle()
        del self._open[depth:]

    def move(self, nanoseconds: int, to: str, *sources: str) -> int:
        """So much of what was charged to `sources`, the first ones first, was spent on `to`. Gives how much there was."""
        left = max(0, nanoseconds)
        for source in sources:
            part = min(left, self._spent.get(source, 0))
            self._add(source, -part)
            self._add(to, part)
            left -= part
        return max(0, nanoseconds) - left

    def charge(self, nanoseconds: int, to: str) -> None:
        """So much more, which lies before what was measured."""
        self._add(to, nanoseconds)

    def take(self) -> dict[str, int]:
        """What was spent on each phase since the last time. What is open was left open by an exception."""
        self.settle()
        spent, self._spent = self._spent, {}
        self._open.clear()
        self._too_deep = 0
        return spent

    def _add(self, phase: str, nanoseconds: int) -> None:
        if nanoseconds:
            self._spent[phase] = self._spent.get(phase, 0) + nanoseconds
