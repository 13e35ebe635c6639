"""Addresses: paths, file://... and s3://BUCKET/KEY, whose buckets are folders of this machine."""

from __future__ import annotations

import os
from pathlib import Path

_FILE, _BUCKET = "file://", "s3://"
_BUCKETS = "TRAINWARDEN_BUCKETS"  # a folder with a folder for each bucket


def absolute(address: str) -> str:
    """The same place, also for who works in another folder."""
    if address.startswith(_BUCKET):
        return address
    if address.startswith(_FILE):
        return _FILE + os.path.abspath(address[len(_FILE) :])
    return os.path.abspath(os.path.expanduser(address))


def local_path(address: str) -> Path:
    """Where on this machine it is.

    Raises:
        ValueError: an s3:// address without a bucket, with "..", or without TRAINWARDEN_BUCKETS.
    """
    if address.startswith(_BUCKET):
        parts = address[len(_BUCKET) :].strip("/").split("/")
        if not parts[0] or ".." in parts or "." in parts:
            raise ValueError(f'{address}: expected s3://BUCKET/KEY, without "." and ".."')
        return buckets_folder().joinpath(*parts)
    return Path(absolute(address).removeprefix(_FILE))


def has_buckets() -> bool:
    return bool(os.environ.get(_BUCKETS))


def buckets_folder() -> Path:
    """The folder that holds a folder for each bucket.

    Raises:
        ValueError: TRAINWARDEN_BUCKETS does not say which.
    """
    folder = os.environ.get(_BUCKETS)
    if not folder:
        raise ValueError(f"there are no buckets: set {_BUCKETS} to a folder, which holds a folder for each bucket")
    return Path(folder).absolute()


def joined(address: str, *parts: str) -> str:
    """A place within."""
    return "/".join([address.rstrip("/"), *parts])
