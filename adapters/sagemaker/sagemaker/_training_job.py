"""TrainingJob: one that was submitted; an estimator's latest_training_job."""

from __future__ import annotations

from typing import Any

from ._waiting import follow
from .session import Session


class TrainingJob:
    """A job by its name. Each call looks anew.

    Attributes:
        name, job_name: its name.
    """

    def __init__(self, sagemaker_session: Session, job_name: str):
        self.sagemaker_session = sagemaker_session
        self.name = self.job_name = job_name

    def describe(self) -> dict[str, Any]:
        """Where it stands, in the shape of SageMaker's describe_training_job()."""
        return self.sagemaker_session.describe_training_job(self.name)

    def rule_job_summary(self) -> list[dict[str, Any]]:
        """Where its rules stand: those on tensors first, then those of the profiler."""
        description = self.describe()
        lists = ("DebugRuleEvaluationStatuses", "ProfilerRuleEvaluationStatuses")
        return [status for field in lists for status in description.get(field, [])]

    def wait(self, logs: Any = "All") -> None:
        """Waits for its end; prints meanwhile what it prints, or with logs=False how it stands.

        Raises:
            UnexpectedStatusException: it has failed.
        """
        follow(self.sagemaker_session.sagemaker_client, self.name, logs)

    def stop(self) -> None:
        """Its program gets SIGTERM, and SIGKILL after 120 s."""
        self.sagemaker_session.stop_training_job(self.name)

    def __repr__(self) -> str:
        return f"<training job {self.name}>"
