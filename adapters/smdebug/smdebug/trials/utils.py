"""create_trial: opens a run for analysis."""

from __future__ import annotations

import os
from typing import Any, Literal, overload

from ..core.utils import is_s3
from .local_trial import LocalTrial
from .profiler_trial import ProfilerTrial
from .s3_trial import S3Trial
from .trial import Trial


@overload
def create_trial(
    path: str | os.PathLike[str],
    name: str | None = None,
    profiler: Literal[False] = False,
    output_dir: str = ...,
    **kwargs: Any,
) -> Trial: ...
@overload
def create_trial(
    path: str | os.PathLike[str], name: str | None = None, *, profiler: Literal[True], **kwargs: Any
) -> ProfilerTrial: ...
def create_trial(
    path: str | os.PathLike[str],
    name: str | None = None,
    profiler: bool = False,
    output_dir: str = "/opt/ml/processing/outputs/",
    **kwargs: Any,
) -> Trial | ProfilerTrial:
    """Opens the run in a folder: one of Trainwarden's, or one that smdebug wrote. Waits until it has begun.

    Arguments:
        path: the folder, or s3://BUCKET/PREFIX; where TRAINWARDEN_BUCKETS names a folder, s3://BUCKET/KEY is BUCKET/KEY
            in it.
        profiler: opens the profile in a ProfilerTrial instead of the tensors in a Trial.
        name: the name of the trial; by default the last part of the path.
        range_steps: (begin, end), the global steps of the trial, end not included; None leaves a side open.
        cache: keep the values that were read.
        check, index_mode, parallel, output_dir: accepted without effect. Every record is checked in any case, and
            data are read only when they are used.

    Raises:
        MissingCollectionFiles: the training, or the job that it is, has ended and has left nothing that can be read.
        PermissionError, OSError, RuntimeError: the bucket cannot be reached, or there is none; the message says why.
    """
    folder = os.fspath(path).strip()
    name = os.path.basename(folder.rstrip("/")) if name is None else name
    if profiler:
        return ProfilerTrial(name, folder, output_dir, **kwargs)
    is_address, bucket, prefix = is_s3(folder)
    if is_address:
        buckets = os.environ.get("TRAINWARDEN_BUCKETS")
        if not buckets:
            return S3Trial(name, str(bucket), str(prefix or ""), **kwargs)
        folder = _in_buckets(buckets, folder)
    return LocalTrial(name, folder, **kwargs)


def _in_buckets(buckets: str, address: str) -> str:
    """The folder that s3://BUCKET/KEY stands for."""
    parts = address.removeprefix("s3://").split("/")
    if "." in parts or ".." in parts:
        raise ValueError(f'{address}: expected s3://BUCKET/KEY, without "." and ".."')
    return os.path.join(buckets, *parts)
