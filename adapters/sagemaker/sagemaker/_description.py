"""describe_training_job(): a job in SageMaker's shape, made of its request, of where it stands, and of its run."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

from . import _program
from ._job_folder import read_request
from ._places import joined, local_path
from ._rule_ids import rule_ids

Fields = dict[str, Any]
ENDED = ("Completed", "Failed", "Stopped")

# Of the request, what a description has under the same name.
_AS_REQUESTED = (
    "HyperParameters",
    "AlgorithmSpecification",
    "RoleArn",
    "InputDataConfig",
    "OutputDataConfig",
    "ResourceConfig",
    "StoppingCondition",
    "CheckpointConfig",
    "DebugHookConfig",
    "DebugRuleConfigurations",
    "TensorBoardOutputConfig",
    "ExperimentConfig",
    "Environment",
    "RetryStrategy",
)
_RULE_FIELDS = (
    "RuleConfigurationName",
    "RuleEvaluationJobArn",
    "RuleEvaluationStatus",
    "StatusDetails",
    "LastModifiedTime",
)
_TIME = re.compile(r"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(?:\.(\d{1,6})\d*)?Z")


def describe(jobs: Path, name: str, region: str) -> Fields:
    """The job in the folder of jobs.

    Raises:
        ProgramError: there is no such job, or it cannot be read.
    """
    job = _program.ask("job", "describe", name, "--jobs", str(jobs))
    request = read_request(jobs, name)
    run = _describe_run(job["run"])
    status = job["status"]
    description: Fields = {
        "TrainingJobName": name,
        "TrainingJobArn": job_arn(region, name),
        "TrainingJobStatus": status,
        "SecondaryStatus": job["secondary_status"],
        **{field: request[field] for field in _AS_REQUESTED if field in request},
        **_times(job),
        "EnableNetworkIsolation": False,
        "EnableInterContainerTrafficEncryption": False,
        "EnableManagedSpotTraining": bool(request.get("EnableManagedSpotTraining")),
        "ProfilingStatus": "Disabled",
    }
    if status == "Failed":
        description["FailureReason"] = job["message"]
    if model := _model(jobs / name, name, request):
        description["ModelArtifacts"] = {"S3ModelArtifacts": model}
    if run.get("FinalMetricDataList"):
        description["FinalMetricDataList"] = [_metric(metric) for metric in run["FinalMetricDataList"]]
    if "DebugHookConfig" in description:
        description["DebugHookConfig"] = {**description["DebugHookConfig"], "LocalPath": job["run"]}
    if rules := _rule_statuses(request, run, description):
        description["DebugRuleEvaluationStatuses"] = rules
    return description


def job_arn(region: str, name: str) -> str:
    return f"arn:aws:sagemaker:{region}:000000000000:training-job/{name.lower()}"


def moment(text: str) -> datetime:
    """RFC 3339 in UTC, of which a datetime keeps microseconds."""
    found = _TIME.fullmatch(text)
    if found is None:
        raise ValueError(f"expected a time in UTC, found {text!r}")
    time = datetime.strptime(found[1], "%Y-%m-%dT%H:%M:%S").replace(tzinfo=timezone.utc)
    return time.replace(microsecond=int((found[2] or "").ljust(6, "0")))


def _describe_run(run: str) -> Fields:
    """Empty while there is none: the program has not opened its hook yet, or never will."""
    if not os.path.exists(os.path.join(run, "run.json")):
        return {}
    return _program.ask("describe", run)


def _times(job: Mapping[str, Any]) -> Fields:
    transitions = [
        {"Status": each["secondary_status"], "StartTime": moment(each["time"]), "StatusMessage": each["message"]}
        for each in job["transitions"]
    ]
    for before, after in zip(transitions, transitions[1:]):
        before["EndTime"] = after["StartTime"]
    times: Fields = {
        "CreationTime": moment(job["submitted"]),
        "LastModifiedTime": transitions[-1]["StartTime"],
        "SecondaryStatusTransitions": transitions,
    }
    started = next((each["StartTime"] for each in transitions if each["Status"] == "Starting"), None)
    if started is not None:
        times["TrainingStartTime"] = started
        if job["status"] in ENDED:
            times["TrainingEndTime"] = transitions[-1]["StartTime"]
            seconds = int((times["TrainingEndTime"] - started).total_seconds())
            times["TrainingTimeInSeconds"] = times["BillableTimeInSeconds"] = seconds
    return times


def _model(folder: Path, name: str, request: Mapping[str, Any]) -> str | None:
    """Where the packed model is, once it is there."""
    output = (request.get("OutputDataConfig") or {}).get("S3OutputPath")
    if not output:
        own = folder / "output" / "model.tar.gz"
        return str(own) if own.exists() else None
    address = joined(output, name, "output", "model.tar.gz")
    try:
        return address if local_path(address).exists() else None
    except ValueError:
        return None  # TRAINWARDEN_BUCKETS is not set here


def _metric(metric: Mapping[str, Any]) -> Fields:
    return {
        "MetricName": metric["MetricName"],
        "Value": float(metric["Value"]),
        "Timestamp": moment(metric["Timestamp"]),
    }


def _rule_statuses(request: Mapping[str, Any], run: Fields, job: Fields) -> list[Fields]:
    """Under the names that the job gives to its rules; a rule that nobody has asked yet is in progress."""
    seen = {status["RuleConfigurationName"]: status for status in run.get("DebugRuleEvaluationStatuses") or []}
    configurations = request.get("DebugRuleConfigurations")
    if configurations is None:  # of a job that this package did not submit
        return [_rule_status(status, status["RuleConfigurationName"]) for status in seen.values()]
    statuses = []
    for rule, configuration in rule_ids(configurations).items():
        name = configuration["RuleConfigurationName"]
        statuses.append(_rule_status(seen[rule], name) if rule in seen else _not_judged(name, job))
    return statuses


def _rule_status(status: Mapping[str, Any], name: str) -> Fields:
    known = {field: status[field] for field in _RULE_FIELDS if field in status}
    return {**known, "RuleConfigurationName": name, "LastModifiedTime": moment(status["LastModifiedTime"])}


def _not_judged(name: str, job: Fields) -> Fields:
    status: Fields = {"RuleConfigurationName": name, "RuleEvaluationStatus": "InProgress"}
    if job["TrainingJobStatus"] == "Stopped":
        status["RuleEvaluationStatus"] = "Stopped"
    elif job["TrainingJobStatus"] in ENDED:
        status["RuleEvaluationStatus"] = "Error"
        status["StatusDetails"] = "ClientError: the job has ended, and its program has captured nothing to judge\n"
    status["LastModifiedTime"] = job["LastModifiedTime"]
    return status
