"""ProfilerTrial: the profile of a run, for programs that ask create_trial(profiler=True) for it."""

from __future__ import annotations

from typing import Any

from ..profiler.algorithm_metrics_reader import LocalAlgorithmMetricsReader
from ..profiler.system_metrics_reader import LocalSystemMetricsReader
from ..profiler.system_profiler_file_parser import ProfilerSystemEvent
from ..profiler.trace_event_file_parser import TraceEvent


class ProfilerTrial:
    """Times are microseconds since 1970.

    Attributes:
        name, trial_dir: as given.
        first_timestamp: of the first file of system metrics; 0 when there is none.
    """

    def __init__(self, name: str, trial_dir: str, output_dir: str = "/opt/ml/processing/outputs/", **kwargs: Any):
        self.name, self.trial_dir, self.output_dir = name, trial_dir, output_dir
        self.system_metrics_reader = LocalSystemMetricsReader(trial_dir)
        self.framework_metrics_reader = LocalAlgorithmMetricsReader(trial_dir)
        self.first_timestamp = self.system_metrics_reader.get_timestamp_of_first_available_file()

    def get_system_metrics(self, start_time_us: int, end_time_us: int) -> list[ProfilerSystemEvent]:
        return self.system_metrics_reader.get_events(start_time_us, end_time_us)

    def get_framework_metrics(self, start_time_us: int, end_time_us: int) -> list[TraceEvent]:
        return self.framework_metrics_reader.get_events(start_time_us, end_time_us)

    def refresh(self) -> None:
        """Looks for what came since."""
        self.system_metrics_reader.refresh_event_file_list()
        self.framework_metrics_reader.refresh_event_file_list()
