"""Stalls: when no step has ended for long, the process says where its threads are (docs/format/run_folder.md).

A thread of its own looks at the number of the step every few seconds. It asks nothing of the training, and what goes
wrong in it is left out: a stall is rare, and a training that goes on must not hear of it.
"""

from __future__ import annotations

import _thread
import json
import os
import sys
import threading
import time
from types import FrameType
from typing import Any, Optional

from .collective_state import Call, current_call, describe_groups
from .frames import is_of_python, is_program

# A stall is told after so long, and told again.
FIRST_SECONDS = 30.0
AGAIN_SECONDS = 10.0
_LOOK_SECONDS = 2.0
# A process that uses less than that of a processor, and reads and writes less than so many bytes a second, is idle.
_IDLE_SHARE = 0.02
_IDLE_BYTES = 4096
# Asking for the state of process groups is not to hold a training up that is only slow.
_LONG_SECONDS = 0.2
_MAX_THREADS = 32
_MAX_FRAMES = 24


class StallWatch:
    """Of one hook, from start() to stop()."""

    def __init__(self, hook: Any) -> None:
        self._hook = hook
        self._file = os.path.join(hook.run_dir, "stalls", f"rank-{hook.rank:05d}.json")
        self._lock = threading.Lock()  # held while the hook is asked; it is closed after stop()
        self._is_stopped = threading.Event()
        self._thread = threading.get_ident()  # that trains
        self._step = -1
        self._since = time.monotonic()
        self._usage = _usage()
        self._known_groups: list[dict[str, Any]] = []
        self._groups_of = -1  # the step of the stall in which they were looked at
        self._groups_seconds = 0.0

    def start(self) -> None:
        try:
            # Not one of the module threading: programs wait for all that threading.enumerate() lists.
            _thread.start_new_thread(self._run, ())
        except RuntimeError:  # no thread can be started: stalls are not told
            self._is_stopped.set()

    def stop(self) -> None:
        with self._lock:
            self._is_stopped.set()

    def _run(self) -> None:
        due = FIRST_SECONDS
        while not self._is_stopped.wait(_LOOK_SECONDS):
            step = self._current_step()
            if step != self._step:
                self._step, self._since, due = step, time.monotonic(), FIRST_SECONDS
                self._usage = _usage()
                continue
            seconds = time.monotonic() - self._since
            if seconds >= due:
                due = seconds + AGAIN_SECONDS
                try:
                    self._write(seconds)
                except Exception:  # the folder is gone, or full
                    return

    def _current_step(self) -> int:
        with self._lock:
            return self._step if self._is_stopped.is_set() else int(self._hook.global_step)

    def _write(self, seconds: float) -> None:
        before, now = self._usage, _usage()
        self._usage = now
        passed = max(now[0] - before[0], 1e-3)
        is_idle = (now[1] - before[1]) / passed < _IDLE_SHARE and (now[2] - before[2]) / passed < _IDLE_BYTES
        call = _call_in(sys._current_frames().get(self._thread))
        record = {
            "version": 1,
            "step": self._step,
            "seconds": round(seconds, 1),
            "written_unix_ns": time.time_ns(),
            "is_idle": is_idle,
            "collective": None if call is None else call.operation,
            "groups": self._known_groups if self._groups_of == self._step else [],
            "threads": self._threads(),
        }
        self._put(record)
        record["groups"] = self._groups(call)  # asks torch, which may never answer: what is known so far is written
        self._put(record)

    def _put(self, record: dict[str, Any]) -> None:
        os.makedirs(os.path.dirname(self._file), exist_ok=True)
        with open(self._file + ".tmp", "w", encoding="utf-8") as file:
            json.dump(record, file)
        os.replace(self._file + ".tmp", self._file)

    def _groups(self, call: Optional[Call]) -> list[dict[str, Any]]:
        """How far this process has come in each process group. Where asking took long it is asked once in a stall."""
        if self._groups_of == self._step and self._groups_seconds > _LONG_SECONDS:
            return self._known_groups
        begin = time.monotonic()
        try:
            self._known_groups = describe_groups(call)
        except Exception:  # a version of torch that has it otherwise
            self._known_groups = []
        self._groups_of, self._groups_seconds = self._step, time.monotonic() - begin
        return self._known_groups

    def _threads(self) -> list[dict[str, Any]]:
        """That which trains first."""
        names = {thread.ident: thread.name for thread in threading.enumerate()}
        own = threading.get_ident()
        found = sorted(sys._current_frames().items(), key=lambda each: each[0] != self._thread)
        return [
            {"name": names.get(ident, str(ident)), "frames": _described(frame)}
            for ident, frame in found[:_MAX_THREADS]
            if ident != own and not names.get(ident, "").startswith("trainwarden")
        ]


def _described(frame: Optional[FrameType]) -> list[str]:
    """`train.py:42 in load`, the innermost first; "* " before those of the program."""
    lines: list[str] = []
    while frame is not None and len(lines) < _MAX_FRAMES:
        code = frame.f_code
        mark = "* " if is_program(frame) and not is_of_python(code.co_filename) else ""
        lines.append(f"{mark}{os.path.basename(code.co_filename)}:{frame.f_lineno} in {code.co_name}")
        frame = frame.f_back
    return lines


def _call_in(frame: Optional[FrameType]) -> Optional[Call]:
    """The operation of torch.distributed that this thread is in."""
    try:
        return current_call(frame)
    except Exception:  # the frame went on meanwhile
        return None


def _usage() -> tuple[float, float, int]:
    """Now, seconds of processors that this process has used, and bytes that it has read and written."""
    transferred = 0
    try:
        with open("/proc/self/io", encoding="ascii") as file:
            fields = dict(line.split(": ") for line in file.read().splitlines())
            transferred = int(fields.get("rchar", 0)) + int(fields.get("wchar", 0))
    except (OSError, ValueError):
        pass
    return time.monotonic(), time.process_time(), transferred
