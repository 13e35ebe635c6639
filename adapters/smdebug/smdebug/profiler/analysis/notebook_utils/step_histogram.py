"""StepHistogram: how long steps and their phases took."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from typing import Optional

from ...algorithm_metrics_reader import AlgorithmMetricsReader
from ._drawing import Picture, bins_of, found, histogram, show

_BINS = 50
_SELECTED = ("Step:ModeKeys", "Forward-node", r"Backward\(post-forward\)-node", "^Forward$", r"^Backward\(post-forward\)$")


class StepHistogram:
    """Attributes:
    step_metrics: seconds by phase (with its node).
    """

    def __init__(self, metrics_reader: AlgorithmMetricsReader, width: int = 500):
        self.metrics_reader = metrics_reader
        self.width = width
        self.last_timestamp = metrics_reader.get_timestamp_of_latest_available_file()
        self.target: Optional[Picture] = None
        self.clear()

    def clear(self) -> None:
        self.step_metrics: dict[str, list[float]] = {}

    def plot(
        self,
        starttime: float = 0,
        endtime: Optional[float] = None,
        select_metrics: Sequence[str] = _SELECTED,
        show_workers: bool = True,
    ) -> Picture:
        """A histogram for each phase in which one of the patterns is found, of 50 bins from the least to the median and
        two standard deviations. Times: microseconds since 1970."""
        self.metrics_reader.refresh_event_file_list()
        self._select = list(select_metrics), show_workers
        self.clear()
        self._take(starttime, float(1 << 62) if endtime is None else endtime)
        return self._show()

    def update_data(self, current_timestamp: float) -> Picture:
        """The same with what came since, up to this time."""
        self.metrics_reader.refresh_event_file_list()
        self._take(self.last_timestamp + 1, current_timestamp)
        return self._show()

    def _take(self, start: float, end: float) -> None:
        patterns, show_workers = self._select
        for event in self.metrics_reader.get_events(start, end):
            if not found(patterns, event.event_phase):
                continue
            key = f"{event.event_phase}-nodeid:{event.node_id}" if show_workers else event.event_phase
            self.step_metrics.setdefault(key, []).append(event.duration / 1e6)
            self.last_timestamp = max(self.last_timestamp, int(event.end_time))

    def _show(self) -> Picture:
        drawings = []
        for phase, seconds in sorted(self.step_metrics.items()):
            first = min(seconds)
            last = max(statistics.median(seconds) + 2 * statistics.pstdev(seconds), first + 1e-6)
            edges = [first + (last - first) * number / _BINS for number in range(_BINS + 1)]
            beyond = sum(one > last for one in seconds)
            title = f"{phase}: {len(seconds)}" + (f", {beyond} longer" if beyond else "")
            drawings.append(histogram(title, bins_of(seconds, edges), edges, "seconds", self.width))
        self.target = show(Picture(drawings))
        return self.target
