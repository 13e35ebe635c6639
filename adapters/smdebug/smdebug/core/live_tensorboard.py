"""LiveTensorBoard: shows a run to TensorBoard while it is written, from a thread of its own."""

from __future__ import annotations

import os
import threading
import time

import trainwarden

from .logger import get_logger

_INTERVAL_S = 1.0
_LAST_INTERVAL_S = 0.05
_NICENESS = 10  # below the threads that train
_FINISH_TIMEOUT_S = 60.0
_OTHERS_TIMEOUT_S = 10.0  # for workers that end after this one


class LiveTensorBoard:
    """Exports what is new in the run about once a second, and the rest when it has ended."""

    def __init__(self, run_dir: str, tensorboard_dir: str) -> None:
        self._run_dir = run_dir
        self._tensorboard_dir = tensorboard_dir
        self._closed = threading.Event()
        self._thread = threading.Thread(target=self._follow, name="smdebug TensorBoard", daemon=True)
        self._thread.start()

    def finish(self) -> None:
        """To be called when the run is closed. Returns when everything has been exported."""
        self._closed.set()
        self._thread.join(_FINISH_TIMEOUT_S)
        if self._thread.is_alive():
            get_logger().warning("what is in %s for TensorBoard is not complete", self._tensorboard_dir)

    def _follow(self) -> None:
        _be_nice()
        try:
            # Like smdebug's, its files may lie beside those of other runs.
            exporter = trainwarden.Exporter(self._run_dir, "tensorboard", self._tensorboard_dir, force=True)
            while not self._closed.wait(_INTERVAL_S):
                _poll(exporter)
            _poll_to_the_end(exporter)
            exporter.finish()
        except Exception as error:
            get_logger().error("TensorBoard is not shown the run in %s: %s", self._run_dir, error)


def _poll(exporter: trainwarden.Exporter) -> None:
    try:
        exporter.poll()
    except trainwarden.errors.Unavailable:
        pass  # for a moment


def _poll_to_the_end(exporter: trainwarden.Exporter) -> None:
    """Also what workers write that end a little later."""
    deadline = time.monotonic() + _OTHERS_TIMEOUT_S
    _poll(exporter)
    while not exporter.run_ended and time.monotonic() < deadline:
        time.sleep(_LAST_INTERVAL_S)
        _poll(exporter)


def _be_nice() -> None:
    try:
        os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), _NICENESS)
    except (AttributeError, OSError):
        pass  # not on this platform, or not allowed: the thread sleeps most of the time anyway
