"""The files of a submission, made of a request as SageMaker's API has it (CreateTrainingJob):

request.json      the request itself, for who describes the job later
job.json          the job (docs/reference/job-spec.md), which the program trainwarden reads
hook.json         what is captured; in smdebug's schema, which Trainwarden's hook reads
actions.toml      what rules start
profiler.json     how it is to be profiled, for the profiler; there is none yet
tensorboard.json  where the run is exported for TensorBoard
code/             the entry point, when it came without a folder of sources
"""

from __future__ import annotations

import json
import math
import os
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from . import _actions_file
from ._places import absolute, local_path
from ._program import interpreter_path
from ._rule_ids import rule_ids

Request = Mapping[str, Any]
_GIB = 1 << 30


def write_files(folder: Path, request: Request, say: Any) -> Path:
    """Writes them into `folder`, and returns the job's file. `say(message)` gets what a user should know.

    Raises:
        ValueError: what the request says cannot be written as a job.
    """
    hyperparameters = decoded(request.get("HyperParameters") or {})
    job: dict[str, Any] = {
        "name": request["TrainingJobName"],
        **_program(folder, hyperparameters),
        "hyperparameters": {key: _finite(v) for key, v in hyperparameters.items() if not key.startswith("sagemaker_")},
        "inputs": _inputs(request),
        **_places(request),
        **_resources(request, folder, say),
        **_limits(request),
        **_judging(request, folder),
        **_records(request),
    }
    job["environment"] = {
        "PATH": interpreter_path(),
        **_tensorboard(request, folder),
        **(request.get("Environment") or {}),
    }
    _write(folder / "request.json", request)
    _write(folder / "job.json", {key: value for key, value in job.items() if value not in (None, {}, [])})
    return folder / "job.json"


def decoded(hyperparameters: Mapping[str, str]) -> dict[str, Any]:
    """As they were before they were written as JSON for the API; a text that is none stays."""
    values: dict[str, Any] = {}
    for name, text in hyperparameters.items():
        try:
            values[name] = json.loads(text)
        except ValueError:
            values[name] = text
    return values


def _finite(value: Any) -> Any:
    """JSON has no NaN and no infinity; the program gets them as text either way."""
    return str(value) if isinstance(value, float) and not math.isfinite(value) else value


def _write(path: Path, content: Any) -> None:
    path.write_text(json.dumps(content, indent=2, default=str) + "\n", encoding="utf-8")


def _program(folder: Path, hyperparameters: Mapping[str, Any]) -> dict[str, Any]:
    """The script with its folder. One without a folder comes alone, as in SageMaker's containers."""
    script = hyperparameters.get("sagemaker_program")
    if not isinstance(script, str) or not script:
        raise ValueError(
            "expected entry_point, the script that trains (in a request: the hyper-parameter sagemaker_program)"
        )
    sources = hyperparameters.get("sagemaker_submit_directory")
    if sources is None:
        if not os.path.isfile(script):
            raise ValueError(f"entry_point: there is no file {script}")
        (folder / "code").mkdir()
        shutil.copy(script, folder / "code")
        script, sources = os.path.basename(script), str(folder / "code")
    elif not os.path.isdir(sources):
        raise ValueError(f"source_dir: expected a folder, found nothing at {sources}")
    return {
        "entry_point": script,
        "source_dir": sources,
        "dependencies": hyperparameters.get("sagemaker_dependencies") or [],
    }


def _inputs(request: Request) -> dict[str, Any]:
    default_mode = request.get("AlgorithmSpecification", {}).get("TrainingInputMode")
    inputs: dict[str, Any] = {}
    for channel in request.get("InputDataConfig") or []:
        source = channel["DataSource"]["S3DataSource"]
        fields = {
            "source": absolute(source["S3Uri"]),
            "distribution": source.get("S3DataDistributionType"),
            "mode": channel.get("InputMode") or default_mode,
            "content_type": channel.get("ContentType"),
        }
        inputs[channel["ChannelName"]] = {name: value for name, value in fields.items() if value}
    return inputs


def _places(request: Request) -> dict[str, Any]:
    output = (request.get("OutputDataConfig") or {}).get("S3OutputPath")
    checkpoints = request.get("CheckpointConfig") or {}
    return {
        "output_dir": absolute(output) if output else None,
        "checkpoint_s3_uri": absolute(checkpoints["S3Uri"]) if checkpoints.get("S3Uri") else None,
        "checkpoint_local_path": checkpoints.get("LocalPath"),
    }


def _resources(request: Request, folder: Path, say: Any) -> dict[str, Any]:
    resources = request.get("ResourceConfig") or {}
    own = request.get("Trainwarden") or {}  # no field of SageMaker's
    return {
        "cpus": own.get("cpus"),
        "gpus": own.get("gpus"),
        "instance_count": resources.get("InstanceCount"),
        "instance_type": resources.get("InstanceType"),
        "volume_size": _volume(resources.get("VolumeSizeInGB"), folder, say),
        "use_spot_instances": request.get("EnableManagedSpotTraining"),
        "image": (request.get("AlgorithmSpecification") or {}).get("TrainingImage"),
    }


def _volume(gigabytes: int | None, folder: Path, say: Any) -> int | None:
    """SageMaker made a disk of this size. That the disk which is here is smaller is no reason not to train."""
    if gigabytes is None:
        return None
    free = shutil.disk_usage(folder).free
    if gigabytes * _GIB <= free:
        return gigabytes
    say(f"volume_size: {gigabytes} GB were asked for, {free // _GIB} GB are free here; the job starts nevertheless")
    return None


def _limits(request: Request) -> dict[str, Any]:
    stopping = request.get("StoppingCondition") or {}
    return {
        "max_run": stopping.get("MaxRuntimeInSeconds"),
        "max_wait": stopping.get("MaxWaitTimeInSeconds"),
        "max_pending": stopping.get("MaxPendingTimeInSeconds"),
        "max_retry_attempts": (request.get("RetryStrategy") or {}).get("MaximumRetryAttempts"),
    }


def _judging(request: Request, folder: Path) -> dict[str, Any]:
    rules = request.get("DebugRuleConfigurations") or []
    judging: dict[str, Any] = {"rules": [_rule_text(rule["RuleParameters"]) for rule in rules]}
    hook = request.get("DebugHookConfig")
    if hook is None:
        judging["hook"] = False
    elif wanted := {key: hook[key] for key in ("HookParameters", "CollectionConfigurations") if hook.get(key)}:
        _write(folder / "hook.json", wanted)
        judging["hook"] = "hook.json"
    if request.get("ProfilerConfig") or request.get("ProfilerRuleConfigurations"):
        fields = ("ProfilerConfig", "ProfilerRuleConfigurations")
        _write(folder / "profiler.json", {field: request[field] for field in fields if request.get(field)})
    if actions := _actions_file.text(rule_ids(rules)):
        (folder / "actions.toml").write_text(actions, encoding="utf-8")
        judging["actions"] = "actions.toml"
    return judging


def _rule_text(parameters: Mapping[str, str]) -> str:
    """As --rule of `trainwarden run` takes it: NAME:param="value"."""
    source = parameters.get("source_s3_uri")
    rule = f"{absolute(source)}:{parameters['rule_to_invoke']}" if source else parameters["rule_to_invoke"]
    own = {
        name: absolute(value) if name == "other_trials" else value
        for name, value in parameters.items()
        if name not in ("rule_to_invoke", "source_s3_uri", "action_json")
    }
    quoted = ",".join('{}="{}"'.format(name, value.replace('"', '\\"')) for name, value in own.items())
    return f"{rule}:{quoted}" if quoted else rule


def _records(request: Request) -> dict[str, Any]:
    return {
        "metric_definitions": (request.get("AlgorithmSpecification") or {}).get("MetricDefinitions"),
        "tags": request.get("Tags"),
        "experiment_config": request.get("ExperimentConfig"),
    }


def _tensorboard(request: Request, folder: Path) -> dict[str, str]:
    config = request.get("TensorBoardOutputConfig")
    if not config:
        return {}
    _write(folder / "tensorboard.json", {"LocalPath": str(local_path(config["S3OutputPath"]))})
    return {"TENSORBOARD_CONFIG_FILE_PATH": str(folder / "tensorboard.json")}
