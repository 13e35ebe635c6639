"""Units of time, and what the names of a profiler's files say."""

from __future__ import annotations

import re
from datetime import datetime, timezone
from enum import Enum
from typing import Optional


class TimeUnits(Enum):
    """In which unit a time since 1970 is given."""

    SECONDS = 1
    MILLISECONDS = 2
    MICROSECONDS = 3
    NANOSECONDS = 4


_MICROSECONDS = {
    TimeUnits.SECONDS: 1e6,
    TimeUnits.MILLISECONDS: 1e3,
    TimeUnits.MICROSECONDS: 1.0,
    TimeUnits.NANOSECONDS: 1e-3,
}


def convert_utc_timestamp_to_microseconds(timestamp: float, unit: TimeUnits = TimeUnits.MICROSECONDS) -> int:
    return int(timestamp * _MICROSECONDS[unit])


def convert_utc_timestamp_to_nanoseconds(timestamp: float, unit: TimeUnits = TimeUnits.MICROSECONDS) -> int:
    return int(timestamp) if unit is TimeUnits.NANOSECONDS else int(timestamp * _MICROSECONDS[unit] * 1000)


def convert_utc_timestamp_to_seconds(timestamp: float, unit: TimeUnits = TimeUnits.MICROSECONDS) -> float:
    return timestamp * _MICROSECONDS[unit] / 1e6


def convert_utc_datetime_to_microseconds(timestamp_datetime: datetime) -> int:
    return int(timestamp_datetime.timestamp() * 1e6)


def convert_utc_datetime_to_nanoseconds(timestamp_datetime: datetime) -> int:
    return int(timestamp_datetime.timestamp() * 1e6) * 1000


def us_since_epoch_to_human_readable_time(us_since_epoch: float) -> str:
    """ "2020-05-19T23:29:48:000000", in UTC."""
    return datetime.fromtimestamp(us_since_epoch / 1e6, timezone.utc).strftime("%Y-%m-%dT%H:%M:%S:%f")


_TIMELINE = re.compile(
    r"(?:(?P<end>\d+)_)?(?P<node>[^_/]+)_(?:[^/]*_)?"
    r"(?P<suffix>pythontimeline|model_timeline|horovod_timeline|smdataparallel_timeline)\.json(?P<open>\.tmp)?$"
)
_SYSTEM = re.compile(r"(?P<seconds>\d{1,12})\.(?P<node>algo-\d+)\.json$")


def _name_of(path: str) -> str:
    return path.rsplit("/", 1)[-1]


def is_valid_tracefilename(filename: str) -> bool:
    found = _TIMELINE.match(_name_of(filename))
    return found is not None and (found["end"] is not None or found["open"] is not None)


def is_valid_tfprof_tracefilename(filename: str) -> bool:
    return filename.endswith("trace.json.gz") and "tensorflow/detailed_profiling" in filename


def validate_system_profiler_file(filename: str) -> bool:
    return _SYSTEM.match(_name_of(filename)) is not None


def get_node_id_from_tracefilename(filename: str) -> str:
    found = _TIMELINE.match(_name_of(filename))
    return found["node"] if found else _name_of(filename).split(".")[0]


def get_node_id_from_system_profiler_filename(filename: str) -> Optional[str]:
    found = _SYSTEM.match(_name_of(filename))
    return found["node"] if found else None


def get_timestamp_from_tracefilename(filename: str) -> int:
    """In microseconds; 0 when the name does not say."""
    found = _TIMELINE.match(_name_of(filename))
    return int(found["end"]) if found and found["end"] else 0


def get_utctimestamp_us_since_epoch_from_system_profiler_file(filename: str) -> Optional[int]:
    found = _SYSTEM.match(_name_of(filename))
    return int(found["seconds"]) * 1_000_000 if found else None
