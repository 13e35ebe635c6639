"""System metrics: a line of JSON for each value."""

from __future__ import annotations

import json
import os
from typing import Any, Optional

from ..core.logger import get_logger
from .trace_event_file_parser import MAX_FILE_BYTES


class ProfilerSystemEvent:
    """One value.

    Attributes:
        type: "cpu", "gpu", "i/o", "memory" or "network".
        name: "cpu0"; dimension: "CPUUtilization"; value: in its unit, mostly %.
        node_id: "algo-1"; timestamp: seconds since 1970.
    """

    def __init__(
        self, event_type: str, name: Optional[str], dimension: str, value: float, node_id: str, timestamp: float
    ):
        self.type, self.name, self.dimension = event_type, name, dimension
        self.value, self.node_id, self.timestamp = value, node_id, timestamp

    def __repr__(self) -> str:
        return f"<{self.dimension} of {self.name}: {self.value} at {self.timestamp}>"


def _event(line: str) -> ProfilerSystemEvent:
    row: dict[str, Any] = json.loads(line)
    value, seconds = float(row["Value"]), float(row["Timestamp"])
    return ProfilerSystemEvent(row["Type"], row.get("Name"), row["Dimension"], value, row["NodeId"], seconds)


def read_system_file(path: str) -> list[ProfilerSystemEvent]:
    """Its values in the order of the file. Damaged lines are left out, and the log says how many; smdebug gives the whole
    file up at the first."""
    events: list[ProfilerSystemEvent] = []
    damaged = 0
    try:
        if os.path.getsize(path) > MAX_FILE_BYTES:
            get_logger().error(f"{path} is larger than {MAX_FILE_BYTES} bytes; it is left out")
            return []
        with open(path, encoding="utf-8", errors="replace") as file:
            for line in file:
                line = line.strip().rstrip(",")
                if line in ("", "[", "]"):
                    continue
                try:
                    events.append(_event(line))
                except (ValueError, KeyError, TypeError, RecursionError):
                    damaged += 1
    except OSError as error:
        get_logger().error(f"{path} cannot be read: {error}")
    if damaged:
        get_logger().warning(f"{path}: {damaged} damaged lines are left out")
    return events
