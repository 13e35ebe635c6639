"""Jobs whose programs are captured and judged: needs PyTorch and the package trainwarden."""

from __future__ import annotations

import importlib.util
import json
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from bucket_server import BucketServer

import sagemaker
from sagemaker import _program
from sagemaker._training_job import TrainingJob
from sagemaker.debugger import (
    CollectionConfig,
    DebuggerHookConfig,
    ProfilerRule,
    Rule,
    TensorBoardOutputConfig,
    rule_configs,
)
from sagemaker.exceptions import ClientError
from sagemaker.mxnet import MXNet
from sagemaker.pytorch import PyTorch

needs_torch = pytest.mark.skipif(
    any(importlib.util.find_spec(name) is None for name in ("torch", "trainwarden")),
    reason="no PyTorch, or no package trainwarden",
)

TRAINING = """
import argparse, time, torch
parser = argparse.ArgumentParser()
parser.add_argument("--lr", type=float, default=0.1)
parser.add_argument("--steps", type=int, default=12)
options = parser.parse_args()
torch.manual_seed(0)
net = torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.ReLU(), torch.nn.Linear(8, 1))
optimizer = torch.optim.SGD(net.parameters(), lr=options.lr)
criterion = torch.nn.MSELoss()
data, wanted = torch.randn(32, 4), torch.randn(32, 1)
for step in range(options.steps):
    optimizer.zero_grad()
    criterion(net(data), wanted).backward()
    optimizer.step()
    time.sleep(0.02)
"""


@pytest.fixture
def training(tmp_path: Path) -> Path:
    path = tmp_path / "work" / "train.py"
    path.write_text(TRAINING)
    return path


@needs_torch
def test_a_rule_stops_its_training(training: Path, capsys: pytest.CaptureFixture[str]) -> None:
    stuck = Rule.sagemaker(
        rule_configs.loss_not_decreasing(),
        name="Stuck",
        rule_parameters={"num_steps": "5", "diff_percent": "5"},
        actions=rule_configs.StopTraining(),
    )
    estimator = PyTorch(
        entry_point="train.py",
        hyperparameters={"lr": 1e-9, "steps": 3000},
        rules=[Rule.sagemaker(rule_configs.vanishing_gradient()), stuck],
    )
    estimator.fit()
    printed = capsys.readouterr().out
    assert "* Stuck: InProgress" in printed and "* Stuck: IssuesFound" in printed
    job = estimator.latest_training_job
    assert job is not None and job.describe()["TrainingJobStatus"] == "Stopped"
    vanishing, found = job.rule_job_summary()
    assert vanishing["RuleConfigurationName"] == "VanishingGradient" and found["RuleConfigurationName"] == "Stuck"
    assert found["RuleEvaluationStatus"] == "IssuesFound"
    assert found["StatusDetails"].startswith("RuleEvaluationConditionMet: ")
    assert len(found["RuleEvaluationJobArn"].rpartition("-")[2]) == 8
    assert {*found} <= {
        "RuleConfigurationName",
        "RuleEvaluationJobArn",
        "RuleEvaluationStatus",
        "StatusDetails",
        "LastModifiedTime",
    }


@needs_torch
def test_what_is_captured_is_found_where_sagemaker_puts_it(training: Path) -> None:
    trials = pytest.importorskip("smdebug.trials")
    bucket = sagemaker.Session().default_bucket()
    hook = DebuggerHookConfig(
        s3_output_path=f"s3://{bucket}/tensors",
        collection_configs=[CollectionConfig("first", {"include_regex": "^0.weight", "save_interval": "5"})],
    )
    estimator = MXNet(entry_point="train.py", debugger_hook_config=hook)
    estimator.fit(logs=False)
    path = estimator.latest_job_debugger_artifacts_path()
    assert estimator.latest_training_job is not None
    assert path == f"s3://{bucket}/tensors/{estimator.latest_training_job.name}/debug-output"
    trial = trials.create_trial(path)
    names = trial.tensor_names(collection="first")
    assert len(names) == 1 and trial.tensor(names[0]).steps() == [0, 5, 10]


@needs_torch
def test_what_is_captured_is_in_a_bucket(training: Path, tmp_path: Path, bucket: BucketServer) -> None:
    trials = pytest.importorskip("smdebug.trials")
    go = tmp_path / "go"
    training.write_text(TRAINING.replace("time.sleep(0.02)", f"""
    import os
    while step == 10 and not os.path.exists({str(go)!r}): time.sleep(0.02)"""))
    estimator = PyTorch(
        entry_point="train.py",
        output_path="s3://bucket/results",
        debugger_hook_config=DebuggerHookConfig(
            s3_output_path="s3://bucket/tensors",
            collection_configs=[CollectionConfig("first", {"include_regex": "^0.weight", "save_interval": "5"})],
        ),
        tensorboard_output_config=TensorBoardOutputConfig("s3://bucket/boards/"),
    )
    estimator.fit(wait=False)
    job = estimator.latest_training_job
    assert job is not None
    path = estimator.latest_job_debugger_artifacts_path()
    assert path == f"s3://bucket/tensors/{job.name}/debug-output"
    # While it trains, and afterwards.
    trial = trials.create_trial(path)
    trial.wait_for_steps([5])
    assert not trial.loaded_all_steps and job.describe()["TrainingJobStatus"] == "InProgress"
    go.touch()
    job.wait(logs=False)
    afterwards = trials.create_trial(path)
    assert afterwards.loaded_all_steps and afterwards.steps()[-1] == 10
    here = trials.create_trial(str(tmp_path / "runs" / job.name))
    (name,) = here.tensor_names(collection="first")
    assert afterwards.tensor(name).steps() == here.tensor(name).steps()
    assert (afterwards.tensor(name).value(5) == here.tensor(name).value(5)).all()
    board = estimator.latest_job_tensorboard_artifacts_path()
    assert board == f"s3://bucket/boards/{job.name}"
    there = bucket.objects(f"boards/{job.name}/")
    assert [key for key, content in there.items() if "tfevents" in key and content]
    assert not [key for key in bucket.objects("results/") if "debug-output" in key]


@needs_torch
def test_a_run_is_exported_for_tensorboard(training: Path, tmp_path: Path) -> None:
    estimator = PyTorch(entry_point="train.py", tensorboard_output_config=TensorBoardOutputConfig("boards"))
    estimator.fit(logs=False)
    path = estimator.latest_job_tensorboard_artifacts_path()
    assert estimator.latest_training_job is not None
    assert path == str(tmp_path / "work" / "boards" / estimator.latest_training_job.name)
    assert [each for each in Path(path).rglob("*tfevents*") if each.stat().st_size > 0]


@needs_torch
def test_a_rule_of_ones_own(training: Path) -> None:
    (training.parent / "my_rule.py").write_text(
        "from trainwarden.rules import Rule, Verdict\n"
        "class Always(Rule):\n"
        "    def evaluate(self, window):\n"
        "        return Verdict.fired('it always does')\n"
    )
    rule = Rule.custom(name="Mine", source="my_rule.py", rule_to_invoke="Always")
    estimator = PyTorch(entry_point="train.py", rules=[rule])
    estimator.fit(logs=False)
    assert estimator.latest_training_job is not None
    (status,) = estimator.latest_training_job.rule_job_summary()
    assert (status["RuleConfigurationName"], status["RuleEvaluationStatus"]) == ("Mine", "IssuesFound")


@needs_torch
def test_a_job_that_runs_is_profiled_as_it_is_told(training: Path) -> None:
    estimator = PyTorch(entry_point="train.py", hyperparameters={"steps": 3000}, environment={"OMP_NUM_THREADS": "1"})
    estimator.fit(wait=False)
    job = estimator.latest_training_job
    assert job is not None
    run = Path(job.describe()["DebugHookConfig"]["LocalPath"])
    await_so(lambda: (run / "run.json").exists())
    estimator.disable_profiling()
    await_log(job, "the machine is not sampled any more")
    assert job.describe()["ProfilingStatus"] == "Disabled"
    assert estimator.latest_job_profiler_artifacts_path() is None
    estimator.update_profiler(system_monitor_interval_millis=1000)
    await_log(job, "the machine is sampled every 1000 ms, its GPUs every 1000 ms")
    assert job.describe()["ProfilerConfig"] == {"ProfilingIntervalInMilliseconds": 1000}
    estimator.enable_default_profiling()
    await_log(job, "the machine is sampled every 100 ms, its GPUs every 500 ms")
    assert job.describe()["ProfilingStatus"] == "Enabled"
    job.stop()
    job.wait(logs=False)
    with pytest.raises(ClientError, match="expected a job that runs, found it Stopped"):
        estimator.disable_profiling()


def await_log(job: TrainingJob, words: str) -> None:
    await_so(lambda: words in _program.call("job", "logs", job.name))


def await_so(is_so: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 60
    while not is_so():
        assert time.monotonic() < deadline
        time.sleep(0.1)


@needs_torch
def test_what_the_profilers_rules_found_lies_among_the_outputs(training: Path, tmp_path: Path) -> None:
    rules = [
        ProfilerRule.sagemaker(rule_configs.ProfilerReport(MaxInitializationTime_threshold=21), name="ProfilerReport-1"),
        ProfilerRule.sagemaker(rule_configs.OverallSystemUsage()),
    ]
    estimator = PyTorch(entry_point="train.py", output_path="s3://mine/results", hyperparameters={"steps": 50}, rules=rules)
    estimator.fit(logs=False)
    job = estimator.latest_training_job
    assert job is not None
    names = [status["RuleConfigurationName"] for status in job.rule_job_summary()]
    assert names == ["ProfilerReport-1", "OverallSystemUsage"]
    folder = tmp_path / "buckets" / "mine" / "results" / job.name / "rule-output" / "ProfilerReport-1" / "profiler-output"
    report = json.loads((folder / "profiler-report.json").read_text())
    assert report["run"]["name"] == job.name
    judged = {rule["rule"]: rule for rule in report["rules"] if rule["judgements"] > 0}
    assert {f"{rule}.json" for rule in judged} == {path.name for path in (folder / "profiler-reports").iterdir()}
    start = json.loads((folder / "profiler-reports" / "MaxInitializationTime.json").read_text())
    assert {*start} == {"RuleTriggered", "Violations", "Details", "Datapoints", "RuleParameters"}
    assert start["RuleParameters"] == "threshold:21" and start["Datapoints"] > 0 and start["RuleTriggered"] == 0


def test_rules_without_anything_to_judge_are_errors(tmp_path: Path) -> None:
    (tmp_path / "work" / "train.py").write_text("print('captures nothing')")
    rules = [Rule.sagemaker(rule_configs.vanishing_gradient())]
    estimator = PyTorch(entry_point="train.py", rules=rules, environment={"TRAINWARDEN": "0"})
    estimator.fit(logs=False)
    assert estimator.latest_training_job is not None
    (status,) = estimator.latest_training_job.rule_job_summary()
    assert status["RuleEvaluationStatus"] in ("Error", "NoIssuesFound")
    assert "StatusDetails" in status
