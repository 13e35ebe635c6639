"""TimelineCharts: what was in use over time, and what the framework did meanwhile."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Optional

from ...algorithm_metrics_reader import AlgorithmMetricsReader
from ...system_metrics_reader import SystemMetricsReader
from ._drawing import Picture, found, lines, show

_MOST_LINES = 16


class TimelineCharts:
    """Drawn at once, and anew by update_data(): a chart for each dimension, and one of the framework's phases.

    Attributes:
        system_metrics: points (seconds since the first, value) by dimension and name; "total" is the mean at each time.
    """

    def __init__(
        self,
        system_metrics_reader: SystemMetricsReader,
        framework_metrics_reader: Optional[AlgorithmMetricsReader],
        starttime: float = 0,
        endtime: Optional[float] = None,
        select_dimensions: Sequence[str] = (".*",),
        select_events: Sequence[str] = (".*",),
        x: int = 1000,
        show_workers: bool = True,
    ):
        self.system_metrics_reader = system_metrics_reader
        self.framework_metrics_reader = framework_metrics_reader
        self._select = list(select_dimensions), list(select_events)
        self._start, self._show_workers, self.width = starttime, show_workers, x
        self.target: Optional[Picture] = None
        self.create_plot(endtime)

    def create_plot(self, endtime: Optional[float] = None) -> Picture:
        end = float(1 << 62) if endtime is None else endtime
        self.system_metrics_reader.refresh_event_file_list()
        self._take(self.system_metrics_reader.get_events(self._start, end))
        drawings = [
            lines(dimension, _few(names), ("seconds", ""), self.width)
            for dimension, names in sorted(self.system_metrics.items())
        ]
        if self.framework_metrics_reader is not None:
            drawings.append(self._phases(end))
        self.target = show(Picture(drawings))
        return self.target

    def update_data(self, current_timestamp: float) -> Picture:
        return self.create_plot(current_timestamp)

    def find_time_annotations(self, indexes: Sequence[tuple[float, float]]) -> dict[str, float]:
        """What the framework did in these stretches (microseconds since 1970): microseconds by phase."""
        sums: dict[str, float] = {}
        if self.framework_metrics_reader is None:
            return sums
        for begin, end in indexes:
            for event in self.framework_metrics_reader.get_events(begin, end):
                within = min(event.end_time, end) - max(event.start_time, begin)
                sums[event.event_phase] = sums.get(event.event_phase, 0) + max(within, 0)
        return sums

    def _take(self, events: Sequence[Any]) -> None:
        self._first_s = min((event.timestamp for event in events), default=0)
        ticks: dict[str, dict[float, list[float]]] = {}
        metrics: dict[str, dict[str, list[tuple[float, float]]]] = {}
        for event in events:
            where = f"-nodeid:{event.node_id}" if self._show_workers else ""
            key = f"{event.dimension or event.name}{where}"
            if not found(self._select[0], key) or not found(self._select[1], event.name):
                continue
            time_s = event.timestamp - self._first_s
            metrics.setdefault(key, {}).setdefault(str(event.name), []).append((time_s, event.value))
            ticks.setdefault(key, {}).setdefault(round(time_s, 1), []).append(event.value)
        for key, at in ticks.items():
            metrics[key]["total"] = [(time_s, sum(values) / len(values)) for time_s, values in at.items()]
        self.system_metrics = metrics

    def _phases(self, end: float) -> str:
        assert self.framework_metrics_reader is not None
        self.framework_metrics_reader.refresh_event_file_list()
        phases: dict[str, list[tuple[float, float]]] = {}
        for event in self.framework_metrics_reader.get_events(self._start, end):
            time_s = event.start_time / 1e6 - (self._first_s or event.start_time / 1e6)
            phases.setdefault(event.event_phase, []).append((time_s, event.duration / 1e3))
        return lines("Events of the framework", _few(phases), ("seconds", "milliseconds"), self.width)


def _few(names: dict[str, list[tuple[float, float]]]) -> dict[str, list[tuple[float, float]]]:
    """The mean, and as many others as can be told from each other: the busiest."""
    order = sorted(names, key=lambda name: -sum(value for _, value in names[name]) / len(names[name]))
    kept = ["total", *(name for name in order if name != "total")] if "total" in names else order
    return {name: names[name] for name in kept[:_MOST_LINES]}
