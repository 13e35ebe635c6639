"""S3Trial: says what to do with a run in S3."""

from __future__ import annotations

from typing import Any

from ..exceptions import SMDebugNotImplementedError
from .trial import Trial


class S3Trial(Trial):
    """Cannot be made: the storage that reads S3 is not part of this release."""

    def __init__(self, name: str, bucket_name: str, prefix_name: str = "", **kwargs: Any):
        address = bucket_name if bucket_name.startswith("s3://") else f"s3://{bucket_name}/{prefix_name}"
        raise SMDebugNotImplementedError(
            f"{address} lies in S3, which is not read yet; copy it with `aws s3 sync {address} {name or 'run'}` "
            "(again and again while the training runs) and open the copy"
        )
