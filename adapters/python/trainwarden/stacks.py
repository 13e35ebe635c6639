"""Stacks: samples of what the threads of this process are in, while a hook records operators.

A sample is taken when the interpreter lets another thread run: when the one that runs waits or calls what releases the
GIL, else after the switch interval (5 ms). docs/reference/profile.md says what follows from that.
"""

from __future__ import annotations

import _thread
import os
import sys
import threading
import time
from typing import Any, Callable, Iterable, Optional

from . import _core

_OWN_FOLDER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "")


class StackSampling:
    """Of one hook, from start() to stop(), in a thread of its own."""

    def __init__(
        self,
        hook: Any,
        note_unseen: Callable[[str], None],
        device_memory: Callable[[], Iterable[tuple[int, int]]] = tuple,
    ) -> None:
        """`note_unseen` writes to the run what is not captured, `device_memory` gives the number of each accelerator
        that is in use, with the bytes that are; both are called from the thread."""
        self._hook = hook
        self._note_unseen = note_unseen
        self._device_memory = device_memory
        self._stop: Optional[threading.Event] = None

    def start(self) -> None:
        hz = self._hook.python_stacks_hz
        if hz <= 0 or self._stop is not None:
            return
        if not getattr(sys, "_is_gil_enabled", lambda: True)():
            self._note_unseen("python stacks: a Python without the GIL is not supported")
            return
        stop = threading.Event()
        try:
            sampler = _core.StackSampler(self._hook, _roots(), _OWN_FOLDER, _describe)
            arguments = (sampler, self._device_memory, 1 / hz, stop, self._note_unseen)
            # None of those that threading knows: programs wait for these, count them and name them.
            _thread.start_new_thread(_run, arguments)
        except Exception as error:  # no thread can be started
            self._note_unseen(f"python stacks: {type(error).__name__}: {error}")
        else:
            self._stop = stop

    def stop(self) -> None:
        """The thread ends soon: nobody waits for it."""
        stop, self._stop = self._stop, None
        if stop is not None:
            stop.set()


def _run(
    sampler: Any,
    device_memory: Callable[[], Iterable[tuple[int, int]]],
    interval_s: float,
    stop: threading.Event,
    note: Callable[[str], None],
) -> None:
    """Samples at multiples of the interval; those that it is too late for are left out."""
    try:
        due = time.monotonic() + interval_s
        while not stop.wait(max(0.0, due - time.monotonic())):
            sampler.sample()
            for device, total_bytes in device_memory():
                sampler.note_memory(device, total_bytes)
            due += interval_s * (1 + max(0.0, time.monotonic() - due) // interval_s)
    except BaseException as error:  # never harms the training, nor prints
        note(f"python stacks: {type(error).__name__}: {error}")


def _roots() -> list[str]:
    """Folders that names of files begin with, with what ends them; the longest first."""
    main = getattr(sys.modules.get("__main__"), "__file__", None)
    folders = {os.path.dirname(os.path.abspath(main))} if main else set()
    folders.update(os.path.abspath(folder or ".") for folder in sys.path if isinstance(folder, str))
    return sorted((os.path.join(folder, "") for folder in folders), key=len, reverse=True)


def _describe(ident: int) -> tuple[str, int]:
    for thread in threading.enumerate():
        if thread.ident == ident:
            return str(thread.name), thread.native_id or ident
    return str(ident), ident
