"""Where a profile lies: a folder of SageMaker's profiler, a bucket that is a folder here, or a run of Trainwarden's, whose
profile the program writes as such a folder."""

from __future__ import annotations

import os
import tempfile
import time
from typing import Optional

import trainwarden
from trainwarden import _program

from ..core.utils import is_s3
from ..exceptions import SMDebugNotImplementedError, SMDebugRuntimeError

_AGAIN_AFTER_S = 2.0
_PARTS = ("system", "framework")


def local_folder(path: str | os.PathLike[str]) -> str:
    """The folder itself; of an address in S3 what TRAINWARDEN_BUCKETS has of it.

    Raises:
        SMDebugNotImplementedError: an address in S3 without TRAINWARDEN_BUCKETS.
    """
    is_address, bucket, key = is_s3(path)
    if not is_address:
        return os.path.expanduser(os.fspath(path))
    buckets = os.environ.get("TRAINWARDEN_BUCKETS")
    if not buckets:
        raise SMDebugNotImplementedError(
            f"{os.fspath(path)} lies in S3, which is not read; copy it with `aws s3 sync` and open the copy, or set "
            "TRAINWARDEN_BUCKETS to the folder that stands for all buckets"
        )
    return os.path.join(buckets, str(bucket), *str(key or "").strip("/").split("/"))


class ProfileFolder:
    """One of them, as files in SageMaker's layout.

    Attributes:
        given: what it was opened as.
    """

    def __init__(self, path: str | os.PathLike[str]):
        self.given = os.fspath(path)
        self._folder = local_folder(path)
        self._copy: Optional[tempfile.TemporaryDirectory[str]] = None
        self._copied_s = 0.0
        self._is_whole = False

    @property
    def is_run(self) -> bool:
        return os.path.exists(os.path.join(self._folder, "run.json"))

    def path(self) -> str:
        """Where its files are now. Of a run that is still written they are made anew, every two seconds at most.

        Raises:
            SMDebugRuntimeError: a run without a profile, or one that cannot be read.
        """
        if self.is_run:
            return self._written()
        below = os.path.join(self._folder, "profiler-output")
        has_parts = any(os.path.isdir(os.path.join(self._folder, part)) for part in _PARTS)
        return below if os.path.isdir(below) and not has_parts else self._folder

    def _written(self) -> str:
        is_new = time.monotonic() - self._copied_s < _AGAIN_AFTER_S
        if self._copy is not None and (self._is_whole or is_new):
            return self._copy.name
        copy = tempfile.TemporaryDirectory(prefix="trainwarden-profile-")
        self._is_whole = trainwarden.open(self._folder).loaded_all_steps
        done = _program.run("export", self._folder, copy.name, "--to", "smdebug-profiler")
        if done.returncode not in (0, 4):
            copy.cleanup()
            raise SMDebugRuntimeError(f"{self.given}: {_program.plain(done.stderr)}")
        self._copy, self._copied_s = copy, time.monotonic()
        return copy.name
