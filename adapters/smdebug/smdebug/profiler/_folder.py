"""Where a profile lies: a folder of SageMaker's profiler, here or in a bucket, or a run of Trainwarden's, whose profile the
program writes as such a folder."""

from __future__ import annotations

import os
import tempfile
import time
from typing import Optional

import trainwarden
from trainwarden import _places, _program
from trainwarden.errors import NotFound, OutOfRange

from ..core.logger import get_logger
from ..core.utils import is_s3
from ..exceptions import SMDebugRuntimeError
from .trace_event_file_parser import MAX_FILE_BYTES

_AGAIN_AFTER_S = 2.0
_PARTS = ("system", "framework")
_MAX_FILES = 200_000
_MAX_DEPTH = 8


def local_folder(path: str | os.PathLike[str]) -> str:
    """The folder itself; of an address in S3 what TRAINWARDEN_BUCKETS has of it, or else the address."""
    is_address, bucket, key = is_s3(path)
    if not is_address:
        return os.path.expanduser(os.fspath(path))
    buckets = os.environ.get("TRAINWARDEN_BUCKETS")
    if not buckets:
        return os.fspath(path).rstrip("/")
    return os.path.join(buckets, str(bucket), *str(key or "").strip("/").split("/"))


def is_folder(path: str | os.PathLike[str]) -> bool:
    """Is there a folder, here or in a bucket?"""
    folder = local_folder(path)
    return _places.exists(folder, "") if _places.is_in_bucket(folder) else os.path.isdir(folder)


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
        self._fetched: Optional[_FetchedFolder] = None

    @property
    def is_run(self) -> bool:
        if _places.is_in_bucket(self._folder):
            return _places.exists(self._folder, "run.json")
        return os.path.exists(os.path.join(self._folder, "run.json"))

    def path(self) -> str:
        """Where its files are now. Of a run that is still written, or of a bucket, they are brought anew, every two
        seconds at most.

        Raises:
            SMDebugRuntimeError: a run without a profile, or one that cannot be read.
        """
        if self._fetched is not None:
            return self._fetched.path()
        if self.is_run:
            return self._written()
        if _places.is_in_bucket(self._folder):
            self._fetched = _FetchedFolder(self._folder)
            return self._fetched.path()
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


class _FetchedFolder:
    """What a bucket has of a profile, brought here; what is new of it comes later."""

    def __init__(self, address: str):
        below = f"{address}/profiler-output"
        has_parts = any(_places.exists(address, part) for part in _PARTS)
        self._address = address if has_parts or not _places.exists(below, "") else below
        self._copy = tempfile.TemporaryDirectory(prefix="trainwarden-profile-")
        self._there: dict[str, tuple[int, int]] = {}  # size and time of what was brought, by its path
        self._fetched_s = float("-inf")

    def path(self) -> str:
        """
        Raises:
            SMDebugRuntimeError: more files than a training could leave.
        """
        if time.monotonic() - self._fetched_s >= _AGAIN_AFTER_S:
            for part in _PARTS:
                self._bring(part, 1)
            self._fetched_s = time.monotonic()
        return self._copy.name

    def _bring(self, folder: str, depth: int) -> None:
        try:
            entries = _places.entries(self._address, folder)
        except NotFound:
            return
        for entry in entries:
            path = f"{folder}/{entry.name}"
            if entry.kind == "folder" and depth < _MAX_DEPTH:
                self._bring(path, depth + 1)
            elif entry.kind == "file" and self._there.get(path) != (entry.bytes, entry.changed_unix_ns):
                self._bring_file(path, entry.changed_unix_ns)
                self._there[path] = (entry.bytes, entry.changed_unix_ns)
                if len(self._there) > _MAX_FILES:
                    raise SMDebugRuntimeError(f"{self._address} has more than {_MAX_FILES} files")

    def _bring_file(self, path: str, changed_unix_ns: int) -> None:
        target = os.path.join(self._copy.name, path)
        os.makedirs(os.path.dirname(target), exist_ok=True)
        try:
            content = _places.read(self._address, path, MAX_FILE_BYTES)
        except OutOfRange as too_large:
            get_logger().warning("%s; it is left out", too_large)
            return
        with open(f"{target}.tmp", "wb") as file:
            file.write(content)
        os.utime(f"{target}.tmp", ns=(changed_unix_ns, changed_unix_ns))  # of a name without a time, this is its time
        os.replace(f"{target}.tmp", target)
