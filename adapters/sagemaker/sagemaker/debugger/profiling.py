"""The names of the profiler. There is none yet: an estimator that is given one of these says so."""

from __future__ import annotations

from typing import Any

NO_PROFILER = (
    "Trainwarden has no profiler yet; leave it out. Times of steps and phases are captured without it "
    "(`trainwarden show RUN`, `trainwarden top RUN`)"
)


class _OfTheProfiler:
    """Keeps what it was given, for the error."""

    def __init__(self, *positional: Any, **given: Any):
        self.positional = positional
        self.given = given


class ProfilerConfig(_OfTheProfiler):
    """How a training is profiled."""


class FrameworkProfile(_OfTheProfiler):
    """Which steps of a training are profiled."""
