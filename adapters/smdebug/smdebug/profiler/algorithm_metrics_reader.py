"""Readers of the framework's timelines: steps, phases, operators."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from typing import Optional

from .metrics_reader_base import MetricsReaderBase
from .profiler_constants import (
    HOROVODTIMELINE_SUFFIX,
    MODELTIMELINE_SUFFIX,
    PYTHONTIMELINE_SUFFIX,
    SMDATAPARALLELTIMELINE_SUFFIX,
    TENSORBOARDTIMELINE_SUFFIX,
)
from .trace_event_file_parser import TraceEvent, read_tf_profiler_metadata_file, read_trace_file
from .utils import get_timestamp_from_tracefilename, is_valid_tfprof_tracefilename, is_valid_tracefilename

_FAR_US = 1 << 62
_TYPES = {
    PYTHONTIMELINE_SUFFIX: "PythontimelineMetrics",
    MODELTIMELINE_SUFFIX: "DetailedframeworkMetrics",
    TENSORBOARDTIMELINE_SUFFIX: "TFProfilerMetrics",
    HOROVODTIMELINE_SUFFIX: "HorovodMetrics",
    SMDATAPARALLELTIMELINE_SUFFIX: "SMDataParallelMetrics",
}


class AlgorithmMetricsReader(MetricsReaderBase[TraceEvent]):
    """What the framework did when."""

    prefix = "framework"

    def _time_of(self, path: str) -> Optional[int]:
        if is_valid_tfprof_tracefilename(path):
            return int(read_tf_profiler_metadata_file(path)[2])
        if not is_valid_tracefilename(path):
            return None
        # One that is still written has no time in its name.
        return get_timestamp_from_tracefilename(path) or int(os.path.getmtime(path) * 1e6)

    def _read(self, path: str) -> list[TraceEvent]:
        name = path[: -len(".tmp")] if path.endswith(".tmp") else path
        kind = next((kind for suffix, kind in _TYPES.items() if name.endswith(suffix)), "")
        return read_trace_file(path, kind)

    def _times(self, event: TraceEvent) -> tuple[float, float]:
        return event.start_time, event.end_time

    def _files_within(self, start_us: int, end_us: int) -> Iterable[str]:
        """A file is named by the end of its last event: none that ends before can have one, all that follow may. A trace
        of TensorFlow's whose time nobody knows has 0 for it, and times of its own."""
        first = self._from(start_us)
        unknown = [path for time_us, path in self._files[:first] if time_us == 0]
        return [*unknown, *(path for _, path in self._files[first:])]

    def _time_interval(self, start_step: int, end_step: int) -> tuple[float, float]:
        """From the start of one step to just before the start of the other; (0, 0) when either is not there."""
        starts: dict[int, float] = {}
        for event in self.get_events(0, _FAR_US, file_suffix_filter=[PYTHONTIMELINE_SUFFIX]):
            step = (event.event_args or {}).get("step_num")
            if step is not None:
                starts[int(step)] = min(event.start_time, starts.get(int(step), event.start_time))
        if start_step not in starts or end_step not in starts:
            self.logger.info(f"Invalid step interval [{start_step}, {end_step}]")
            return 0, 0
        return starts[start_step], starts[end_step] - 1

    def get_events_by_step(
        self,
        start_step: int,
        end_step: int,
        event_type: Optional[str] = None,
        file_suffix_filter: Optional[Sequence[str]] = None,
    ) -> list[TraceEvent]:
        """From the start of one step to that of the other."""
        start_us, end_us = self._time_interval(start_step, end_step)
        if end_us <= start_us:
            return []
        return self.get_events(start_us, end_us, event_type=event_type, file_suffix_filter=file_suffix_filter)


class LocalAlgorithmMetricsReader(AlgorithmMetricsReader):
    """Of a folder of SageMaker's profiler, or of a run of Trainwarden's."""


class S3AlgorithmMetricsReader(AlgorithmMetricsReader):
    """The same of an address in S3: what is new there is brought here at each look, every two seconds at most."""

    def __init__(self, s3_trial_path: str, use_in_memory_cache: bool = False):
        super().__init__(s3_trial_path, use_in_memory_cache)
