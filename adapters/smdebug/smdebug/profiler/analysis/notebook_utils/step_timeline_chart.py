"""StepTimelineChart: how long each step took, over time."""

from __future__ import annotations

from typing import Optional

from ...algorithm_metrics_reader import AlgorithmMetricsReader
from ._drawing import Picture, lines, show


class StepTimelineChart:
    """Drawn at once, and anew by update_data().

    Attributes:
        steps: points (seconds since the first, milliseconds) by mode and node.
    """

    def __init__(self, metrics_reader: AlgorithmMetricsReader, width: int = 1000):
        self.metrics_reader = metrics_reader
        self.width = width
        self.target: Optional[Picture] = None
        self.create_plot()

    def create_plot(self, endtime: float = float(1 << 62)) -> Picture:
        self.metrics_reader.refresh_event_file_list()
        events = [
            event for event in self.metrics_reader.get_events(0, endtime) if event.event_name.startswith("Step:ModeKeys")
        ]
        first_us = min((event.start_time for event in events), default=0)
        self.steps: dict[str, list[tuple[float, float]]] = {}
        for event in events:
            point = (event.start_time - first_us) / 1e6, event.duration / 1e3
            self.steps.setdefault(f"{event.event_name}-nodeid:{event.node_id}", []).append(point)
        drawing = lines("Steps", self.steps, ("seconds since the first step", "milliseconds"), self.width)
        self.target = show(Picture([drawing]))
        return self.target

    def update_data(self, current_timestamp: float) -> Picture:
        return self.create_plot(current_timestamp)
