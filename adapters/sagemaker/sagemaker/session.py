"""Session: where jobs, runs and buckets are, and the client of SageMaker's API that reaches them."""

from __future__ import annotations

import getpass
import os
from pathlib import Path
from typing import Any

from ._client import SageMakerClient
from ._keywords import Keyword, Keywords, takes
from ._places import buckets_folder, has_buckets
from ._waiting import follow, wait_for_end
from .exceptions import NotHere
from .inputs import s3_input

__all__ = ["Session", "get_execution_role", "s3_input"]

_ACCOUNT = "000000000000"
SESSION = Keywords(
    "Session",
    [
        Keyword("boto_session", "its region_name is part of the names of buckets and of ARNs"),
        Keyword("sagemaker_client", "is asked in place of the local client"),
        Keyword("sagemaker_runtime_client", "there are no endpoints; leave it out", refused=True),
        Keyword("sagemaker_featurestore_runtime_client", "there is no feature store; leave it out", refused=True),
        Keyword("default_bucket", "the name of the bucket that default_bucket() gives"),
        Keyword("settings", "leave it out; TRAINWARDEN_JOBS, _RUNS and _BUCKETS say where things are", refused=True),
        Keyword("sagemaker_metrics_client", "metrics are series of the run; leave it out", refused=True),
        Keyword("sagemaker_config", "give the arguments to the estimator", refused=True),
        Keyword("default_bucket_prefix", "a folder in the default bucket, for results that no address is given for"),
    ],
)


@takes(SESSION)
class Session:
    """The folders are those of TRAINWARDEN_JOBS, TRAINWARDEN_RUNS and TRAINWARDEN_BUCKETS when the session is made.

    Attributes:
        sagemaker_client: see SageMakerClient.
        boto_region_name: "local", unless a boto session or AWS_DEFAULT_REGION says otherwise.
    """

    def __init__(self, *positional: Any, **given: Any):
        options = SESSION.take(positional, given)
        self.boto_session = options["boto_session"]
        region = getattr(self.boto_session, "region_name", None) or os.environ.get("AWS_DEFAULT_REGION")
        self.boto_region_name: str = region or "local"
        self.default_bucket_prefix: str | None = options["default_bucket_prefix"]
        self._bucket: str = options["default_bucket"] or f"sagemaker-{self.boto_region_name}-{_ACCOUNT}"
        self.sagemaker_client: Any = options["sagemaker_client"] or SageMakerClient(
            _folder("TRAINWARDEN_JOBS", "jobs"), _folder("TRAINWARDEN_RUNS", "runs"), self.boto_region_name
        )

    def default_bucket(self) -> str:
        """The name of a bucket of one's own: a folder in that of TRAINWARDEN_BUCKETS, which is made when it is missing.

        Raises:
            ValueError: TRAINWARDEN_BUCKETS is not set.
        """
        (buckets_folder() / self._bucket).mkdir(parents=True, exist_ok=True)
        return self._bucket

    def default_output_path(self) -> str | None:
        """Where results go that no address is given for; None: into the job's folder."""
        if not has_buckets():
            return None
        prefix = (self.default_bucket_prefix or "").strip("/")
        return f"s3://{self.default_bucket()}/{prefix}"

    def describe_training_job(self, job_name: str) -> dict[str, Any]:
        description: dict[str, Any] = self.sagemaker_client.describe_training_job(TrainingJobName=job_name)
        return description

    def stop_training_job(self, job_name: str) -> None:
        self.sagemaker_client.stop_training_job(TrainingJobName=job_name)

    def wait_for_job(self, job: str, poll: float = 1) -> dict[str, Any]:
        """Waits for the end, looking each `poll` seconds, and returns the job's description.

        Raises:
            UnexpectedStatusException: the job has failed.
        """
        return wait_for_end(self.sagemaker_client, job, poll)

    def logs_for_job(self, job_name: str, wait: bool = False, poll: float = 1, log_type: str = "All") -> None:
        """Prints what the job prints: until its end, or, without `wait`, what there is.

        Raises:
            UnexpectedStatusException: the job has failed, and was waited for.
        """
        follow(self.sagemaker_client, job_name, log_type, wait=wait, poll=poll)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        raise NotHere(
            f"the session of Trainwarden has default_bucket, describe_training_job, logs_for_job, sagemaker_client, "
            f"stop_training_job and wait_for_job, not {name}"
        )


def get_execution_role(sagemaker_session: Session | None = None, use_default: bool = False) -> str:
    """A role by name: whoever runs this. Jobs run as that user, whatever role they are given."""
    try:
        user = getpass.getuser()
    except (KeyError, OSError):
        user = str(os.getuid())
    return f"arn:aws:iam::{_ACCOUNT}:role/{user}"


def _folder(variable: str, default: str) -> Path:
    return Path(os.environ.get(variable) or default).absolute()
