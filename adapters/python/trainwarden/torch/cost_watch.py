"""CostWatch: asks the watchdog after each step of which something was wanted, and gives up what it says."""

from __future__ import annotations

from typing import Optional

from .. import faults
from . import listeners
from .memory_use import MemoryUse
from .recorder import Recorder
from .watchdog import Part, Watchdog


class CostWatch:
    """Of one session."""

    def __init__(self) -> None:
        self._watchdog: Optional[Watchdog] = None
        self._memory = MemoryUse()

    @faults.guarded("see what watching takes of the training")
    def step_ended(self, recorder: Recorder) -> bool:
        """Is nothing more to be captured of this process?"""
        board, watchdog = listeners.board, self._watchdog
        if watchdog is None:
            watchdog = self._watchdog = Watchdog(listeners.spent_ns, recorder.hook.report().bill.budget)
        excess = watchdog.step_ended()
        if board.resident_bytes is not None:
            excess = watchdog.looked(board.grown_bytes) or excess
        if excess is not None:
            recorder.give_up(*excess)
        board.grown_bytes = 0
        board.resident_bytes = self._memory.resident_bytes if recorder.examiner.is_full else None
        return excess is not None and excess[0] is Part.CAPTURE
