"""Folders and files wherever a run may lie, on this machine or in a bucket. For this package, and for those that stand on it."""

from __future__ import annotations

import os
from typing import NamedTuple, Union

from . import _core

PathLike = Union[str, "os.PathLike[str]"]

_BUCKETS = ("s3://", "gs://")
_READ_LIMIT = 64 << 20


class Entry(NamedTuple):
    """Of a folder."""

    name: str
    kind: str  # "file", "folder", "link", "other"
    bytes: int
    changed_unix_ns: int


def is_in_bucket(path: PathLike) -> bool:
    """Does it lie in an object store? Not where TRAINWARDEN_BUCKETS names the folder that stands for all buckets."""
    return os.fspath(path).startswith(_BUCKETS) and not os.environ.get("TRAINWARDEN_BUCKETS")


def exists(folder: PathLike, path: str) -> bool:
    """Is there such a file or folder in the folder? No link in it is followed. Raises when that cannot be found out."""
    return _core.place_exists(os.fspath(folder), path)


def entries(folder: PathLike, path: str = "") -> list[Entry]:
    """What lies in it, by name. NotFound when there is no such folder."""
    return [Entry(*fields) for fields in _core.place_entries(os.fspath(folder), path)]


def read(folder: PathLike, path: str, limit_bytes: int = _READ_LIMIT) -> bytes:
    """A whole file. OutOfRange when it is larger than the limit."""
    return _core.place_read(os.fspath(folder), path, limit_bytes)
