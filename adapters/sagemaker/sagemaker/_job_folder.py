"""What this package keeps in a job's folder, beside what the program trainwarden writes there.

    JOBS/NAME/sagemaker-.../   the files of the submission (see _job_files)

The program reads of it what it describes.
"""

from __future__ import annotations

import os
import shutil
import time
from pathlib import Path

_PREFIX = "sagemaker-"


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
