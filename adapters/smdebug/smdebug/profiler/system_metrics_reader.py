"""Readers of system metrics."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Optional

from .metrics_reader_base import MetricsReaderBase
from .system_profiler_file_parser import ProfilerSystemEvent, read_system_file
from .utils import get_utctimestamp_us_since_epoch_from_system_profiler_file, validate_system_profiler_file

_MINUTE_US = 60_000_000


class SystemMetricsReader(MetricsReaderBase[ProfilerSystemEvent]):
    """How busy processors, GPUs, memory and network were."""

    prefix = "system"

    def _time_of(self, path: str) -> Optional[int]:
        return get_utctimestamp_us_since_epoch_from_system_profiler_file(path)

    def _read(self, path: str) -> list[ProfilerSystemEvent]:
        return read_system_file(path) if validate_system_profiler_file(path) else []

    def _times(self, event: ProfilerSystemEvent) -> tuple[float, float]:
        time_us = event.timestamp * 1e6
        return time_us, time_us

    def _files_within(self, start_us: int, end_us: int) -> Iterable[str]:
        """A file is named by the minute that it begins in; clocks of nodes may differ by another."""
        first, last = self._from(start_us - 2 * _MINUTE_US), self._from(end_us + 2 * _MINUTE_US)
        return [path for _, path in self._files[first:last]]


class LocalSystemMetricsReader(SystemMetricsReader):
    """Of a folder of SageMaker's profiler, or of a run of Trainwarden's."""


class S3SystemMetricsReader(SystemMetricsReader):
    """The same of an address in S3: what is new there is brought here at each look, every two seconds at most."""

    def __init__(self, s3_trial_path: str, use_in_memory_cache: bool = False):
        super().__init__(s3_trial_path, use_in_memory_cache)
