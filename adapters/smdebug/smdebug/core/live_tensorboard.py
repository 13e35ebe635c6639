"""LiveTensorBoard: shows a run to TensorBoard while it is written, from a thread of its own."""

from __future__ import annotations

import os
import threading
from typing import Any, Optional

import trainwarden

from .logger import get_logger

_INTERVAL_S = 1.0
_NICENESS = 10  # below the threads that train
_FINISH_TIMEOUT_S = 60.0


class LiveTensorBoard:
    """Exports what is new in the run about once a second, and the rest when it has ended."""

    def __init__(self, run_dir: str, tensorboard_dir: str) -> None:
        self._run_dir = run_dir
        self._tensorboard_dir = tensorboard_dir
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._follow, name="smdebug TensorBoard", daemon=True)
        self._thread.start()

    def finish(self) -> None:
        """To be called when the run is closed. Returns when everything has been exported."""
        self._ended.set()
        self._thread.join(_FINISH_TIMEOUT_S)
        if self._thread.is_alive():
            get_logger().warning("the files in %s for TensorBoard are not complete", self._tensorboard_dir)

    def _follow(self) -> None:
        _be_nice()
        try:
            exporter = self._first_exporter()
            while not self._ended.wait(_INTERVAL_S):
                exporter.poll()
            exporter.finish()
        except Exception as error:
            get_logger().error("TensorBoard is not shown the run: %s", error)

    def _first_exporter(self) -> Any:
        """Once there is something in the folder to read."""
        while True:
            is_last = self._ended.wait(_INTERVAL_S)
            exporter = self._try_to_export()
            if exporter is not None:
                return exporter
            if is_last:
                raise FileNotFoundError(f"there is no run in {self._run_dir}")

    def _try_to_export(self) -> Optional[Any]:
        try:
            exporter: Any = getattr(trainwarden, "Exporter")
            return exporter(self._run_dir, to="tensorboard", out=self._tensorboard_dir)
        except FileNotFoundError:
            return None


def _be_nice() -> None:
    try:
        os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), _NICENESS)
    except (AttributeError, OSError):
        pass  # not on this platform, or not allowed: the thread sleeps most of the time anyway
