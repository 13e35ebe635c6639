"""Start times: how long a process took until its first train step had ended, and what that was made of."""

from __future__ import annotations

import os
import time
from typing import Optional

_clock = time.perf_counter


def seconds_since_start() -> Optional[float]:
    """Since this process began, or None where the system does not say. To a hundredth."""
    try:
        with open("/proc/self/stat", "rb") as file:
            began = int(file.read().rpartition(b")")[2].split()[19])
        return time.clock_gettime(time.CLOCK_BOOTTIME) - began / os.sysconf("SC_CLK_TCK")
    except (OSError, ValueError, IndexError, AttributeError):
        return None


class StartTimes:
    """Made when the process is attached."""

    def __init__(self) -> None:
        self._imports_s = seconds_since_start()
        self._attached_at = _clock()
        self._opened_at = self._attached_at

    def opened(self) -> None:
        """The hook is opened: a model is called for the first time."""
        self._opened_at = _clock()

    def first_step_ended(self) -> dict[str, float]:
        """Seconds, by the name of the signal. The total is there only where it is known when the process began."""
        now = _clock()
        parts = {
            "start/building_seconds": self._opened_at - self._attached_at,
            "start/first_step_seconds": now - self._opened_at,
        }
        if self._imports_s is None:
            return parts
        total = self._imports_s + now - self._attached_at
        return {"start_seconds": total, "start/imports_seconds": self._imports_s, **parts}
