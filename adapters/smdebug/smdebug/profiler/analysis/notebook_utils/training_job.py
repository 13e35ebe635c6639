"""TrainingJob: the profile of a job by its name."""

from __future__ import annotations

import os
import time
from typing import Any, Optional

from ....core.logger import get_logger
from ....exceptions import SMDebugError, SMDebugValueError
from ..._folder import is_folder
from ...algorithm_metrics_reader import LocalAlgorithmMetricsReader
from ...metrics_reader_base import MetricsReaderBase
from ...system_metrics_reader import LocalSystemMetricsReader
from ...utils import us_since_epoch_to_human_readable_time

_POLL_S = 2.0
_ENDED = ("Completed", "Failed", "Stopped")


class TrainingJob:
    """A job of Trainwarden's, by boto3's client of the package trainwarden-boto3.

    Attributes:
        name: the job's; profiler_config: as describe_training_job() has it.
        profiler_s3_output_path: where its profile is: what was asked for, else its run.
    """

    def __init__(self, training_job_name: str, region: Optional[str] = None):
        self.name = training_job_name
        self.sm_client = _client(region)
        self.ds: dict[str, Any] = self.describe_training_job()
        self.profiler_config, self.profiler_s3_output_path = self.get_config_and_profiler_s3_output_path()
        self.system_metrics_reader: Optional[LocalSystemMetricsReader] = None
        self.framework_metrics_reader: Optional[LocalAlgorithmMetricsReader] = None

    def get_systems_metrics_reader(self) -> Optional[LocalSystemMetricsReader]:
        """None before wait_for_sys_profiling_data_to_be_available()."""
        return self.system_metrics_reader

    def get_framework_metrics_reader(self) -> Optional[LocalAlgorithmMetricsReader]:
        """None before wait_for_framework_profiling_data_to_be_available()."""
        return self.framework_metrics_reader

    def get_sm_client(self) -> Any:
        return self.sm_client

    def describe_training_job(self) -> dict[str, Any]:
        description: dict[str, Any] = self.sm_client.describe_training_job(TrainingJobName=self.name)
        return description

    def get_sm_job_summary(self) -> dict[str, Any]:
        return self.describe_training_job()

    def get_config_and_profiler_s3_output_path(self) -> tuple[dict[str, Any], str]:
        """
        Raises:
            SMDebugValueError: the job has no profile, and no run.
        """
        config: dict[str, Any] = self.ds.get("ProfilerConfig") or {}
        if "S3OutputPath" in config:
            path = "/".join([config["S3OutputPath"].rstrip("/"), self.name, "profiler-output"])
            if is_folder(path):
                return config, path
        run = (self.ds.get("DebugHookConfig") or {}).get("LocalPath")
        if not run:
            raise SMDebugValueError(f"{self.name} has neither a profile nor a run; it was submitted without a hook")
        return config, str(run)

    def wait_for_sys_profiling_data_to_be_available(self) -> None:
        """
        Raises:
            SMDebugError: the job has ended without.
        """
        self.system_metrics_reader = LocalSystemMetricsReader(self.profiler_s3_output_path)
        self._wait_for(self.system_metrics_reader, "the system")

    def wait_for_framework_profiling_data_to_be_available(self) -> None:
        """
        Raises:
            SMDebugError: the job has ended without.
        """
        self.framework_metrics_reader = LocalAlgorithmMetricsReader(self.profiler_s3_output_path)
        self._wait_for(self.framework_metrics_reader, "the framework")

    def _wait_for(self, reader: MetricsReaderBase[Any], whose: str) -> None:
        while reader.get_timestamp_of_latest_available_file() == 0:
            status = self.describe_training_job().get("TrainingJobStatus")
            reader.refresh_event_file_list()
            if reader.get_timestamp_of_latest_available_file() == 0:
                if status in _ENDED:
                    raise SMDebugError(f"{self.name} has ended ({status}), and nothing was profiled of {whose}")
                get_logger().info(f"Profiler data from {whose} not available yet; the job is {status}")
                time.sleep(_POLL_S)
        last = us_since_epoch_to_human_readable_time(reader.get_timestamp_of_latest_available_file())
        get_logger().info(f"Profiler data from {whose} is available, up to {last} (UTC)")


def _client(region: Optional[str]) -> Any:
    try:
        import boto3
    except ImportError as missing:
        raise SMDebugError(
            "TrainingJob asks boto3 for the job, which is not installed; install trainwarden-boto3 (jobs of this machine), "
            "or open the run or folder itself: LocalSystemMetricsReader(path)"
        ) from missing
    return boto3.client("sagemaker", region_name=region) if region else boto3.client("sagemaker")
