"""What readers of a profile have in common: files by their time, and the events in them."""

from __future__ import annotations

import bisect
import os
from collections.abc import Iterable, Sequence
from typing import Any, Generic, Optional, TypeVar

from ..core.logger import get_logger
from ..exceptions import SMDebugRuntimeError
from ._folder import ProfileFolder
from .utils import TimeUnits, convert_utc_timestamp_to_microseconds

_MAX_FILES = 200_000
_FAR_US = 1 << 62

Event = TypeVar("Event")


class MetricsReaderBase(Generic[Event]):
    """Files are parsed when events of their time are asked for, and kept with use_in_memory_cache."""

    prefix: str

    def __init__(self, trace_root_folder: str | os.PathLike[str], use_in_memory_cache: bool = False):
        self.trace_root_folder = os.fspath(trace_root_folder)
        self.logger = get_logger()
        self._source = ProfileFolder(trace_root_folder)
        self._keeps = use_in_memory_cache
        self._kept: dict[str, list[Event]] = {}
        self._files: list[tuple[int, str]] = []  # by time in microseconds
        self.refresh_event_file_list()

    def _time_of(self, path: str) -> Optional[int]:
        raise NotImplementedError

    def _read(self, path: str) -> list[Event]:
        raise NotImplementedError

    def _times(self, event: Event) -> tuple[float, float]:
        raise NotImplementedError

    def refresh_event_file_list(self) -> None:
        """Looks which files there are.

        Raises:
            SMDebugRuntimeError: more files than a training could leave.
        """
        folder = self._source.path()
        found: list[tuple[int, str]] = []
        for where, folders, names in os.walk(os.path.join(folder, self.prefix)):
            folders.sort()
            for name in names:
                path = os.path.join(where, name)
                time_us = self._time_of(path)
                if time_us is not None and not os.path.islink(path):
                    found.append((time_us, path))
            if len(found) > _MAX_FILES:
                raise SMDebugRuntimeError(f"{self.trace_root_folder} has more than {_MAX_FILES} files")
        self._files = sorted(found)

    def get_timestamp_of_first_available_file(self) -> int:
        """In microseconds since 1970; 0 when there is none."""
        return self._files[0][0] if self._files else 0

    def get_timestamp_of_latest_available_file(self) -> int:
        """In microseconds since 1970; 0 when there is none."""
        return self._files[-1][0] if self._files else 0

    def get_current_time_range_for_event_query(self) -> tuple[int, int]:
        return self.get_timestamp_of_first_available_file(), self.get_timestamp_of_latest_available_file()

    def get_events(
        self,
        start_time: float,
        end_time: float,
        unit: TimeUnits = TimeUnits.MICROSECONDS,
        event_type: Optional[str] = None,
        file_suffix_filter: Optional[Sequence[str]] = None,
    ) -> list[Event]:
        """Those that are under way or happen between the times, both included.

        smdebug looks only at files whose names lie within three minutes of the times, so that it misses an event in a
        file that was closed later; here each file is looked at that can have one.
        """
        start_us = convert_utc_timestamp_to_microseconds(start_time, unit)
        end_us = convert_utc_timestamp_to_microseconds(end_time, unit)
        events: list[Event] = []
        for path in self._files_within(start_us, end_us):
            if file_suffix_filter is not None and not path.endswith(tuple(file_suffix_filter)):
                continue
            for event in self._events_of(path):
                first, last = self._times(event)
                is_wanted = event_type is None or getattr(event, "type", event_type) == event_type
                if is_wanted and last >= start_us and first <= end_us:
                    events.append(event)
        return events

    def _files_within(self, start_us: int, end_us: int) -> Iterable[str]:
        return [path for _, path in self._files]

    def _events_of(self, path: str) -> list[Event]:
        if path in self._kept:
            return self._kept[path]
        events = self._read(path)
        if self._keeps:
            self._kept[path] = events
        return events

    def _from(self, time_us: int) -> int:
        """The first file whose name is of this time or later."""
        return bisect.bisect_left(self._files, (time_us, ""))


def all_events(reader: MetricsReaderBase[Any]) -> list[Any]:
    """Those of all times."""
    reader.refresh_event_file_list()
    return list(reader.get_events(0, _FAR_US))
