"""MetricsHistogram: how often each share of a resource was in use."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Optional

from ...system_metrics_reader import SystemMetricsReader
from ._drawing import Picture, bins_of, found, histogram, show

_EDGES = [float(edge) for edge in range(0, 101, 2)]


class MetricsHistogram:
    """Attributes:
    system_metrics: the values by dimension (with its node) and name; "total" is the mean at each time.
    target: the picture that was shown last.
    """

    def __init__(self, metrics_reader: SystemMetricsReader):
        self.metrics_reader = metrics_reader
        self.last_timestamp = 0
        self.target: Optional[Picture] = None
        self.clear()

    def clear(self) -> None:
        self.system_metrics: dict[str, dict[str, list[float]]] = {}

    def plot(
        self,
        starttime: float = 0,
        endtime: Optional[float] = None,
        select_dimensions: Sequence[str] = (".*",),
        select_events: Sequence[str] = (".*",),
        show_workers: bool = True,
    ) -> Picture:
        """A histogram for each dimension and name of which one of the patterns is found. Times: microseconds since 1970."""
        self.metrics_reader.refresh_event_file_list()
        end = float(1 << 62) if endtime is None else endtime
        self._select = list(select_dimensions), list(select_events), show_workers
        self.clear()
        self._take(starttime, end)
        return self._show()

    def update_data(self, current_timestamp: float) -> Picture:
        """The same with what came since, up to this time."""
        self.metrics_reader.refresh_event_file_list()
        self._take(self.last_timestamp + 1, current_timestamp)
        return self._show()

    def _take(self, start: float, end: float) -> None:
        at: dict[str, dict[int, list[float]]] = {}
        for event in self.metrics_reader.get_events(start, end):
            key = f"{event.dimension}-nodeid:{event.node_id}" if self._select[2] else event.dimension
            time_us = int(event.timestamp * 1e6)
            self.last_timestamp = max(self.last_timestamp, time_us)
            self.system_metrics.setdefault(key, {}).setdefault(str(event.name), []).append(event.value)
            at.setdefault(key, {}).setdefault(time_us // 20_000, []).append(event.value)
        for key, ticks in at.items():
            total = [sum(values) / len(values) for values in ticks.values()]
            self.system_metrics[key].setdefault("total", []).extend(total)

    def _show(self) -> Picture:
        dimensions, events, _ = self._select
        drawings = [
            histogram(f"{dimension}, {name}", bins_of(values, _EDGES), _EDGES, "%")
            for dimension, names in sorted(self.system_metrics.items())
            if found(dimensions, dimension)
            for name, values in sorted(names.items())
            if found(events, name)
        ]
        self.target = show(Picture(drawings))
        return self.target
