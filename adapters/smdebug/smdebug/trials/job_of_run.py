"""What became of the job whose run is waited for: one that fails at once leaves no run, which would be waited for for ever."""

from __future__ import annotations

import os
import time

from trainwarden import _places, jobs
from trainwarden.errors import Error

_ASK_INTERVAL_S = 2.0  # it starts a program
_VARIABLE = "TRAINWARDEN_JOBS"
_ENDED = ("Completed", "Failed", "Stopped")


class JobOfRun:
    """The job of the run in a folder, if it was submitted as one here."""

    def __init__(self, folder: str):
        self._folder = folder
        self._next_s = time.monotonic() + _ASK_INTERVAL_S / 4

    def how_it_ended(self) -> str:
        """A sentence; empty: it has not, or there is none. Now and then it is looked for, else the answer is empty."""
        now_s = time.monotonic()
        if now_s < self._next_s:
            return ""
        self._next_s = now_s + _ASK_INTERVAL_S
        if not os.path.isdir(os.environ.get(_VARIABLE) or "jobs"):
            return ""
        try:
            found = [job for job in jobs.list_jobs() if self._is_of(job["name"], job["run"])]
        except Error:
            return ""  # no program, or a folder of jobs that cannot be read: the run may come all the same
        if not found or found[0]["status"] not in _ENDED:
            return ""
        name, status, message = (found[0][key] for key in ("name", "status", "message"))
        return f"the job {name} is {status} ({message}) and left no run; `trainwarden job logs {name}` says why"

    def _is_of(self, name: str, run: str) -> bool:
        """Is it the job's run, or where SageMaker has it: PATH/JOB/debug-output?"""
        if self._folder.rstrip("/").endswith(f"/{name}/debug-output"):
            return True
        return not _places.is_in_bucket(self._folder) and os.path.realpath(run) == os.path.realpath(self._folder)
