"""LocalTrial: the trial of a run in a folder."""

from __future__ import annotations

import os

from ..core.logger import get_logger
from .opening import open_run
from .step_range import Bounds, StepRange
from .trial import Trial


class LocalTrial(Trial):
    """Opens the run in a folder; the arguments are those of create_trial()."""

    def __init__(
        self,
        name: str,
        dirname: str | os.PathLike[str],
        range_steps: Bounds = None,
        parallel: bool = True,
        check: bool = False,
        index_mode: bool = True,
        cache: bool = False,
    ):
        path = os.path.expanduser(os.fspath(dirname))
        steps = StepRange.of(range_steps)
        get_logger().info("loading trial %s at path %s", name, path)
        super().__init__(name, path, open_run(path), steps, cache)
        self.parallel = parallel
        self.check = check
        self.index_mode = index_mode
