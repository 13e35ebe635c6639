"""describe() tells of a run what SageMaker's describe_training_job() tells of a job."""

from __future__ import annotations

import time
from datetime import datetime, timedelta
from pathlib import Path

import pytest

import trainwarden
from trainwarden import rules


@pytest.fixture
def finished(tmp_path: Path) -> Path:
    run = tmp_path / "first"
    with trainwarden.Hook(run, save=1, labels={"lr": "0.1", "CreationTime": "a label"}) as hook:
        for step in range(5):
            hook.save_scalar("loss", 5.0 - step)
            hook.step()
    return run


def test_a_run_that_completed(finished: Path) -> None:
    job = trainwarden.describe(finished)
    assert job["TrainingJobName"] == "first"
    assert (job["TrainingJobStatus"], job["SecondaryStatus"]) == ("Completed", "Completed")
    assert [row["Status"] for row in job["SecondaryStatusTransitions"]] == ["Starting", "Training", "Completed"]
    assert job["HyperParameters"] == {"lr": "0.1", "CreationTime": "a label"}
    assert {metric["MetricName"]: metric["Value"] for metric in job["FinalMetricDataList"]} == {"loss": 1.0}
    assert "FailureReason" not in job


def test_times_are_datetimes(finished: Path) -> None:
    job = trainwarden.describe(finished)
    times = [job["CreationTime"], job["TrainingStartTime"], job["TrainingEndTime"], job["LastModifiedTime"]]
    times += [row["StartTime"] for row in job["SecondaryStatusTransitions"]]
    for moment in times:
        assert isinstance(moment, datetime)
        assert moment.utcoffset() == timedelta(0)
        assert abs(moment.timestamp() - time.time()) < 600
    assert "EndTime" not in job["SecondaryStatusTransitions"][-1]


def test_rules_stand_as_the_summary_says(finished: Path) -> None:
    rules.run(finished, ["ExplodingTensor", "LossNotDecreasing"])
    described = trainwarden.describe(finished)["DebugRuleEvaluationStatuses"]
    summary = rules.rule_job_summary(finished)
    assert len(described) == 2
    for field in ("RuleConfigurationName", "RuleEvaluationJobArn", "RuleEvaluationStatus", "StatusDetails", "Status"):
        assert [rule[field] for rule in described] == [rule[field] for rule in summary]


def test_no_run_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(trainwarden.errors.NotFound):
        trainwarden.describe(tmp_path / "nowhere")
