"""Phases: how long a step spent on data, forward, backward and the optimizer, in seconds of the host's clock.

On an accelerator, whose work goes on by itself, these are the times that the training thread took to ask for it.
"""

from __future__ import annotations

import time
from typing import Any, Optional

_clock = time.perf_counter


class Phases:
    """Adds up what the parts of a step take; `data` is what lies between the last step, or iteration, and a forward."""

    def __init__(self, hook: Any) -> None:
        self._hook = hook
        self._seconds = {"data": 0.0, "forward": 0.0, "backward": 0.0, "optimizer": 0.0}
        self._began: dict[str, float] = {}
        self._idle_since: Optional[float] = None  # the end of the last iteration

    def begin(self, phase: str) -> None:
        now = _clock()
        self._began[phase] = now
        if phase == "forward" and self._idle_since is not None:
            self._seconds["data"] += now - self._idle_since
            self._idle_since = None

    def end(self, phase: str) -> None:
        began = self._began.pop(phase, None)
        if began is None:
            return
        self._seconds[phase] += _clock() - began

    def end_iteration(self) -> None:
        """What follows, until the next forward, is the program's work on data."""
        self._idle_since = _clock()

    def save(self, is_wanted: bool) -> None:
        """At the end of a step: saves what has occurred in it, and begins anew.

        Only where anything else is wanted: a step that nobody looks at is not written for the sake of these.
        """
        for phase, seconds in self._seconds.items():
            if is_wanted and seconds > 0.0:
                self._hook.save_scalar(f"phase/{phase}", seconds)
            self._seconds[phase] = 0.0
