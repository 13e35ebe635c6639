"""An estimator's arguments as a request of SageMaker's API (CreateTrainingJob)."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from datetime import datetime, timezone
from typing import Any

from ._places import absolute
from .debugger import DebuggerHookConfig, ProfilerConfig, ProfilerRule, Rule, TensorBoardOutputConfig
from .inputs import TrainingInput, channels

Options = Mapping[str, Any]
_MAX_NAME = 63
_MAX_RUN_SECONDS = 24 * 3600  # the API's own default


def new_job_name(base: str) -> str:
    """The base, cut, with the time: BASE-2026-11-23-17-05-09-123."""
    now = datetime.now(timezone.utc)
    ending = f"-{now:%Y-%m-%d-%H-%M-%S}-{now.microsecond // 1000:03d}"
    return base[: _MAX_NAME - len(ending)].rstrip("-") + ending


def check_rules(rules: Any) -> tuple[list[Rule], list[ProfilerRule]]:
    """Those on captured tensors, and those of the profiler.

    Raises:
        ValueError: something that is no rule, or two of one name.
    """
    wanted: list[Any] = list(rules or ())
    names = set()
    for rule in wanted:
        if not isinstance(rule, (Rule, ProfilerRule)):
            raise ValueError(f"rules: expected Rule.sagemaker(...) or Rule.custom(...), found {rule!r}")
        if rule.name in names:
            raise ValueError(f"rules: two are called {rule.name!r}; give one of them another name")
        names.add(rule.name)
    on_tensors = [rule for rule in wanted if isinstance(rule, Rule)]
    return on_tensors, [rule for rule in wanted if isinstance(rule, ProfilerRule)]


def training_request(
    options: Options, job_name: str, inputs: Any, experiment: Any, output: str | None
) -> dict[str, Any]:
    """What the estimator and fit() were given. `output`: where results go that no address is given for.

    Raises:
        ValueError: with what is wrong.
    """
    request: dict[str, Any] = {
        "TrainingJobName": job_name,
        "RoleArn": options["role"],
        "HyperParameters": _hyperparameters(options),
        "AlgorithmSpecification": _algorithm(options),
        "InputDataConfig": _channels(options, inputs),
        "OutputDataConfig": _given(S3OutputPath=_address(options["output_path"]) or output),
        "ResourceConfig": _given(
            InstanceCount=options["instance_count"],
            InstanceType=options["instance_type"],
            VolumeSizeInGB=options["volume_size"],
        ),
        "StoppingCondition": _given(
            MaxRuntimeInSeconds=options["max_run"] or _MAX_RUN_SECONDS, MaxWaitTimeInSeconds=options["max_wait"]
        ),
        "EnableManagedSpotTraining": options["use_spot_instances"],
        "CheckpointConfig": _checkpoints(options),
        "RetryStrategy": _given(MaximumRetryAttempts=options["max_retry_attempts"]),
        "Environment": {name: str(value) for name, value in (options["environment"] or {}).items()},
        "Tags": _tags(options["tags"]),
        "Trainwarden": _given(cpus=options["cpus"], gpus=options["gpus"]),
        "ExperimentConfig": dict(experiment or {}),
        **_watched(options, output),
    }
    return {
        field: value for field, value in request.items() if value not in (None, {}, []) or field == "DebugHookConfig"
    }


def _given(**fields: Any) -> dict[str, Any]:
    return {name: value for name, value in fields.items() if value is not None}


def _address(address: str | None) -> str | None:
    return absolute(address) if address else None


def _hyperparameters(options: Options) -> dict[str, str]:
    """As the SDK sends them: each as JSON; what the script is not told begins with sagemaker_."""
    script, sources = options["entry_point"], options["source_dir"]
    if not script:
        raise ValueError("entry_point: expected the script that trains, found none")
    own = {
        "sagemaker_program": script if sources else os.path.abspath(script),
        "sagemaker_submit_directory": _address(sources),
        "sagemaker_dependencies": [absolute(folder) for folder in options["dependencies"] or ()] or None,
        "sagemaker_framework": options.get("framework"),
        "sagemaker_framework_version": options.get("framework_version"),
        "sagemaker_py_version": options.get("py_version"),
    }
    given = dict(options["hyperparameters"] or {})
    if options.get("model_dir"):
        given["model_dir"] = options["model_dir"]
    named = {**given, **{name: value for name, value in own.items() if value is not None}}
    return {str(name): json.dumps(value, default=_number) for name, value in named.items()}


def _number(value: Any) -> Any:
    """Of NumPy and PyTorch, as Python's own."""
    if hasattr(value, "item"):
        return value.item()
    raise ValueError(f"hyperparameters: expected texts, numbers, booleans, lists and dicts, found {value!r}")


def _algorithm(options: Options) -> dict[str, Any]:
    return _given(
        TrainingImage=options["image_uri"],
        TrainingInputMode=options["input_mode"],
        MetricDefinitions=options["metric_definitions"],
    )


def _channels(options: Options, inputs: Any) -> list[dict[str, Any]]:
    named = channels(inputs)
    if options["model_uri"]:
        named.append({"ChannelName": options["model_channel_name"], **TrainingInput(options["model_uri"]).config})
    for channel in named:
        source = channel["DataSource"]["S3DataSource"]
        channel["DataSource"] = {"S3DataSource": {**source, "S3Uri": absolute(source["S3Uri"])}}
    return named


def _checkpoints(options: Options) -> dict[str, Any]:
    return _given(S3Uri=_address(options["checkpoint_s3_uri"]), LocalPath=options["checkpoint_local_path"])


def _tags(tags: Any) -> list[dict[str, str]]:
    if isinstance(tags, dict):
        return [{"Key": key, "Value": value} for key, value in tags.items()]
    return list(tags or ())


def _profiler(config: Any, disabled: bool) -> dict[str, Any]:
    if config is None:
        return {"DisableProfiler": True} if disabled else {}
    if not isinstance(config, ProfilerConfig):
        raise ValueError(f"profiler_config: expected ProfilerConfig(...), found {config!r}")
    request = config.request()
    switch = {"DisableProfiler": True} if disabled else {}
    return {**request, **_given(S3OutputPath=_address(request.get("S3OutputPath"))), **switch}


def _watched(options: Options, output: str | None) -> dict[str, Any]:
    rules, of_profiler = check_rules(options["rules"])
    watched: dict[str, Any] = {
        "DebugRuleConfigurations": [rule.request() for rule in rules],
        "ProfilerRuleConfigurations": [rule.request() for rule in of_profiler],
        "ProfilerConfig": _profiler(options["profiler_config"], options["disable_profiler"] is True),
    }
    board = options["tensorboard_output_config"]
    if board is not None and not isinstance(board, TensorBoardOutputConfig):
        raise ValueError(f"tensorboard_output_config: expected TensorBoardOutputConfig(...), found {board!r}")
    if board is not None:
        config = board.request()
        watched["TensorBoardOutputConfig"] = {"S3OutputPath": _address(config["S3OutputPath"])}
    hook = options["debugger_hook_config"]
    if hook is False:
        return watched
    if hook not in (None, True) and not isinstance(hook, DebuggerHookConfig):
        raise ValueError(f"debugger_hook_config: expected DebuggerHookConfig(...) or False, found {hook!r}")
    hook = hook if isinstance(hook, DebuggerHookConfig) else DebuggerHookConfig()
    request = hook.request(collection for rule in rules for collection in rule.collection_configs)
    path = _address(request.get("S3OutputPath")) or output
    return {**watched, "DebugHookConfig": {**request, **_given(S3OutputPath=path)}}
