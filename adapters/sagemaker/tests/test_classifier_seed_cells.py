"""The notebook of a DistilBERT that rates reviews, whose job trains with TensorFlow 2.15 and Hugging Face's library."""

from __future__ import annotations

import importlib.util
import os
import shutil
import subprocess
import sys
import tarfile
import time
from pathlib import Path

import pytest
from cells import Notebook, our_boto3, pandas_or_tables

from sagemaker import _program

_NEEDED = ("tensorflow_estimator", "transformers", "trainwarden", "smdebug")
if any(importlib.util.find_spec(name) is None for name in _NEEDED):
    pytest.skip("no TensorFlow 2.15, or none of transformers, trainwarden and smdebug", allow_module_level=True)

_REPOSITORY = Path(__file__).resolve().parents[3]
_SHARED = Path(os.environ.get("TRAINWARDEN_SHARED_DATA", _REPOSITORY.parent / "shared" / "data"))
SOURCES = _REPOSITORY / "examples" / "seeds" / "002" / "src"
FEW = {
    "epochs": 2,
    "train_batch_size": 16,
    "validation_batch_size": 16,
    "test_batch_size": 16,
    "train_steps_per_epoch": 12,
    "validation_steps": 2,
    "test_steps": 2,
}


@pytest.fixture(autouse=True)
def _surroundings(monkeypatch: pytest.MonkeyPatch) -> None:
    if not (_SHARED / "reviews").is_dir():
        pytest.skip(f"no reviews in {_SHARED}: Women's E-Commerce Clothing Reviews (CC0), a table of texts and ratings")
    monkeypatch.setitem(sys.modules, "boto3", our_boto3())
    monkeypatch.setenv("AWS_DEFAULT_REGION", "us-east-2")
    monkeypatch.setitem(sys.modules, "pandas", pandas_or_tables())
    shutil.copytree(SOURCES, "src")


def test_the_cells_of_the_seed_train_a_distilbert(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
) -> None:
    documents = list((_SHARED.parent / "seeds").glob("002_*.txt"))
    if not documents:
        pytest.skip("no notebooks")
    caplog.set_level("INFO", "sagemaker")
    uris = prepare(tmp_path / "buckets" / "mine")
    cells = Notebook(documents[0], max_seq_length=64, experiment_name="reviews", trial_name="first", **uris)
    cells.names["pd"] = sys.modules["pandas"]
    for words in ("sess = sagemaker.Session()", "s3_input_train_data = TrainingInput", "epochs = 3"):
        cells.run(words)
    assert "'S3DataDistributionType': 'ShardedByS3Key'" in capsys.readouterr().out
    cells.names.update(FEW, learning_rate=0.001)
    for words in ("metrics_definitions =", "rule_configs.ActionList", "FrameworkProfile(local_path", "checkpoint_s3_uri ="):
        cells.run(words)
    cells.run("estimator = TensorFlow(")
    assert "stands in" not in caplog.text and "of this environment runs, not framework_version 2.3.1" in caplog.text
    _program.call("experiment", "create", "reviews", "--trial", "first")  # in an earlier notebook
    cells.run("experiment_config =")
    cells.run("estimator.fit(")
    assert 'METRIC_AMBIGUOUS: train:loss: "loss: " also stands within "val_loss: "' in caplog.text
    cells.run("training_job_name = estimator")
    cells.run("latest_training_job.wait(logs=False)")
    check_results(cells, tmp_path / "buckets" / cells.names["bucket"] / cells.names["training_job_name"])


def prepare(bucket: Path) -> dict[str, str]:
    parts = ("train", "validation", "test")
    places = [word for name in parts for word in (f"--{name}", str(bucket / name))]
    command = [sys.executable, "src/prepare_reviews.py", "--input", str(_SHARED / "reviews"), "--reviews", "600"]
    subprocess.run([*command, *places], check=True)
    return {f"processed_{name}_data_s3_uri": f"s3://mine/{name}" for name in parts}


def check_results(cells: Notebook, results: Path) -> None:
    metrics = set(cells.run("training_job_analytics.dataframe()")["metric_name"].tolist())
    assert metrics == {"train:loss", "train:accuracy", "validation:loss", "validation:accuracy"}
    with tarfile.open(results / "output" / "model.tar.gz") as archive:
        assert "tensorflow/saved_model/0/saved_model.pb" in {name.removeprefix("./") for name in archive.getnames()}
    (report,) = cells.run("rule_job_summary()")
    assert report["RuleConfigurationName"] == "ProfilerReport"
    assert report["RuleEvaluationStatus"] in ("IssuesFound", "NoIssuesFound"), report
    # Where the workshop's next cells copy it from: s3://BUCKET/JOB/rule-output/ProfilerReport/profiler-output.
    found = results / "rule-output" / "ProfilerReport" / "profiler-output"
    assert (found / "profiler-report.html").is_file() and [*(found / "profiler-reports").glob("*.json")]
    components = cells.run("ExperimentAnalytics(")
    assert components["TrialComponentName"].tolist() == [f"{cells.names['training_job_name']}-aws-training-job"]
    deadline = time.monotonic() + 60
    while not {"DataSet", "Code"} <= set(cells.run("LineageTableVisualizer(sess)")["Type"].tolist()):
        assert time.monotonic() < deadline, "inputs are hashed beside the job"
        time.sleep(0.2)
