"""Opens the run of a trial, and waits for it when the training has not begun."""

from __future__ import annotations

import time
from collections.abc import Iterator

import trainwarden
from trainwarden import _places
from trainwarden.errors import NotFound, PathNotFound

from ..core.config_constants import END_OF_JOB_FILENAME
from ..core.logger import get_logger
from ..core.utils import number_in
from ..exceptions import MissingCollectionFiles, SMDebugRuntimeError
from .job_of_run import JobOfRun

WINDOW_VARIABLE = "SMDEBUG_INCOMPLETE_STEP_WAIT_WINDOW"

_POLL_INTERVAL_S = 0.1
_BUCKET_POLL_INTERVAL_S = 2.0
_REMINDER_INTERVAL_S = 20.0


def open_run(folder: str) -> trainwarden.Trial:
    """The run in the folder, as soon as it has begun; the log says what is waited for.

    A folder of smdebug's says in its first manifest how many workers there are; without one, an ended run is taken as
    it is.

    Raises:
        MissingCollectionFiles: the training has ended and has left nothing that can be read; so has its job.
        SMDebugRuntimeError: what is there cannot be read.
    """
    window = number_in(WINDOW_VARIABLE, 1000)
    waiting = _Waiting(folder)
    job = JobOfRun(folder)
    while True:
        how_it_ended = _how_it_ended(folder, job)  # asked before the run is looked for, which may come in between
        try:
            run = trainwarden.open(folder, incomplete_step_window=window)
            if run.recorder != "smdebug" or run.loaded_all_steps or _has_manifest(folder):
                return run
        except PathNotFound as missing:
            if how_it_ended:
                raise MissingCollectionFiles(hint=how_it_ended) from missing
        except trainwarden.DataLoss as damaged:
            raise SMDebugRuntimeError(str(damaged)) from damaged
        waiting.wait()


def _how_it_ended(folder: str, job: JobOfRun) -> str:
    if _places.exists(folder, END_OF_JOB_FILENAME):
        return f"{folder} holds {END_OF_JOB_FILENAME} and no run"
    return job.how_it_ended()


def _has_manifest(folder: str) -> bool:
    return next(manifests(folder), None) is not None


def manifests(folder: str) -> Iterator[str]:
    """Paths in the folder of the files in which smdebug describes its collections, the first one first."""
    try:
        steps = [entry.name for entry in _places.entries(folder, "collections") if entry.kind == "folder"]
        for step in steps:
            for entry in _places.entries(folder, f"collections/{step}"):
                if entry.name.endswith("_collections.json"):
                    yield f"collections/{step}/{entry.name}"
    except NotFound:
        return


class _Waiting:
    """Waits a little, and says so from time to time."""

    def __init__(self, folder: str):
        self._folder = folder
        self._interval_s = _BUCKET_POLL_INTERVAL_S if _places.is_in_bucket(folder) else _POLL_INTERVAL_S
        self._start_s = time.monotonic()
        self._next_word_s = self._start_s

    def wait(self) -> None:
        now_s = time.monotonic()
        if now_s >= self._next_word_s:
            self._next_word_s = now_s + _REMINDER_INTERVAL_S
            get_logger().warning(
                "waiting for a training to begin to write into %s, for %.0f s now; is it the right folder?",
                self._folder,
                now_s - self._start_s,
            )
        time.sleep(self._interval_s)
