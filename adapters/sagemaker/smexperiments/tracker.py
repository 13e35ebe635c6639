"""Tracker: says things of a component while a program runs."""

from __future__ import annotations

import os
import shutil
from datetime import datetime
from pathlib import Path
from types import TracebackType
from typing import Any

from sagemaker._entities import experiments_folder
from sagemaker._places import joined, local_path
from sagemaker.exceptions import NotHere
from sagemaker.session import Session
from trainwarden.experiments import Tracker as Record

from ._base import new_name
from .trial_component import TrialComponent

__all__ = ["Tracker"]

_JOB_COMPONENT = "{}-aws-training-job"
_PREFIX = "trial-component-artifacts"


class Tracker:
    """Made by create(), for a component of its own, and by load(). As a context it says when it began and how it ended.

    What is logged is written a second later at the latest, and survives the end of the program in whatever way.

    Attributes:
        trial_component: the component.
    """

    def __init__(self, component: TrialComponent, record: Record, bucket: str | None, prefix: str | None):
        self._component, self._record = component, record
        self._bucket, self._prefix = bucket, _PREFIX if prefix is None else prefix
        self._steps: dict[str, float] = {}

    @classmethod
    def create(
        cls,
        display_name: str | None = None,
        artifact_bucket: str | None = None,
        artifact_prefix: str | None = None,
        boto_session: Any = None,
        sagemaker_boto_client: Any = None,
    ) -> Tracker:
        """For a new component. `artifact_bucket` and `artifact_prefix` are where log_artifact() copies files to."""
        client = _client(boto_session, sagemaker_boto_client)
        name = new_name("TrialComponent")
        record = Record(name, display_name=display_name or "", folder=experiments_folder(client))
        return cls(TrialComponent.load(name, client), record, artifact_bucket, artifact_prefix)

    @classmethod
    def load(
        cls,
        trial_component_name: str | None = None,
        artifact_bucket: str | None = None,
        artifact_prefix: str | None = None,
        boto_session: Any = None,
        sagemaker_boto_client: Any = None,
        training_job_name: str | None = None,
        processing_job_name: str | None = None,
    ) -> Tracker:
        """For a component that is there, that of a job, or, without a name, that of the job which runs this program.

        Raises:
            ClientError: there is no such component.
            ValueError: no name outside of a job of an experiment.
        """
        client = _client(boto_session, sagemaker_boto_client)
        job = training_job_name or processing_job_name
        name = trial_component_name or (job and _JOB_COMPONENT.format(job))
        if not name:
            name = os.environ.get("TRAINWARDEN_COMPONENT", "")
            if not name:
                raise ValueError("Tracker.load: outside of a job of an experiment expected trial_component_name")
        component = TrialComponent.load(name, client)
        record = Record(name, folder=experiments_folder(client))
        record._says_status = False  # how it stands is the job's to say, or whoever made it
        return cls(component, record, artifact_bucket, artifact_prefix)

    @property
    def trial_component(self) -> TrialComponent:
        """With all that was logged so far."""
        self._record.flush()
        self._component = TrialComponent.load(self._component.trial_component_name, self._component._entities.client)
        return self._component

    def log_parameter(self, name: str, value: Any) -> None:
        """A number or a text."""
        self._record.log_parameter(name, value)

    def log_parameters(self, parameters: dict[str, Any]) -> None:
        """All of them, or, when one cannot be a parameter, none."""
        self._record.log_parameters(parameters)

    def log_metric(
        self,
        metric_name: str,
        value: float,
        timestamp: datetime | float | None = None,
        iteration_number: int | None = None,
    ) -> None:
        """One more value of a metric. Of all values their summary is kept.

        `timestamp` is when it was measured (now); of values with an `iteration_number` that with the greatest is the
        last, in whatever order they come.
        """
        seconds = timestamp.timestamp() if isinstance(timestamp, datetime) else timestamp
        is_last = iteration_number is None or iteration_number >= self._steps.get(metric_name, iteration_number)
        if iteration_number is not None and is_last:
            self._steps[metric_name] = iteration_number
        self._record.log_metric(metric_name, value, timestamp=seconds, is_last=is_last)

    def log_input(self, name: str, value: str, media_type: str | None = None) -> None:
        """What went in: a path, whose content is hashed, or an address."""
        self._record.log_input(name, value, media_type or "")

    def log_output(self, name: str, value: str, media_type: str | None = None) -> None:
        """What came out: the same."""
        self._record.log_output(name, value, media_type or "")

    def log_artifact(self, file_path: str, name: str | None = None, media_type: str | None = None) -> None:
        """Copies a file into the bucket, and logs it as what came out; errors as keep_file()."""
        self.log_output(name or Path(file_path).name, self.keep_file(file_path), media_type)

    def keep_file(self, file_path: str) -> str:
        """Copies a file into the bucket, and returns its address there.

        Raises:
            ValueError: TRAINWARDEN_BUCKETS is not set.
            OSError: it cannot be copied.
        """
        source = Path(file_path).expanduser()
        bucket = self._bucket or Session().default_bucket()
        parts = (part for part in (self._prefix.strip("/"), self._component.trial_component_name, source.name) if part)
        address = joined(f"s3://{bucket}", *parts)
        target = local_path(address)
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(source, target)
        return address

    def log_artifacts(self, directory: str, media_type: str | None = None) -> None:
        """Each file that lies in a folder."""
        for path in sorted(Path(directory).expanduser().iterdir()):
            if path.is_file():
                self.log_artifact(str(path), media_type=media_type)

    def close(self) -> None:
        """Returns when all that was logged is written; the component is then Completed."""
        self._record.close()

    def __enter__(self) -> Tracker:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._record.__exit__(kind, error, trace)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("log_"):
            raise NotHere(
                f"Tracker.{name}: it has log_parameter(s), log_metric, log_input, log_output and log_artifact(s); what a "
                "training captures is drawn by `trainwarden serve`"
            )
        raise AttributeError(f"Tracker has no attribute {name!r}")


def _client(boto_session: Any, client: Any) -> Any:
    """The session's, when no client is given."""
    return boto_session.client("sagemaker") if client is None and boto_session is not None else client
