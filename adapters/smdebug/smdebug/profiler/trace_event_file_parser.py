"""Timelines: Chrome's trace events, as smdebug, TensorFlow and Horovod write them. What a process that died left of one is
read too: the end may be missing, and what is damaged costs an event."""

from __future__ import annotations

import gzip
import json
import os
import re
from collections.abc import Iterator
from typing import Any, Optional

from ..core.logger import get_logger
from .utils import get_node_id_from_tracefilename

MAX_FILE_BYTES = 256 << 20
_MAX_OBJECT_CHARS = 1 << 16


class TraceEvent:
    """What ran when.

    Attributes:
        start_time, end_time, duration: microseconds, the first two since 1970.
        event_phase: the phase that it belongs to, "Step:ModeKeys.TRAIN".
        event_args: what else the file says of it, or None.
        phase_pid, phase_tid: numbers of the phase and of its thread in the file; pid, tid: of the process, where known.
    """

    def __init__(
        self,
        ts: float,
        name: str,
        dur: float,
        phase_pid: int,
        phase_tid: int,
        event_args: Optional[dict[str, Any]],
        node_id: str,
        phase: str,
        file_type: str,
        event_phase: str = "",
        pid: int = 0,
        tid: int = 0,
        process_info: Any = None,
    ):
        self.start_time, self.duration, self.end_time = ts, dur, ts + dur
        self.event_name, self.event_phase, self.event_args = name, event_phase, event_args
        self.phase_pid, self.phase_tid, self.pid, self.tid = phase_pid, phase_tid, pid, tid
        self.node_id, self.phase, self.file_type, self.process_info = node_id, phase, file_type, process_info

    def to_json(self) -> str:
        event: dict[str, Any] = {
            "name": self.event_name,
            "pid": self.pid,
            "tid": self.tid,
            "ph": self.phase,
            "ts": self.start_time,
        }
        args = dict(self.event_args or {})
        if self.phase == "i":
            event["s"] = args.pop("s", "t")
        elif self.phase == "X":
            event["dur"] = self.duration
        if args:
            event["args"] = args
        return json.dumps(event)

    def __repr__(self) -> str:
        return f"<{self.event_name} of {self.event_phase}, {self.duration} µs at {self.start_time}>"


class _Trace:
    """What of one file was read so far."""

    def __init__(self, node_id: str, file_type: str, start_us: int):
        self.node_id, self.file_type, self.start_us = node_id, file_type, start_us
        self.events: list[TraceEvent] = []
        self.damaged = 0
        self._phases: dict[int, str] = {}
        self._open: dict[tuple[int, int], list[dict[str, Any]]] = {}

    def take(self, event: dict[str, Any]) -> None:
        kind = event.get("ph")
        try:
            if kind == "M":
                self._take_name(event)
            elif kind in ("X", "i", "I"):
                duration = event["dur"] if kind == "X" else 0
                if duration < 0:
                    raise ValueError
                self._keep(event, event["ts"], duration, "X" if kind == "X" else "i")
            elif kind == "B":
                event["ts"] + 0
                self._open.setdefault(_track(event), []).append(event)
            elif kind == "E":
                begun = self._open.get(_track(event))
                if begun:
                    start = begun.pop()
                    args = {**(start.get("args") or {}), **(event.get("args") or {})}
                    self._keep({**start, "args": args or None}, start["ts"], event["ts"] - start["ts"], "X")
        except (KeyError, TypeError, ValueError):
            self.damaged += 1

    def _take_name(self, event: dict[str, Any]) -> None:
        args = event.get("args") or {}
        if "start_time_since_epoch_in_micros" in args:
            self.start_us = int(args["start_time_since_epoch_in_micros"])
        if event.get("name") == "process_name" and "name" in args:
            self._phases[int(event["pid"])] = str(args["name"])

    def _keep(self, event: dict[str, Any], start: float, duration: float, kind: str) -> None:
        args = event.get("args")
        pid, tid = _track(event)
        if event.get("s") is not None:
            args = {**(args or {}), "s": event["s"]}
        own = args or {}
        self.events.append(
            TraceEvent(
                start + self.start_us,
                str(event.get("name", "")),
                duration,
                pid,
                tid,
                args or None,
                self.node_id,
                kind,
                self.file_type,
                self._phases.get(pid, "Unknown"),
                own.get("pid", pid),
                own.get("thread_id", tid),
            )
        )


def _track(event: dict[str, Any]) -> tuple[int, int]:
    return int(event.get("pid", 0)), int(event.get("tid", 0))


def _objects(text: str, trace: _Trace) -> Iterator[dict[str, Any]]:
    """Those of the array, whatever is around and between them."""
    decoder = json.JSONDecoder()
    begin = text.find('"traceEvents"') if text.lstrip()[:1] == "{" else 0
    at = max(begin, 0)
    damaged_to = -1
    while True:
        at = text.find("{", at)
        if at < 0:
            return
        try:
            value, length = decoder.raw_decode(text[at : at + _MAX_OBJECT_CHARS])
        except ValueError:
            line_end = text.find("\n", at)
            if at > damaged_to:
                trace.damaged += 1
            damaged_to = line_end if line_end >= 0 else len(text)
            at = damaged_to
            continue
        except RecursionError:
            trace.damaged += 1
            at += 1
            continue
        at += length
        if isinstance(value, dict):
            yield value


_TIMES = re.compile(r"(?P<node>.+)_(?P<begin>\d+)(?:\.\d+)?_(?P<end>\d+)(?:\.\d+)?\.metadata$")


def read_tf_profiler_metadata_file(file_path: str) -> tuple[str, str, str]:
    """Node, begin and end in microseconds, of a trace of TensorFlow's; ("", "0", "0") when nothing says them."""
    folder = file_path
    for _ in range(4):
        folder = os.path.dirname(folder)
    for name in sorted(os.listdir(folder)) if os.path.isdir(folder) else []:
        found = _TIMES.match(name)
        if found:
            return found["node"], found["begin"], found["end"]
    return "", "0", "0"


def node_as_shown(node_id: str) -> str:
    """smdebug shows "905-algo-1" as "algo-1-905", so that nodes sort well."""
    found = re.match("(.*)-(algo.*)", node_id)
    return f"{found[2]}-{found[1]}" if found else node_id


def read_trace_file(path: str, file_type: str = "PythontimelineMetrics") -> list[TraceEvent]:
    """Its events, in the order of the file; what is damaged is left out, and the log says how much.

    A file that is too large, or cannot be read, has none.
    """
    start_us, node = 0, get_node_id_from_tracefilename(path)
    try:
        if path.endswith(".gz"):
            known, begin, _ = read_tf_profiler_metadata_file(path)
            start_us, node = int(begin), known or node
            with gzip.open(path, "rb") as packed:
                raw = packed.read(MAX_FILE_BYTES + 1)
        else:
            with open(path, "rb") as file:
                raw = file.read(MAX_FILE_BYTES + 1)
    except (OSError, EOFError) as error:
        get_logger().error(f"{path} cannot be read: {error}")
        return []
    if len(raw) > MAX_FILE_BYTES:
        get_logger().error(f"{path}: expected {MAX_FILE_BYTES} bytes at most, and it is larger; it is left out")
        return []
    trace = _Trace(node_as_shown(node), file_type, start_us)
    for event in _objects(raw.decode("utf-8", "replace"), trace):
        trace.take(event)
    if trace.damaged:
        get_logger().warning(f"{path}: {trace.damaged} damaged events are left out")
    return trace.events
