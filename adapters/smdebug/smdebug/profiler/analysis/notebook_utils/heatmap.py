"""Heatmap: how busy each processor and GPU was over time."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, Optional

from ...system_metrics_reader import SystemMetricsReader
from ._drawing import Picture, found, matrix, show

_NO_SHARES = ("Algorithm", "Platform", "")


class Heatmap:
    """Drawn at once, and anew by update_data(). Time in columns, processors and GPUs in rows.

    Attributes:
        rows: points (seconds since the first, value) by node, dimension and name.
    """

    def __init__(
        self,
        metrics_reader: SystemMetricsReader,
        select_metrics: Sequence[str] = (),
        starttime: float = 0,
        endtime: Optional[float] = None,
        select_dimensions: Sequence[str] = (".*CPU", ".*GPU"),
        select_events: Sequence[str] = (".*",),
        plot_height: int = 350,
        show_workers: bool = True,
    ):
        self.metrics_reader = metrics_reader
        self._select = list(select_dimensions), [*select_events], list(select_metrics)
        self._start, self._show_workers, self.plot_height = starttime, show_workers, plot_height
        self.target: Optional[Picture] = None
        self.create_plot(endtime)

    def create_plot(self, endtime: Optional[float] = None) -> Picture:
        self.metrics_reader.refresh_event_file_list()
        dimensions, names, metrics = self._select
        events = self.metrics_reader.get_events(self._start, float(1 << 62) if endtime is None else endtime)
        first = min((event.timestamp for event in events), default=0)
        rows: dict[str, list[tuple[float, float]]] = {}
        for event in events:
            is_share = event.dimension not in _NO_SHARES
            is_wanted = found(dimensions, event.dimension) and found(names, event.name)
            if is_share and is_wanted and (not metrics or found(metrics, event.name)):
                where = f"{event.node_id} " if self._show_workers else ""
                key = f"{where}{event.dimension} {event.name}"
                rows.setdefault(key, []).append((event.timestamp - first, event.value))
        self.rows = {name: rows[name] for name in sorted(rows, key=_natural)}
        self.target = show(Picture([matrix("In use, % over time", self.rows)]))
        return self.target

    def update_data(self, current_timestamp: float) -> Picture:
        return self.create_plot(current_timestamp)


def _natural(text: str) -> list[Any]:
    """ "cpu2" before "cpu10"."""
    return [(0, int(part), "") if part.isdigit() else (1, 0, part) for part in re.split(r"(\d+)", text)]
