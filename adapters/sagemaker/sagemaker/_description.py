"""describe_training_job(): the program's answer in SageMaker's shape, with datetimes and numbers as boto3 gives them."""

from __future__ import annotations

import re
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

from . import _program

ENDED = ("Completed", "Failed", "Stopped")

_TIMES = ("CreationTime", "LastModifiedTime", "TrainingStartTime", "TrainingEndTime", "StartTime", "EndTime", "Timestamp")
_LISTS = (
    "SecondaryStatusTransitions",
    "DebugRuleEvaluationStatuses",
    "ProfilerRuleEvaluationStatuses",
    "FinalMetricDataList",
)
_TIME = re.compile(r"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(?:\.(\d{1,6})\d*)?Z")


def describe(jobs: Path, name: str, region: str) -> dict[str, Any]:
    """The job in the folder of jobs.

    Raises:
        ProgramError: there is no such job, or it cannot be read.
    """
    words = ("job", "describe", name, "--format", "sagemaker", "--region", region, "--jobs", str(jobs))
    return _with_moments(_program.ask(*words))


def job_arn(region: str, name: str) -> str:
    return f"arn:aws:sagemaker:{region}:000000000000:training-job/{name.lower()}"


def processing_arn(region: str, name: str) -> str:
    return f"arn:aws:sagemaker:{region}:000000000000:processing-job/{name.lower()}"


# Of a job's description, what a processing job's calls it.
_OF_STEPS = {
    "TrainingJobName": "ProcessingJobName",
    "TrainingJobStatus": "ProcessingJobStatus",
    "TrainingStartTime": "ProcessingStartTime",
    "TrainingEndTime": "ProcessingEndTime",
}
_SAME_OF_STEPS = (
    "FailureReason", "RoleArn", "CreationTime", "LastModifiedTime", "StoppingCondition", "Environment", "ExperimentConfig",
    "ProcessingInputs", "ProcessingOutputConfig", "AppSpecification", "ProcessingResources", "NetworkConfig",
)  # fmt: skip


def processing_shape(description: dict[str, Any], region: str) -> dict[str, Any]:
    """The description of a job as that of the processing job which it is."""
    shape = {"ProcessingJobArn": processing_arn(region, description["TrainingJobName"])}
    shape.update({ours: description[field] for field, ours in _OF_STEPS.items() if field in description})
    shape.update({field: description[field] for field in _SAME_OF_STEPS if field in description})
    return shape


def moment(text: str) -> datetime:
    """RFC 3339 in UTC, of which a datetime keeps microseconds."""
    found = _TIME.fullmatch(text)
    if found is None:
        raise ValueError(f"expected a time in UTC, found {text!r}")
    time = datetime.strptime(found[1], "%Y-%m-%dT%H:%M:%S").replace(tzinfo=timezone.utc)
    return time.replace(microsecond=int((found[2] or "").ljust(6, "0")))


def _with_moments(answer: dict[str, Any]) -> dict[str, Any]:
    """Of the description's own fields: what the request says stays as it is."""
    for field, value in answer.items():
        if field in _TIMES:
            answer[field] = moment(value)
        elif field in _LISTS:
            answer[field] = [_with_moments(each) for each in value]
        elif field == "Value":  # of a metric: NaN and infinities are texts in JSON
            answer[field] = float(value)
    return answer
