"""A training as a process of its own."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import FrameType
from typing import Callable, Optional

_GRACE_S = 10.0
_MOST_LINE = 1 << 16


@dataclass(frozen=True)
class Ended:
    """How it ended.

    Attributes:
        exit_code: of the process; negative: the signal that ended it.
        seconds: that it ran, by the clock.
        last_line: that it printed and that is not empty.
    """

    exit_code: int
    seconds: float
    last_line: str


def run(words: Sequence[str], log: Path, take: Callable[[str], None], keep_open: Sequence[int] = ()) -> Ended:
    """Runs it to its end. Each line that it prints is shown, given to `take` and kept in `log`.

    It has the descriptors `keep_open`. When this function is left by an exception, as by Ctrl-C, the process and its
    children are ended first. FileNotFoundError and other OSErrors when it cannot be started.
    """
    begin = time.monotonic()
    process: Optional[subprocess.Popen[str]] = None
    last_line = ""
    try:
        with _interrupted_later():
            process = subprocess.Popen(
                words,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                start_new_session=True,
                pass_fds=tuple(keep_open),
                text=True,
                errors="replace",
            )
        assert process.stdout is not None
        with process.stdout, open(log, "w", encoding="utf-8", errors="replace") as kept:
            while line := process.stdout.readline(_MOST_LINE):
                kept.write(line)
                sys.stdout.write(line)
                take(line)
                last_line = line.strip() or last_line
        exit_code = process.wait()
    except BaseException:
        if process is not None:
            _end(process)
        raise
    return Ended(exit_code, time.monotonic() - begin, last_line)


@contextmanager
def _interrupted_later() -> Iterator[None]:
    """A Ctrl-C that comes within is raised after it, when what it starts is known to who ends it."""
    before = signal.getsignal(signal.SIGINT)
    if not callable(before) or threading.current_thread() is not threading.main_thread():
        yield
        return
    came: list[Optional[FrameType]] = []
    signal.signal(signal.SIGINT, lambda _, frame: came.append(frame))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
    if came:
        before(signal.SIGINT, came[0])


def _end(process: subprocess.Popen[str]) -> None:
    for number in (signal.SIGTERM, signal.SIGKILL):
        try:
            os.killpg(process.pid, number)
            process.wait(_GRACE_S)
        except ProcessLookupError:
            break
        except subprocess.TimeoutExpired:
            continue
    process.wait()
