"""What objectives and scripts for Optuna ask of a trial that stands as it stood (its FrozenTrial)."""

from __future__ import annotations

import datetime
import math
from typing import Any, Optional


class OptunaRecordNames:
    """The names; TrialRecord, which has them, has the data."""

    objectives: tuple[str, ...]
    attributes: dict[str, Any]
    metrics: dict[str, float]
    series: dict[str, list[tuple[int, float]]]
    state: str
    started_unix_ns: int
    ended_unix_ns: int

    @property
    def values(self) -> Optional[list[float]]:
        """Of each objective; None until it is complete. Of a pruned trial the last value that it reported."""
        if all(name in self.metrics for name in self.objectives):
            return [self.metrics[name] for name in self.objectives]
        curve = self.series.get(self.objectives[0], []) if self.objectives else []
        is_pruned = self.state == "pruned" and len(self.objectives) == 1 and bool(curve)
        return [curve[-1][1]] if is_pruned and not math.isnan(curve[-1][1]) else None

    @property
    def value(self) -> Optional[float]:
        """Of the only objective; RuntimeError where there are several."""
        if len(self.objectives) > 1:
            raise RuntimeError("the study has several objectives: expected trial.values")
        return self.values[0] if self.values else None

    @property
    def intermediate_values(self) -> dict[int, float]:
        """Of the first objective, by step."""
        return dict(self.series.get(self.objectives[0], [])) if self.objectives else {}

    @property
    def last_step(self) -> Optional[int]:
        return max(self.intermediate_values, default=None)

    @property
    def user_attrs(self) -> dict[str, Any]:
        """What set_user_attr() has kept with it; it is there once the trial has ended."""
        return self.attributes

    @property
    def datetime_start(self) -> Optional[datetime.datetime]:
        """In this machine's time zone, without saying so; None: not begun."""
        return _local(self.started_unix_ns)

    @property
    def datetime_complete(self) -> Optional[datetime.datetime]:
        return _local(self.ended_unix_ns)

    @property
    def duration(self) -> Optional[datetime.timedelta]:
        if not self.started_unix_ns or not self.ended_unix_ns:
            return None
        return datetime.timedelta(microseconds=(self.ended_unix_ns - self.started_unix_ns) // 1000)


def _local(unix_ns: int) -> Optional[datetime.datetime]:
    return datetime.datetime.fromtimestamp(unix_ns / 1e9) if unix_ns else None
