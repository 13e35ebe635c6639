"""S3Trial: the trial of a run in a bucket."""

from __future__ import annotations

import time

from ..core.logger import get_logger
from .opening import open_run
from .step_range import Bounds, StepRange
from .trial import Trial

_REFRESH_INTERVAL_S = 1.0


class S3Trial(Trial):
    """Opens the run under a prefix of a bucket; the arguments are those of create_trial().

    New data are looked for once a second at most, since each look is a request or some.

    Attributes:
        bucket_name, prefix_name: where the run lies.
    """

    def __init__(
        self,
        name: str,
        bucket_name: str,
        prefix_name: str = "",
        range_steps: Bounds = None,
        check: bool = False,
        index_mode: bool = True,
        cache: bool = False,
        parallel: bool = True,
    ):
        self.bucket_name = bucket_name
        self.prefix_name = prefix_name.strip("/")
        path = f"s3://{self.bucket_name}/{self.prefix_name}".rstrip("/")
        steps = StepRange.of(range_steps)
        get_logger().info("loading trial %s at path %s", name, path)
        self._refreshed_s = time.monotonic()
        super().__init__(name, path, open_run(path), steps, cache)
        self.parallel = parallel
        self.check = check
        self.index_mode = index_mode

    def refresh_data(self) -> None:
        now_s = time.monotonic()
        if now_s - self._refreshed_s >= _REFRESH_INTERVAL_S:
            self._refreshed_s = now_s
            super().refresh_data()
