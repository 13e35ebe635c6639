"""The notebook of events of rules, whose job trains with tf.estimator: its cells, and a script that knows no smdebug."""

from __future__ import annotations

import importlib.util
import os
import shutil
import sys
import time
from pathlib import Path

import pytest
from cells import Notebook, our_boto3

if any(importlib.util.find_spec(name) is None for name in ("tensorflow_estimator", "trainwarden", "smdebug")):
    pytest.skip("no tf.estimator, or none of the packages trainwarden and smdebug", allow_module_level=True)

_REPOSITORY = Path(__file__).resolve().parents[3]
_SHARED = Path(os.environ.get("TRAINWARDEN_SHARED_DATA", _REPOSITORY.parent / "shared" / "data"))
SCRIPT = _REPOSITORY / "examples" / "estimator" / "pictures.py"
_PATIENCE_S = 400  # until the rule has fired, on a machine that is busy


def test_rule_events_of_an_estimator(monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture) -> None:
    """As the notebook says: the rule fires, the function that was written for AWS Lambda stops the job."""
    documents = list((_SHARED.parent / "seeds").glob("004_*.txt"))
    if not documents:
        pytest.skip("no notebooks")
    caplog.set_level("INFO", "sagemaker")
    monkeypatch.setitem(sys.modules, "boto3", our_boto3())
    monkeypatch.setenv("AWS_DEFAULT_REGION", "us-east-2")
    Path("src").mkdir()
    shutil.copy(SCRIPT, "src/mnist_zerocodechange.py")
    cells = Notebook(documents[0])
    for words in ("import TensorFlow", "import Rule", "entrypoint_script=", "rules=[", "estimator.fit(wait=False)"):
        cells.run(words)
    assert "stands in" not in caplog.text and "of this environment runs, not framework_version 1.15" in caplog.text
    deadline = time.monotonic() + _PATIENCE_S
    while cells.run("rule_job_summary()")[0]["RuleEvaluationStatus"] != "IssuesFound":
        assert time.monotonic() < deadline
        time.sleep(0.2)
    job = cells.names["estimator"].latest_training_job
    addresses = cells.run("get_rule_jobs_cw_urls(estimator)")
    assert f"{job.name[:26]}-VanishingGradient-" in addresses["VanishingGradient"]
    assert cells.function("lambda_handler")({"detail": job.describe()}, None) is None
    job.wait(logs=False)
    assert cells.run('describe()["TrainingJobStatus"]') == "Stopped"
    (verdict, other) = cells.run("rule_job_summary()")
    assert other["RuleConfigurationName"] == "LossNotDecreasing"
    assert verdict["RuleConfigurationName"] == "VanishingGradient" and "gradient/conv" in verdict["StatusDetails"]
