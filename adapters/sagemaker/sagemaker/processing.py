"""Processing jobs: steps that prepare or judge data. Each is a job of this machine, and a component of its experiment."""

from __future__ import annotations

import inspect
import os
from collections.abc import Callable, Mapping
from typing import Any, ClassVar

from ._current_run import config_of_open_run
from ._keywords import Keywords, takes
from ._places import absolute, joined
from ._processing_keywords import (
    FRAMEWORK_PROCESSOR,
    INPUT,
    OUTPUT,
    PROCESSOR,
    RUN,
    RUN_FRAMEWORK,
    RUN_SCRIPT,
    SCRIPT_PROCESSOR,
)
from ._request import new_job_name
from ._say import say
from ._waiting import follow, log_types
from .session import Session

__all__ = [
    "FrameworkProcessor",
    "ProcessingInput",
    "ProcessingJob",
    "ProcessingOutput",
    "Processor",
    "ScriptProcessor",
]

_CODE = "/opt/ml/processing/input/code"


@takes(INPUT)
class ProcessingInput:
    """Data that a step reads."""

    def __init__(self, *positional: Any, **given: Any):
        options = INPUT.take(positional, given)
        if not isinstance(options["source"], str) or not options["source"]:
            raise ValueError(f"ProcessingInput: source: expected a path, file:// or s3://, found {options['source']!r}")
        self.source: str = options["source"]
        self.destination: str | None = options["destination"]
        self.input_name: str | None = options["input_name"]
        self._distribution = options["s3_data_distribution_type"]

    def request(self, name: str) -> dict[str, Any]:
        """As an element of ProcessingInputs."""
        place = {"LocalPath": self.destination} if self.destination else {}
        config = {"S3Uri": absolute(self.source), "S3DataDistributionType": self._distribution, **place}
        return {"InputName": name, "S3Input": {"S3DataType": "S3Prefix", "S3InputMode": "File", **config}}


@takes(OUTPUT)
class ProcessingOutput:
    """Data that a step writes."""

    def __init__(self, *positional: Any, **given: Any):
        options = OUTPUT.take(positional, given)
        if not isinstance(options["source"], str) or not options["source"]:
            raise ValueError(
                f"ProcessingOutput: source: expected the folder that the step writes into, as its arguments name it, "
                f"found {options['source']!r}"
            )
        self.source: str = options["source"]
        self.destination: str | None = options["destination"]
        self.output_name: str | None = options["output_name"]
        self._mode = options["s3_upload_mode"]

    def request(self, name: str, address: str) -> dict[str, Any]:
        """As an element of Outputs."""
        return {
            "OutputName": name,
            "S3Output": {"S3Uri": address, "LocalPath": self.source, "S3UploadMode": self._mode},
        }


class ProcessingJob:
    """A step that was submitted; a processor's latest_job. Each call looks anew.

    Attributes:
        job_name, name: its name.
    """

    def __init__(self, sagemaker_session: Session, job_name: str):
        self.sagemaker_session = sagemaker_session
        self.job_name = self.name = job_name

    def describe(self) -> dict[str, Any]:
        """Where it stands, in the shape of SageMaker's describe_processing_job()."""
        client = self.sagemaker_session.sagemaker_client
        description: dict[str, Any] = client.describe_processing_job(ProcessingJobName=self.name)
        return description

    def wait(self, logs: bool = True) -> None:
        """Waits for its end; prints meanwhile what it prints, or with logs=False how it stands.

        Raises:
            UnexpectedStatusException: it has failed.
        """
        follow(self.sagemaker_session.sagemaker_client, self.name, "Training" if logs else False)

    def stop(self) -> None:
        """Its program gets SIGTERM, and SIGKILL after 120 s."""
        self.sagemaker_session.sagemaker_client.stop_processing_job(ProcessingJobName=self.name)

    @classmethod
    def from_processing_name(cls, sagemaker_session: Session, processing_job_name: str) -> ProcessingJob:
        """One that was submitted before.

        Raises:
            ClientError: there is no such step.
        """
        job = cls(sagemaker_session, processing_job_name)
        job.describe()
        return job

    @property
    def outputs(self) -> dict[str, str]:
        """Where its outputs are, by name."""
        config = self.describe().get("ProcessingOutputConfig", {})
        return {each["OutputName"]: each["S3Output"]["S3Uri"] for each in config.get("Outputs", [])}

    def __repr__(self) -> str:
        return f"<processing job {self.name}>"


class _ProcessorBase:
    """What processors have in common.

    Attributes:
        latest_job: the job of the last run(); None before. `jobs` has all of them.
    """

    keywords: ClassVar[Keywords]

    def __init__(self, *positional: Any, **given: Any):
        self._options = self.keywords.take(positional, given)
        self.sagemaker_session: Session = self._options["sagemaker_session"] or Session()
        if version := self._options.get("framework_version"):
            say(f"{type(self).__name__}: the framework of this environment runs, not framework_version {version}")
        self.jobs: list[ProcessingJob] = []
        self.latest_job: ProcessingJob | None = None

    def _submit(self, entrypoint: list[str], options: Mapping[str, Any], code: list[dict[str, Any]]) -> None:
        log_types(options["logs"])
        name = options["job_name"] or new_job_name(self._base_name())
        request = self._request(name, entrypoint, options)
        request["ProcessingInputs"] = [*_inputs(options["inputs"]), *code]
        request["ProcessingOutputConfig"] = {"Outputs": self._outputs(name, options["outputs"])}
        say(f"Creating processing-job with name {name}")
        self.sagemaker_session.sagemaker_client.create_processing_job(
            **{field: value for field, value in request.items() if value not in (None, {}, [])}
        )
        self.latest_job = ProcessingJob(self.sagemaker_session, name)
        self.jobs.append(self.latest_job)
        if options["wait"]:
            self.latest_job.wait(logs=bool(options["logs"]))

    def _request(self, name: str, entrypoint: list[str], options: Mapping[str, Any]) -> dict[str, Any]:
        own = self._options
        cluster = {
            "InstanceCount": own["instance_count"],
            "InstanceType": own["instance_type"],
            "VolumeSizeInGB": own["volume_size_in_gb"],
        }
        program = {
            "ImageUri": own["image_uri"],
            "ContainerEntrypoint": entrypoint,
            "ContainerArguments": [str(word) for word in options["arguments"] or ()],
        }
        limit = own["max_runtime_in_seconds"]
        return {
            "ProcessingJobName": name,
            "RoleArn": own["role"],
            "AppSpecification": {field: value for field, value in program.items() if value},
            "ProcessingResources": {"ClusterConfig": {k: value for k, value in cluster.items() if value is not None}},
            "StoppingCondition": {"MaxRuntimeInSeconds": limit} if limit else None,
            "Environment": {key: str(value) for key, value in (own["env"] or {}).items()},
            "Tags": list(own["tags"] or ()),
            "ExperimentConfig": dict(options["experiment_config"] or config_of_open_run() or {}),
        }

    def _outputs(self, job: str, outputs: Any) -> list[dict[str, Any]]:
        requests = []
        for number, output in enumerate(outputs or (), start=1):
            if not isinstance(output, ProcessingOutput):
                raise ValueError(f"outputs: expected ProcessingOutput(...), found {output!r}")
            name = output.output_name or f"output-{number}"
            address = absolute(output.destination) if output.destination else self._default_address(job, name)
            requests.append(output.request(name, address))
        return requests

    def _default_address(self, job: str, name: str) -> str:
        bucket = self.sagemaker_session.default_output_path()
        if bucket is None:
            raise ValueError(
                f"ProcessingOutput: {name}: expected destination, a folder, or a bucket for it: set TRAINWARDEN_BUCKETS"
            )
        return joined(bucket, job, "output", name)

    def _base_name(self) -> str:
        return str(self._options["base_job_name"] or type(self).__name__.replace("Processor", "-processing").strip("-"))


@takes(PROCESSOR)
class Processor(_ProcessorBase):
    """Runs a program."""

    keywords = PROCESSOR

    def run(self, *positional: Any, **given: Any) -> None:
        """Submits a job, and waits for its end unless told otherwise.

        Raises:
            ClientError: the job has mistakes.
            ValueError: an argument that cannot be meant.
            UnexpectedStatusException: the job has failed, and was waited for.
        """
        entrypoint = self._options["entrypoint"]
        if not entrypoint:
            raise ValueError('Processor: entrypoint: expected the program and its words, ["python3", "prepare.py"]')
        self._submit([str(word) for word in entrypoint], RUN.take(positional, given), [])


@takes(SCRIPT_PROCESSOR)
class ScriptProcessor(_ProcessorBase):
    """Runs a script."""

    keywords = SCRIPT_PROCESSOR

    def run(self, *positional: Any, **given: Any) -> None:
        """Submits a job, and waits for its end unless told otherwise; errors as Processor.run()."""
        options = RUN_SCRIPT.take(positional, given)
        script = _script(options["code"], None)
        self._submit(self._entrypoint(script), options, _code_input(script))

    def _entrypoint(self, script: str) -> list[str]:
        return [*(self._options["command"] or ["python3"]), f"{_CODE}/{os.path.basename(script)}"]


@takes(FRAMEWORK_PROCESSOR)
class FrameworkProcessor(ScriptProcessor):
    """Runs a script with the folder that it lies in, where it has one."""

    keywords = FRAMEWORK_PROCESSOR

    def run(self, *positional: Any, **given: Any) -> None:
        """Submits a job, and waits for its end unless told otherwise; errors as Processor.run()."""
        options = RUN_FRAMEWORK.take(positional, given)
        sources = options["source_dir"]
        script = _script(options["code"], sources)
        if not sources:
            self._submit(self._entrypoint(script), options, _code_input(script))
            return
        command = [*(self._options["command"] or ["python3"]), f"{_CODE}/{options['code']}"]
        self._submit(command, options, _code_input(absolute(sources)))


def _script(code: Any, sources: str | None) -> str:
    if not isinstance(code, str) or not code:
        raise ValueError(f"run: code: expected the script, found {code!r}")
    path = absolute(joined(sources, code) if sources else code)
    if not os.path.isfile(path):
        raise ValueError(f"run: code: there is no file {path}")
    return path


def _code_input(place: str) -> list[dict[str, Any]]:
    return [ProcessingInput(place, _CODE, "code").request("code")]


def _inputs(inputs: Any) -> list[dict[str, Any]]:
    requests = []
    for number, each in enumerate(inputs or (), start=1):
        if not isinstance(each, ProcessingInput):
            raise ValueError(f"inputs: expected ProcessingInput(...), found {each!r}")
        requests.append(each.request(each.input_name or f"input-{number}"))
    return requests


# help() and notebooks show what run() takes.
for _owner, _table in ((Processor, RUN), (ScriptProcessor, RUN_SCRIPT), (FrameworkProcessor, RUN_FRAMEWORK)):
    _run: Callable[..., None] = _owner.run
    signature: inspect.Signature = _table.signature("self")
    _run.__signature__ = signature  # type: ignore[attr-defined]
