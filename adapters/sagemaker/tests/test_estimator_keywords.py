"""Every keyword of an estimator and of fit() has an effect that is seen here, or is an error that says what to use."""

from __future__ import annotations

import inspect
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from recorder import Recorder, outcome

import sagemaker
from sagemaker._estimator_keywords import FIT, UPDATE_PROFILER
from sagemaker._keywords import Keyword
from sagemaker.debugger import (
    DebuggerHookConfig,
    FrameworkProfile,
    ProfilerConfig,
    ProfilerRule,
    Rule,
    TensorBoardOutputConfig,
    rule_configs,
)
from sagemaker.estimator import Estimator
from sagemaker.exceptions import ClientError, NotHere
from sagemaker.mxnet import MXNet
from sagemaker.pytorch import PyTorch
from sagemaker.tensorflow import TensorFlow

ESTIMATORS = (Estimator, PyTorch, TensorFlow, MXNet)
# A user sees these in describe(); all others change the job's files.
DESCRIBED = {"role", "framework_version", "py_version"}

# A value for each keyword that is taken.
SAMPLES: dict[str, Any] = {
    "entry_point": "other.py",
    "dependencies": ["more"],
    "source_dir": "src",
    "hyperparameters": {"lr": 0.1},
    "role": "somebody",
    "instance_count": 2,
    "instance_type": "ml.big",
    "cpus": 2,
    "gpus": 1,
    "volume_size": 1,
    "max_run": 60,
    "max_wait": 90000,
    "use_spot_instances": True,
    "max_retry_attempts": 2,
    "image_uri": "registry.example.com/image",
    "environment": {"COLOUR": "red"},
    "input_mode": "FastFile",
    "output_path": "results",
    "checkpoint_s3_uri": "s3://mine/checkpoints",
    "checkpoint_local_path": "/opt/ml/checkpoints",
    "model_uri": "data",
    "model_channel_name": "pretrained",
    "debugger_hook_config": False,
    "metric_definitions": [{"Name": "loss", "Regex": "loss: (.*)"}],
    "base_job_name": "mine",
    "tags": [{"Key": "team", "Value": "a"}],
    "framework_version": "0.1",
    "py_version": "py36",
    "model_dir": "/tmp/model",
    "disable_profiler": True,
}
# What some need beside them.
BESIDE: dict[str, dict[str, Any]] = {
    "model_channel_name": {"model_uri": "data"},
    "dependencies": {"source_dir": "src", "entry_point": "train.py"},
}


def vanishing(**given: Any) -> Any:
    return Rule.sagemaker(rule_configs.vanishing_gradient(), **given)


def sample(name: str) -> Any:
    if name == "rules":
        return [vanishing()]
    if name == "tensorboard_output_config":
        return TensorBoardOutputConfig("boards")
    if name == "profiler_config":
        return ProfilerConfig()
    return SAMPLES[name]


def of_estimators() -> Iterator[Any]:
    for estimator in ESTIMATORS:
        for name, keyword in estimator.keywords.items():
            if name != "sagemaker_session":  # test_an_estimator_asks_the_session_that_it_is_given
                yield pytest.param(estimator, keyword, id=f"{estimator.__name__}.{name}")


@pytest.mark.parametrize(("estimator", "keyword"), list(of_estimators()))
def test_each_keyword_changes_the_job_or_is_refused(
    estimator: Any, keyword: Keyword, work: Path
) -> None:
    is_always_true = keyword.only == (True,)
    if keyword.refused or is_always_true:
        with pytest.raises(NotHere) as refused:
            estimator(entry_point="train.py", **{keyword.name: False if is_always_true else "something"})
        assert keyword.name in str(refused.value) and keyword.does in str(refused.value)
        return
    beside = BESIDE.get(keyword.name, {})
    files, request = outcome(estimator, **beside)
    given = {**beside, keyword.name: sample(keyword.name)}
    changed_files, changed_request = outcome(estimator, **given)
    if keyword.name in DESCRIBED:
        del request["TrainingJobName"], changed_request["TrainingJobName"]
        assert changed_request != request
    else:
        assert changed_files != files


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_names_of_version_1_mean_the_same(estimator: Any, work: Path) -> None:
    for keyword in estimator.keywords.values():
        for old in keyword.also:
            if keyword.refused:
                with pytest.raises(NotHere, match=keyword.name):
                    estimator(entry_point="train.py", **{old: "something"})
                continue
            new_files, _ = outcome(estimator, **{keyword.name: sample(keyword.name)})
            old_files, _ = outcome(estimator, **{old: sample(keyword.name)})
            assert old_files == new_files, old


def test_an_estimator_asks_the_session_that_it_is_given(work: Path) -> None:
    recorder = Recorder()
    estimator = PyTorch(entry_point="train.py", sagemaker_session=sagemaker.Session(sagemaker_client=recorder))
    estimator.fit(wait=False)
    assert len(recorder.requests) == 1


def test_all_that_is_refused_is_told_at_once(script: Path) -> None:
    with pytest.raises(NotHere) as refused:
        PyTorch(entry_point="train.py", subnets=["a"], git_config={"repo": "b"}, instance_type="c")
    assert "subnets" in str(refused.value) and "source_dir" in str(refused.value)


def test_unknown_keywords_get_the_nearest(script: Path) -> None:
    with pytest.raises(TypeError, match='did you mean "instance_type"'):
        PyTorch(entry_point="train.py", instance_typ="a")
    with pytest.raises(TypeError, match="instance_count is given twice"):
        PyTorch(entry_point="train.py", instance_count=1, train_instance_count=1)


def test_what_is_profiled_and_judged(work: Path) -> None:
    report = Rule.sagemaker(rule_configs.ProfilerReport(CPUBottleneck_cpu_threshold=90))
    assert isinstance(report, ProfilerRule)
    config = ProfilerConfig(
        system_monitor_interval_millis=200, framework_profile_params=FrameworkProfile(start_step=5, num_steps=10)
    )
    files, request = outcome(PyTorch, rules=[report, vanishing()], profiler_config=config)
    (rule,) = request["ProfilerRuleConfigurations"]
    assert rule["RuleParameters"] == {"rule_to_invoke": "ProfilerReport", "CPUBottleneck_cpu_threshold": "90"}
    job = json.loads(files["job.json"])
    assert job["rules"] == ["VanishingGradient", 'ProfilerReport:CPUBottleneck_cpu_threshold="90"']
    followed = json.loads(files["profilerconfig.json"])
    assert followed["ProfilingIntervalInMilliseconds"] == 200
    detailed = json.loads(followed["ProfilingParameters"]["DetailedProfilingConfig"])
    assert detailed == {"StartStep": 5, "NumSteps": 10}
    assert job["environment"]["SMPROFILER_CONFIG_PATH"].endswith("profilerconfig.json")
    with pytest.raises(NotHere, match="Rule.custom"):
        ProfilerRule.custom("mine")
    with pytest.raises(ValueError, match="expected ProfilerConfig"):
        outcome(PyTorch, profiler_config="yes")


def test_a_job_that_runs_can_be_told_what_to_record(monkeypatch: pytest.MonkeyPatch, script: Path) -> None:
    asked: list[tuple[str, ...]] = []
    recorder = Recorder()
    estimator = PyTorch(entry_point="train.py", sagemaker_session=sagemaker.Session(sagemaker_client=recorder))
    estimator.fit(wait=False)
    monkeypatch.setattr(sagemaker._program, "call", lambda *words: asked.append(words) or "")
    monkeypatch.setattr(PyTorch, "latest_job_profiler_artifacts_path", lambda self: "runs/first")
    estimator.update_profiler(framework_profile_params=FrameworkProfile(start_step=100, num_steps=3))
    assert not recorder.updates
    estimator.enable_default_profiling()
    assert asked == [
        ("profile", "runs/first", "--steps", "3", "--first-step", "100"),
        ("profile", "runs/first", "--steps", "10"),
    ]
    estimator.update_profiler(system_monitor_interval_millis=1000)
    estimator.update_profiler(disable_framework_metrics=True)
    estimator.disable_profiling()
    assert recorder.updates == [
        {"DisableProfiler": None, "ProfilingIntervalInMilliseconds": None},
        {"DisableProfiler": None, "ProfilingIntervalInMilliseconds": 1000},
        {"ProfilingParameters": {"ProfilerEnabled": False}},
        {"DisableProfiler": True},
    ]
    assert len(asked) == 2, "no steps besides"
    for keyword in UPDATE_PROFILER.values():
        if keyword.refused or keyword.only:
            with pytest.raises(NotHere, match=keyword.name):
                estimator.update_profiler(**{keyword.name: "something"})
    with pytest.raises(ValueError, match="expected FrameworkProfile"):
        estimator.update_profiler(framework_profile_params="all")
    with pytest.raises(ValueError, match="expected something to change"):
        estimator.update_profiler()
    with pytest.raises(ValueError, match="found both"):
        estimator.update_profiler(framework_profile_params=FrameworkProfile(), disable_framework_metrics=True)


def test_only_a_job_that_looks_at_its_file_can_be_changed(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    client = sagemaker.Session().sagemaker_client
    shown = {"status": "InProgress", "backend": "local", "host": "there", "spec_file": str(tmp_path / "job.json")}
    monkeypatch.setattr(sagemaker._program, "ask", lambda *words: shown)
    off = {"DisableProfiler": True}

    def change(**fields: Any) -> Any:
        return client.update_training_job(**{"TrainingJobName": "first", "ProfilerConfig": off, **fields})

    with pytest.raises(ClientError, match="only a job that an estimator submitted"):
        change()
    (tmp_path / "profilerconfig.json").write_text('{"ProfilingIntervalInMilliseconds": 500}')
    change()
    assert json.loads((tmp_path / "profilerconfig.json").read_text()) == {"ProfilingIntervalInMilliseconds": 500, **off}
    change(ProfilerConfig={"DisableProfiler": None, "ProfilingIntervalInMilliseconds": 100})
    assert json.loads((tmp_path / "profilerconfig.json").read_text()) == {"ProfilingIntervalInMilliseconds": 100}
    with pytest.raises(ClientError, match="ProfilerConfig with DisableProfiler.*found S3OutputPath"):
        change(ProfilerConfig={"S3OutputPath": "s3://mine"})
    with pytest.raises(ClientError, match="found ProfilerRuleConfigurations"):
        change(ProfilerRuleConfigurations=[])
    for wrong, words in (({"backend": "ssh"}, "found one on there"), ({"status": "Completed"}, "found it Completed")):
        shown.update(wrong)
        with pytest.raises(ClientError, match=words):
            change()


def test_each_keyword_of_fit(work: Path) -> None:
    recorder = Recorder()
    estimator = PyTorch(entry_point="train.py", sagemaker_session=sagemaker.Session(sagemaker_client=recorder))
    samples: dict[str, Any] = {
        "inputs": {"train": "data"},
        "job_name": "given-2026-11-23-17-05-09-123",
        "experiment_config": {"ExperimentName": "first"},
    }
    estimator.fit(wait=False)
    before = recorder.files()
    for name, value in samples.items():
        estimator.fit(wait=False, **{name: value})
        assert recorder.files() != before, name
    with pytest.raises(NotHere, match="tensorboard_output_config"):
        estimator.fit(wait=False, run_tensorboard_locally=True)
    with pytest.raises(ValueError, match="logs: expected"):
        estimator.fit(wait=False, logs="Loud")
    assert {*samples, "wait", "logs", "run_tensorboard_locally"} == {*FIT}  # test_jobs.py sees wait and logs at work


def test_the_files_say_what_the_estimator_was_told(work: Path) -> None:
    files, _ = outcome(
        PyTorch,
        hyperparameters={"lr": 0.1, "flag": True, "text": "10.00", "wide": float("inf")},
        rules=[vanishing(rule_parameters={"tensor_regex": 'a,"b"'})],
        debugger_hook_config=DebuggerHookConfig(hook_parameters={"save_interval": 10, "export_tensorboard": True}),
    )
    job = json.loads(files["job.json"])
    assert job["hyperparameters"] == {"lr": 0.1, "flag": True, "text": "10.00", "wide": "inf"}
    assert job["rules"] == ['VanishingGradient:tensor_regex="a,\\"b\\""']
    assert json.loads(files["hook.json"]) == {"HookParameters": {"save_interval": "10", "export_tensorboard": "true"}}
    assert job["source_dir"] == "FOLDER/code" and job["entry_point"] == "train.py"


def test_help_shows_what_is_taken() -> None:
    assert "train_instance_count" not in inspect.signature(PyTorch).parameters
    assert next(iter(inspect.signature(PyTorch).parameters)) == "entry_point"
    assert list(inspect.signature(PyTorch.fit).parameters)[:3] == ["self", "inputs", "wait"]


def test_pytorch_stands_in_where_a_framework_is_missing(
    work: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("INFO", "sagemaker")
    monkeypatch.setattr(MXNet, "_module", "a_framework_that_is_not_here")
    MXNet("train.py", role="somebody")
    assert "MXNet is not in this environment" in caplog.text and "PyTorch stands in for it" in caplog.text
