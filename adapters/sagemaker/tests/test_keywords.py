"""The same of all other classes: every keyword has an effect that is seen here, or is an error."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from recorder import Recorder, outcome

import sagemaker
from sagemaker import debugger
from sagemaker._keywords import Keywords
from sagemaker._program import ProgramError
from sagemaker.analytics import TRAINING_JOB_ANALYTICS
from sagemaker.debugger import CollectionConfig, Rule, profiling, rule_configs
from sagemaker.debugger.actions import EMAIL, SMS_KEYWORDS, STOP_TRAINING
from sagemaker.debugger.hook_config import COLLECTION_CONFIG, DEBUGGER_HOOK_CONFIG, TENSORBOARD_OUTPUT_CONFIG
from sagemaker.debugger.rules import RULE_CUSTOM, RULE_SAGEMAKER
from sagemaker.exceptions import NotHere
from sagemaker.inputs import TRAINING_INPUT
from sagemaker.pytorch import PyTorch
from sagemaker.session import SESSION

INPUT_SAMPLES = {
    "s3_data": "elsewhere",
    "distribution": "ShardedByS3Key",
    "compression": "None",
    "content_type": "text/csv",
    "record_wrapping": "None",
    "input_mode": "FastFile",
}


@pytest.mark.parametrize("name", [*TRAINING_INPUT])
def test_each_keyword_of_an_input(name: str) -> None:
    keyword = TRAINING_INPUT[name]
    if name in INPUT_SAMPLES:
        changed = sagemaker.TrainingInput(**{"s3_data": "data", name: INPUT_SAMPLES[name]})
        assert changed.config != sagemaker.TrainingInput("data").config
    if keyword.refused or keyword.only:
        with pytest.raises(NotHere, match=name):
            sagemaker.TrainingInput("data", **{name: "something"})
    assert name in INPUT_SAMPLES or keyword.refused or keyword.only


def test_an_input_is_printed_as_sagemaker_does() -> None:
    config = sagemaker.TrainingInput(s3_data="s3://mine/train/", distribution="ShardedByS3Key").config
    assert str(config) == (
        "{'DataSource': {'S3DataSource': {'S3DataType': 'S3Prefix', 'S3Uri': 's3://mine/train/', "
        "'S3DataDistributionType': 'ShardedByS3Key'}}}"
    )


def test_each_keyword_of_hook_configurations() -> None:
    kinds: dict[str, tuple[Keywords, dict[str, Any], dict[str, Any]]] = {
        "DebuggerHookConfig": (
            DEBUGGER_HOOK_CONFIG,
            {},
            {
                "s3_output_path": "tensors",
                "hook_parameters": {"save_interval": 10},
                "collection_configs": [CollectionConfig("weights")],
            },
        ),
        "CollectionConfig": (
            COLLECTION_CONFIG,
            {"name": "weights"},
            {"name": "biases", "parameters": {"save_interval": "5"}},
        ),
        "TensorBoardOutputConfig": (
            TENSORBOARD_OUTPUT_CONFIG,
            {"s3_output_path": "here"},
            {"s3_output_path": "boards"},
        ),
    }
    for kind, (keywords, base, samples) in kinds.items():
        make = getattr(debugger, kind)
        for name, keyword in keywords.items():
            if keyword.refused:
                with pytest.raises(NotHere, match=name):
                    make(**base, **{name: "/somewhere"})
            else:
                assert make(**{**base, name: samples[name]}).request() != make(**base).request(), f"{kind}.{name}"


def test_each_keyword_of_the_profiler() -> None:
    steps = {"start_step": 5, "num_steps": 10, "start_unix_time": 1_700_000_000, "duration": 60}
    detailed = debugger.DetailedProfilingConfig(7, 2)
    kinds: dict[str, tuple[Keywords, dict[str, Any]]] = {
        "DetailedProfilingConfig": (profiling.DETAILED_PROFILING, steps),
        "DataloaderProfilingConfig": (profiling.DATALOADER_PROFILING, steps),
        "PythonProfilingConfig": (
            profiling.PYTHON_PROFILING,
            {**steps, "python_profiler": debugger.PythonProfiler.PYINSTRUMENT},
        ),
        "FrameworkProfile": (
            profiling.FRAMEWORK_PROFILE,
            {
                **steps,
                "local_path": "/tmp",
                "detailed_profiling_config": detailed,
                "dataloader_profiling_config": debugger.DataloaderProfilingConfig(1),
                "python_profiling_config": debugger.PythonProfilingConfig(1),
            },
        ),
        "ProfilerConfig": (
            profiling.PROFILER_CONFIG,
            {
                "s3_output_path": "s3://mine",
                "system_monitor_interval_millis": 1000,
                "framework_profile_params": debugger.FrameworkProfile(),
                "disable_profiler": True,
            },
        ),
    }
    for kind, (keywords, samples) in kinds.items():
        make = getattr(debugger, kind)
        for name, keyword in keywords.items():
            if keyword.refused or keyword.only:
                with pytest.raises(NotHere, match=name):
                    make(**{name: "something"})
            # Of step 5 alone SageMaker's own default is made, and so the first step is tried with another.
            value = {"start_step": 6}.get(name, samples.get(name))
            if not keyword.refused and name != "profile_default_steps":
                assert shown(make(**{name: value})) != shown(make()), f"{kind}.{name}"
    given = debugger.DetailedProfilingConfig(start_step=30, num_steps=4, profile_default_steps=True).request()
    assert json.loads(given) == {"StartStep": 30, "NumSteps": 4}
    for wrong in (lambda: debugger.ProfilerConfig(None, 500, "x"), lambda: debugger.FrameworkProfile(None, None, None, None, 1)):
        with pytest.raises(ValueError, match="expected"):
            wrong()


def test_steps_without_a_choice_are_those_of_sagemaker() -> None:
    parameters = debugger.FrameworkProfile().profiling_parameters
    found = {name: json.loads(text) for name, text in parameters.items() if name != "LocalPath"}
    assert found["DetailedProfilingConfig"] == {"StartStep": 5, "NumSteps": 1}
    assert found["DataloaderProfilingConfig"] == {"StartStep": 7, "NumSteps": 1}
    assert found["PythonProfilingConfig"] == {"StartStep": 9, "NumSteps": 3, "ProfilerName": "cProfile"}


def shown(config: Any) -> Any:
    return config.profiling_parameters if isinstance(config, debugger.FrameworkProfile) else config.request()


def test_each_keyword_of_rules(work: Path) -> None:
    samples: dict[str, Any] = {
        "base_config": rule_configs.loss_not_decreasing(),
        "name": "mine",
        "other_trials_s3_input_paths": ["runs/other"],
        "rule_parameters": {"threshold": "1e-6"},
        "collections_to_save": [CollectionConfig("weights", {"save_interval": "5"})],
        "actions": rule_configs.StopTraining(),
        "source": "other.py",
        "rule_to_invoke": "Another",
    }
    kinds: tuple[tuple[Keywords, Any, dict[str, Any]], ...] = (
        (RULE_SAGEMAKER, Rule.sagemaker, {"base_config": rule_configs.vanishing_gradient()}),
        (RULE_CUSTOM, Rule.custom, {"name": "own", "source": "my_rule.py", "rule_to_invoke": "MyRule"}),
    )
    for keywords, make, base in kinds:
        plain_files, plain = outcome(PyTorch, rules=[make(**base)])
        for name, keyword in keywords.items():
            if keyword.refused:
                with pytest.raises(NotHere, match=name):
                    make(**base, **{name: "something"})
                continue
            rule = make(**{**base, name: samples[name]})
            files, request = outcome(PyTorch, rules=[rule])
            if name == "name":  # in describe() and rule_job_summary()
                assert request["DebugRuleConfigurations"] != plain["DebugRuleConfigurations"]
            else:
                assert files != plain_files, f"{keywords.owner}: {name}"


def test_a_collection_that_is_wanted_twice_is_wanted_in_one_way(work: Path) -> None:
    rule = Rule.sagemaker(
        rule_configs.vanishing_gradient(), collections_to_save=[CollectionConfig("weights", {"save_interval": "5"})]
    )
    hook = debugger.DebuggerHookConfig(collection_configs=[CollectionConfig("weights", {"save_interval": "7"})])
    with pytest.raises(ValueError, match="expected the same parameters"):
        outcome(PyTorch, rules=[rule], debugger_hook_config=hook)


def test_each_keyword_of_actions(work: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def actions_of(action: Any) -> str:
        rule = Rule.sagemaker(rule_configs.vanishing_gradient(), actions=rule_configs.ActionList(action))
        return outcome(PyTorch, rules=[rule])[0]["actions.toml"]

    mail, message = rule_configs.Email("me@example.com"), rule_configs.SMS("+15550100")
    for action, variable in ((mail, "TRAINWARDEN_SMTP_HOST"), (message, "TRAINWARDEN_SMS_URL")):
        with pytest.raises(ProgramError, match=variable):
            actions_of(action)
    monkeypatch.setenv("TRAINWARDEN_SMTP_HOST", "mail.example.com")
    monkeypatch.setenv("TRAINWARDEN_SMS_URL", "https://sms.example.com")
    assert 'do = "stop"' in actions_of(rule_configs.StopTraining())


def test_actions_reach_whom_they_are_for(work: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRAINWARDEN_SMTP_HOST", "mail.example.com")
    monkeypatch.setenv("TRAINWARDEN_SMS_URL", "https://sms.example.com")
    actions = rule_configs.ActionList(rule_configs.Email("me@example.com"), rule_configs.SMS("+15550100"))
    rule = Rule.sagemaker(rule_configs.vanishing_gradient(), actions=actions)
    text = outcome(PyTorch, rules=[rule])[0]["actions.toml"]
    assert 'to = "me@example.com"' in text and 'to = "+15550100"' in text
    assert "sms.example.com" not in text  # it may hold a key
    for wrong in ({"training_job_prefix": "other"}, {"use_default_training_job_prefix": False}):
        with pytest.raises(NotHere, match="its own training"):
            rule_configs.StopTraining(**wrong)
    for make, value in ((rule_configs.Email, "nobody"), (rule_configs.SMS, "0800")):
        with pytest.raises(ValueError, match="expected"):
            make(value)
    names = ["training_job_prefix", "use_default_training_job_prefix", "email_address", "phone_number"]
    assert [*STOP_TRAINING, *EMAIL, *SMS_KEYWORDS] == names


def test_each_keyword_of_a_session() -> None:
    class BotoSession:
        region_name = "eu-central-1"

    recorder = Recorder()
    in_a_folder = sagemaker.Session(default_bucket="mine", default_bucket_prefix="a/b")
    seen = {
        "boto_session": "eu-central-1" in sagemaker.Session(boto_session=BotoSession()).default_bucket(),
        "sagemaker_client": sagemaker.Session(sagemaker_client=recorder).sagemaker_client is recorder,
        "default_bucket": sagemaker.Session(default_bucket="mine").default_bucket() == "mine",
        "default_bucket_prefix": in_a_folder.default_output_path() == "s3://mine/a/b",
    }
    assert all(seen.values()), seen
    for name in SESSION:
        if name not in seen:
            with pytest.raises(NotHere, match=name):
                sagemaker.Session(**{name: "something"})


def test_the_table_of_analytics_is_whole() -> None:
    """test_jobs.py sees each of them at work."""
    names = ["training_job_name", "metric_names", "sagemaker_session", "start_time", "end_time", "period"]
    assert [*TRAINING_JOB_ANALYTICS] == names


def test_rules_have_the_names_of_the_program() -> None:
    assert rule_configs.nlp_sequence_ratio()["DebugRuleConfiguration"]["RuleConfigurationName"] == "NLPSequenceRatio"
    assert "loss_spike" in dir(rule_configs)
    with pytest.raises(AttributeError, match='did you mean "vanishing_gradient"'):
        rule_configs.vanishing_gradients()
