"""What this package keeps in a job's folder, beside what the program trainwarden writes there.

    JOBS/NAME/sagemaker-.../   the files of the submission (see _job_files)

A job's folder is no more trusted than a run's: what is read is bounded, and no link is followed.
"""

from __future__ import annotations

import json
import os
import shutil
import time
from pathlib import Path
from typing import Any

_PREFIX = "sagemaker-"
_MAX_BYTES = 16 << 20


def new_submission(jobs: Path, name: str) -> Path:
    """A folder of its own for each attempt to submit: another one under the same name may be at it."""
    folder = jobs / name / f"{_PREFIX}{time.time_ns():x}-{os.getpid()}"
    folder.mkdir(parents=True)
    return folder


def forget_submission(folder: Path) -> None:
    """Leaves nothing of a job that was not started."""
    shutil.rmtree(folder, ignore_errors=True)
    try:
        folder.parent.rmdir()
    except OSError:
        pass  # another job of this name is there


def read_request(jobs: Path, name: str) -> dict[str, Any]:
    """The request that the job was submitted with; empty when this package did not submit it."""
    order = _read(jobs / name / "job.json")
    folder = os.path.basename(os.path.dirname(str(order.get("spec_file", ""))))
    return _read(jobs / name / folder / "request.json") if folder.startswith(_PREFIX) else {}


def _read(path: Path) -> dict[str, Any]:
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    except OSError:
        return {}
    with open(descriptor, "rb") as file:
        text = file.read(_MAX_BYTES)
    try:
        content = json.loads(text)
    except (ValueError, RecursionError):
        return {}
    return content if isinstance(content, dict) else {}
