"""MergedTimeline: all timelines of a profile in one trace, for chrome://tracing and ui.perfetto.dev."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from enum import Enum
from typing import Any, Optional, Union

from trainwarden import _places

from ...algorithm_metrics_reader import LocalAlgorithmMetricsReader
from ...system_metrics_reader import LocalSystemMetricsReader
from ...trace_event_file_parser import TraceEvent

_LOW_GPU_PERCENT = 85
_SAME_TICK_S = 0.02
_OTHER = 1_000_000
# The numbers of phases in the trace, by which viewers sort them.
_BASES = {
    "Step:": 1,
    "Forward": 10_000,
    "Backward": 20_000,
    "DataIterator": 30_000,
    "Dataset": 40_000,
    "/device": 50_000,
    "/host": 60_000,
    "gpu_functions": 70_000,
    "cpu_functions": 80_000,
    "Horovod": 90_000,
}


class MergeUnit(Enum):
    """What `start` and `end` of merge_timeline() are."""

    TIME = "time"
    STEP = "step"


class MergedTimeline:
    """
    Args:
        path: a folder of SageMaker's profiler, or a run of Trainwarden's.
        file_suffix_filter: only files that end so ("pythontimeline.json", ...); None: all.
        output_directory: where the trace is written; None: `path`, and the current folder for a run or a bucket, into
            which nothing is written.
    """

    def __init__(
        self, path: str, file_suffix_filter: Optional[Sequence[str]] = None, output_directory: Optional[str] = None
    ):
        self.path = path
        self.file_suffix_filter = file_suffix_filter
        self.framework_metrics_reader = LocalAlgorithmMetricsReader(path)
        is_only_read = _places.is_in_bucket(path) or self.framework_metrics_reader._source.is_run
        self.out_dir = output_directory or (os.getcwd() if is_only_read else os.path.expanduser(path))

    def merge_timeline(
        self,
        start: float,
        end: float,
        unit: Union[MergeUnit, str] = MergeUnit.TIME,
        sys_metrics_filter: Optional[Mapping[str, Any]] = None,
    ) -> str:
        """Writes the trace and returns its path. `start` and `end`: microseconds since 1970, or steps.

        Args:
            sys_metrics_filter: {"lowgpu": ()}, also when it is None: marks where all GPUs were below 85 %; {}: does not.
        """
        if MergeUnit(unit) is MergeUnit.STEP:
            start, end = self.framework_metrics_reader._time_interval(int(start), int(end))
        events = self.framework_metrics_reader.get_events(start, end, file_suffix_filter=self.file_suffix_filter)
        wanted = {"lowgpu": ()} if sys_metrics_filter is None else sys_metrics_filter
        os.makedirs(self.out_dir, exist_ok=True)
        path = os.path.join(self.out_dir, f"{int(end)}_{os.uname().nodename.replace('_', '-')}_merged_timeline.json")
        with open(path + ".tmp", "w", encoding="utf-8") as file:
            file.write("[")
            rows = _trace(events) + (self._low_gpus(start, end) if "lowgpu" in wanted else [])
            file.write(",\n".join(json.dumps(row) for row in rows))
            file.write("\n]\n")
        os.replace(path + ".tmp", path)
        return path

    def _low_gpus(self, start: float, end: float) -> list[dict[str, Any]]:
        events = LocalSystemMetricsReader(self.path).get_events(start, end)
        gpus = sorted(
            (event.timestamp, event.value) for event in events if event.type == "gpu" and "Util" in event.dimension
        )
        ticks: list[list[tuple[float, float]]] = []
        for time_s, value in gpus:
            if not ticks or time_s - ticks[-1][0][0] > _SAME_TICK_S:
                ticks.append([])
            ticks[-1].append((time_s, value))
        low = [tick for tick in ticks if all(value < _LOW_GPU_PERCENT for _, value in tick)]
        named = {"name": "process_name", "ph": "M", "pid": _OTHER + 1, "args": {"name": "sys_metrics_bottlenecks"}}
        marks = [
            {
                "name": "LowGpu",
                "ph": "i",
                "s": "g",
                "ts": int(tick[0][0] * 1e6),
                "pid": _OTHER + 1,
                "tid": 0,
                "args": {"GPUs": len(tick), "highest": max(value for _, value in tick)},
            }
            for tick in low
        ]
        return [named, *marks] if marks else []


def _trace(events: Sequence[TraceEvent]) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = []
    numbers: dict[tuple[str, str], int] = {}
    used: dict[int, int] = {}
    for event in sorted(events, key=lambda one: one.start_time):
        key = event.event_phase, event.node_id
        if key not in numbers:
            base = next((base for prefix, base in _BASES.items() if prefix in event.event_phase), _OTHER + 10)
            numbers[key] = base + used.get(base, 0)
            used[base] = used.get(base, 0) + 1
            label = f"{event.event_phase}, {event.node_id}"
            pid = {"ph": "M", "pid": numbers[key]}
            rows.append({"name": "process_name", **pid, "args": {"name": label}})
            rows.append({"name": "process_sort_index", **pid, "args": {"sort_index": numbers[key]}})
        row = json.loads(event.to_json())
        rows.append({**row, "pid": numbers[key], "tid": event.phase_tid})
    return rows
