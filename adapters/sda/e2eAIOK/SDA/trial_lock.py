"""A file that is locked while a trial is trained. A lock goes when the last process that has it is gone, however it
ended."""

from __future__ import annotations

import fcntl
import os
from pathlib import Path
from types import TracebackType
from typing import Optional

_NAME = "running.lock"


class TrialLock:
    """That of the trial in `folder`, which is made. A process that is handed `descriptor` holds it as well."""

    def __init__(self, folder: Path):
        folder.mkdir(parents=True, exist_ok=True)
        self.descriptor = os.open(folder / _NAME, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
        fcntl.flock(self.descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)

    def __enter__(self) -> TrialLock:
        return self

    def __exit__(
        self, kind: Optional[type[BaseException]], error: Optional[BaseException], trace: Optional[TracebackType]
    ) -> None:
        os.close(self.descriptor)


def is_left(folder: Path) -> bool:
    """Whether a trial was begun in `folder` and nobody is at it any more."""
    try:
        with open(folder / _NAME, "rb") as file:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:  # not begun in this folder, or held
        return False
    return True
