"""SageMakerClient: the client of SageMaker's API that notebooks ask, with its names and shapes."""

from __future__ import annotations

import json
from datetime import datetime
from pathlib import Path
from typing import Any

from . import _program
from ._description import describe, job_arn, moment, processing_arn, processing_shape
from ._entities import Entities, component_shape, experiments_folder
from ._profiling import change as change_profiling
from ._program import ProgramError
from .exceptions import ClientError, NotHere

_METHODS = (
    "create_training_job, describe_training_job, list_training_jobs, stop_training_job, the same of processing_job "
    "but list, update_training_job, and search"
)
_CHANGEABLE = ("DisableProfiler", "ProfilingIntervalInMilliseconds", "ProfilingParameters")
_SORTED_BY = {"CreationTime": "submitted", "Name": "name", "Status": "status"}


class _Exceptions:
    ClientError = ClientError
    ResourceNotFound = ClientError


class SageMakerClient:
    """Jobs and runs in two folders of this machine. One thread at a time.

    Attributes:
        jobs, runs: these folders.
        experiments: the folder of experiments.
    """

    exceptions = _Exceptions

    def __init__(self, jobs: Path, runs: Path, region: str):
        self.jobs = jobs
        self.runs = runs
        self.experiments = experiments_folder()
        self._region = region

    def create_training_job(self, **request: Any) -> dict[str, str]:
        """Submits a job. `request` has the fields of SageMaker's API; the names of a script and its folder are the
        hyper-parameters sagemaker_program and sagemaker_submit_directory.

        Raises:
            ClientError: the job has mistakes; the message has them all.
        """
        return {"TrainingJobArn": job_arn(self._region, self._submit(request, "CreateTrainingJob"))}

    def create_processing_job(self, **request: Any) -> dict[str, str]:
        """Submits a step that prepares or judges data. `request` has the fields of SageMaker's API.

        Raises:
            ClientError: it has mistakes; the message has them all.
        """
        return {"ProcessingJobArn": processing_arn(self._region, self._submit(request, "CreateProcessingJob"))}

    def describe_processing_job(self, ProcessingJobName: str) -> dict[str, Any]:
        """Where a step stands.

        Raises:
            ClientError: there is no such step.
        """
        description = self._described(ProcessingJobName, "DescribeProcessingJob")
        if "AppSpecification" not in description:
            wrong = f'there is no processing job "{ProcessingJobName}": it is a training job'
            raise ClientError("ResourceNotFound", wrong, "DescribeProcessingJob")
        return processing_shape(description, self._region)

    def stop_processing_job(self, ProcessingJobName: str) -> dict[str, Any]:
        """As stop_training_job()."""
        return self.stop_training_job(ProcessingJobName)

    def describe_training_job(self, TrainingJobName: str) -> dict[str, Any]:
        """Where a job stands.

        Raises:
            ClientError: there is no such job.
        """
        return self._described(TrainingJobName, "DescribeTrainingJob")

    def stop_training_job(self, TrainingJobName: str) -> dict[str, Any]:
        """Its program gets SIGTERM, and SIGKILL after 120 s. A job that has ended is left as it is.

        Raises:
            ClientError: there is no such job.
        """
        try:
            _program.ask("job", "stop", TrainingJobName, "--jobs", str(self.jobs))
        except ProgramError as error:
            raise ClientError(_code_of(error), error.message, "StopTrainingJob") from error
        return {}

    def update_training_job(self, *, TrainingJobName: str, ProfilerConfig: dict[str, Any], **others: Any) -> dict[str, str]:
        """How a job that runs is profiled from now on: DisableProfiler, ProfilingIntervalInMilliseconds, and
        ProfilingParameters with the steps that are recorded. What is not said stays as it is.

        Raises:
            ClientError: there is no such job, or it has ended; a field that cannot be changed.
        """
        wrong = [*others, *(name for name in ProfilerConfig if name not in _CHANGEABLE)]
        if wrong:
            expected = f"expected of a job that runs ProfilerConfig with {', '.join(_CHANGEABLE)}, found {', '.join(wrong)}"
            raise ClientError("ValidationException", expected, "UpdateTrainingJob")
        try:
            change_profiling(self.jobs, TrainingJobName, ProfilerConfig)
        except ProgramError as error:
            raise ClientError(_code_of(error), error.message, "UpdateTrainingJob") from error
        except ValueError as error:
            raise ClientError("ValidationException", str(error), "UpdateTrainingJob") from error
        return {"TrainingJobArn": job_arn(self._region, TrainingJobName)}

    def list_training_jobs(
        self,
        *,
        NameContains: str = "",
        StatusEquals: str = "",
        CreationTimeAfter: datetime | None = None,
        CreationTimeBefore: datetime | None = None,
        SortBy: str = "CreationTime",
        SortOrder: str = "Descending",
        MaxResults: int = 10,
        NextToken: str = "0",
    ) -> dict[str, Any]:
        """The jobs that are there, a page at a time.

        Raises:
            ClientError: a SortBy, SortOrder, MaxResults or NextToken that the API does not have.
        """
        if SortBy not in _SORTED_BY or SortOrder not in ("Ascending", "Descending"):
            raise self._wrong_list(f"SortBy {SortBy!r}, SortOrder {SortOrder!r}")
        if not 1 <= MaxResults <= 100 or not NextToken.isdecimal():
            raise self._wrong_list(f"MaxResults {MaxResults!r} (1 to 100), NextToken {NextToken!r}")
        rows = [row for row in self._rows() if NameContains in row["name"]]
        rows = [row for row in rows if StatusEquals in ("", row["status"])]
        if CreationTimeAfter is not None:
            rows = [row for row in rows if moment(row["submitted"]) > CreationTimeAfter]
        if CreationTimeBefore is not None:
            rows = [row for row in rows if moment(row["submitted"]) < CreationTimeBefore]
        rows.sort(key=lambda row: str(row[_SORTED_BY[SortBy]]), reverse=SortOrder == "Descending")
        begin, end = int(NextToken), int(NextToken) + MaxResults
        page: dict[str, Any] = {"TrainingJobSummaries": [self._summary(row) for row in rows[begin:end]]}
        if end < len(rows):
            page["NextToken"] = str(end)
        return page

    def search(
        self,
        *,
        Resource: str,
        SearchExpression: dict[str, Any] | None = None,
        SortBy: str = "CreationTime",
        SortOrder: str = "Descending",
        MaxResults: int = 10,
        NextToken: str = "0",
    ) -> dict[str, Any]:
        """Components of experiments, a page at a time.

        Raises:
            ClientError: another Resource, or a search that cannot be meant.
        """
        if Resource != "ExperimentTrialComponent" or not 1 <= MaxResults <= 100 or not NextToken.isdecimal():
            found = f"Resource {Resource!r} (ExperimentTrialComponent), MaxResults {MaxResults!r} (1 to 100)"
            raise ClientError("ValidationException", f"found {found}, NextToken {NextToken!r}", "Search")
        begin, end = int(NextToken), int(NextToken) + MaxResults
        words = [f"--expression={json.dumps(SearchExpression or {})}", f"--sort-by={SortBy}", f"--most={end + 1}"]
        words += ["--ascending"] if SortOrder == "Ascending" else []
        rows = Entities(self).ask("Search", "search", *words)["components"]
        page: dict[str, Any] = {"Results": [{"TrialComponent": component_shape(row)} for row in rows[begin:end]]}
        if end < len(rows):
            page["NextToken"] = str(end)
        return page

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        raise NotHere(f"the client of Trainwarden has {_METHODS}, not {name}")

    def _submit(self, request: dict[str, Any], operation: str) -> str:
        """The job's name."""
        words = ("submit", "--format", "sagemaker", "-", "--jobs", str(self.jobs), "--runs", str(self.runs))
        try:
            return str(_program.ask(*words, text=json.dumps(request, default=str))["job"])
        except ProgramError as error:
            raise ClientError(_code_of(error), error.message, operation) from error

    def _described(self, job: str, operation: str) -> dict[str, Any]:
        try:
            return describe(self.jobs, job, self._region)
        except ProgramError as error:
            raise ClientError(_code_of(error), error.message, operation) from error

    def _rows(self) -> list[dict[str, Any]]:
        rows: list[dict[str, Any]] = _program.ask("job", "ls", "--jobs", str(self.jobs))["jobs"]
        return [row for row in rows if "unreadable" not in row]

    def _summary(self, row: dict[str, Any]) -> dict[str, Any]:
        summary = {
            "TrainingJobName": row["name"],
            "TrainingJobArn": job_arn(self._region, row["name"]),
            "CreationTime": moment(row["submitted"]),
            "LastModifiedTime": moment(row["time"]),
            "TrainingJobStatus": row["status"],
            "SecondaryStatus": row["secondary_status"],
        }
        if row["status"] in ("Completed", "Failed", "Stopped"):
            summary["TrainingEndTime"] = summary["LastModifiedTime"]
        return summary

    @staticmethod
    def _wrong_list(found: str) -> ClientError:
        return ClientError("ValidationException", f"found {found}", "ListTrainingJobs")


def _code_of(error: ProgramError) -> str:
    if error.message.startswith("there is no"):
        return "ResourceNotFound"
    return "ResourceInUse" if " already" in error.message else "ValidationException"
