"""S3Client: buckets that are folders of this machine (TRAINWARDEN_BUCKETS), with the calls that copy and list files."""

from __future__ import annotations

import shutil
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

from ._places import local_path
from .exceptions import ClientError, NotHere

_METHODS = "download_file, head_object, list_objects_v2 and upload_file"


class S3Client:
    """Files of buckets. No link is followed out of a bucket."""

    def upload_file(self, Filename: str, Bucket: str, Key: str) -> None:
        """Copies a file into a bucket.

        Raises:
            OSError: it cannot be copied.
        """
        target = _place(Bucket, Key)
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(Filename, target)

    def download_file(self, Bucket: str, Key: str, Filename: str) -> None:
        """Copies a file out of a bucket.

        Raises:
            ClientError: there is no such file.
        """
        shutil.copyfile(_file(Bucket, Key, "GetObject"), Filename)

    def head_object(self, *, Bucket: str, Key: str) -> dict[str, Any]:
        """Its size and when it was last changed.

        Raises:
            ClientError: there is no such file.
        """
        about = _file(Bucket, Key, "HeadObject").stat()
        return {"ContentLength": about.st_size, "LastModified": _moment(about.st_mtime)}

    def list_objects_v2(
        self, *, Bucket: str, Prefix: str = "", MaxKeys: int = 1000, ContinuationToken: str = ""
    ) -> dict[str, Any]:
        """The files whose keys begin so, by key, a page at a time.

        Raises:
            ClientError: there is no such bucket.
        """
        bucket = local_path(f"s3://{Bucket}")
        if not bucket.is_dir():
            raise ClientError("NoSuchBucket", f"there is no bucket {Bucket!r} in {bucket.parent}", "ListObjectsV2")
        files = [path for path in bucket.rglob("*") if path.is_file() and not path.is_symlink()]
        keys = sorted(path.relative_to(bucket).as_posix() for path in files)
        keys = [key for key in keys if key.startswith(Prefix) and key > ContinuationToken]
        page = [_about(bucket, key) for key in keys[:MaxKeys]]
        more = {"NextContinuationToken": page[-1]["Key"]} if page and len(keys) > MaxKeys else {}
        return {"KeyCount": len(page), "IsTruncated": bool(more), **({"Contents": page} if page else {}), **more}

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        raise NotHere(f"the client of buckets has {_METHODS}, not {name}")


def _place(bucket: str, key: str) -> Path:
    """Within the bucket, also when links lead somewhere.

    Raises:
        ValueError: the key leads out of it.
    """
    root, place = local_path(f"s3://{bucket}").resolve(), local_path(f"s3://{bucket}/{key}").resolve()
    if root not in place.parents:
        raise ValueError(f"Key: expected a file in the bucket {bucket}, found {key!r}")
    return place


def _file(bucket: str, key: str, operation: str) -> Path:
    place = _place(bucket, key)
    if not place.is_file():
        raise ClientError("NoSuchKey", f"there is no file {key!r} in the bucket {bucket}", operation)
    return place


def _about(bucket: Path, key: str) -> dict[str, Any]:
    about = (bucket / key).stat()
    return {"Key": key, "Size": about.st_size, "LastModified": _moment(about.st_mtime)}


def _moment(seconds: float) -> datetime:
    return datetime.fromtimestamp(seconds, timezone.utc)
