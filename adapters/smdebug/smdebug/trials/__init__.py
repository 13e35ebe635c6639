"""Trials: read handles on runs. create_trial() opens one."""

from .local_trial import LocalTrial
from .profiler_trial import ProfilerTrial
from .s3_trial import S3Trial
from .trial import Trial
from .utils import create_trial

__all__ = ["LocalTrial", "ProfilerTrial", "S3Trial", "Trial", "create_trial"]
