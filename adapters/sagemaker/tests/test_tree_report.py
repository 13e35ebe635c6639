"""The rule CreateXgboostReport of a job: its report lies where SageMaker's jobs have it."""

from __future__ import annotations

import importlib.util
import json
from pathlib import Path
from typing import Any

import pytest

from sagemaker._tree_report import write_reports
from sagemaker.debugger import Rule, rule_configs
from sagemaker.xgboost import XGBoost

TRAINING = """
import numpy, xgboost
random = numpy.random.default_rng(1)
columns = random.random((200, 4))
data = xgboost.DMatrix(columns, (columns[:, 0] > 0.5).astype(int))
xgboost.train({"objective": "binary:logistic", "nthread": 1}, data, 6, evals=[(data, "train")], verbose_eval=False)
"""


@pytest.mark.skipif(
    any(importlib.util.find_spec(name) is None for name in ("xgboost", "trainwarden")), reason="no XGBoost"
)
def test_who_waits_has_the_report(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("INFO", "sagemaker")
    (tmp_path / "work" / "train.py").write_text(TRAINING)
    rules = [Rule.sagemaker(rule_configs.create_xgboost_report(), name="Report")]
    estimator = XGBoost(entry_point="train.py", output_path="s3://mine/results", rules=rules)
    estimator.fit(logs=False)
    job = estimator.latest_training_job
    assert job is not None
    folder = tmp_path / "buckets" / "mine" / "results" / job.name / "rule-output" / "Report"
    assert "ROC curve" in (folder / "xgboost_report.html").read_text()
    numbers = json.loads((folder / "xgboost_report.json").read_text())["trainwarden_tree_report"]
    assert numbers["task"] == "binary" and numbers["rounds"] == 6 and numbers["classification"]["step"] == 5
    assert "xgboost_report.html" in caplog.text


def described(**more: Any) -> dict[str, Any]:
    rule = {"RuleConfigurationName": "Report", "RuleParameters": {"rule_to_invoke": "CreateXgboostReport"}}
    return {
        "TrainingJobName": "job",
        "DebugRuleConfigurations": [rule],
        "OutputDataConfig": {"S3OutputPath": "out"},
        **more,
    }


@pytest.mark.parametrize(
    ("more", "words"),
    [({}, "it captured nothing"), ({"DebugHookConfig": {"LocalPath": "none"}}, "no run at")],
)
def test_what_stands_in_the_way_is_said(caplog: pytest.LogCaptureFixture, more: dict[str, Any], words: str) -> None:
    pytest.importorskip("trainwarden")
    caplog.set_level("INFO", "sagemaker")
    write_reports(described(**more))
    assert "Report: no report was written of job" in caplog.text and words in caplog.text
    write_reports({"TrainingJobName": "job"})
