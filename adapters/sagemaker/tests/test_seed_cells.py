"""The published notebooks: their cells that submit, wait, look and stop run as they are; scripts are of PyTorch."""

from __future__ import annotations

import importlib.util
import os
import sys
import time
from pathlib import Path

import pytest
from cells import Notebook, our_boto3

from sagemaker import _program

if any(importlib.util.find_spec(name) is None for name in ("torch", "trainwarden", "smdebug")):
    pytest.skip("no PyTorch, or none of the packages trainwarden and smdebug", allow_module_level=True)

_SHARED = Path(os.environ.get("TRAINWARDEN_SHARED_DATA", Path(__file__).resolve().parents[4] / "shared" / "data"))
SEEDS = _SHARED.parent / "seeds"

TRAINING = """
import argparse, time, torch
parser = argparse.ArgumentParser()
parser.add_argument("--lr", type=float, default=0.01)
options, others = parser.parse_known_args()
class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.conv0 = torch.nn.Conv2d(1, 2, 3)
    def forward(self, images):
        return self.conv0(images).mean(dim=(1, 2, 3))
torch.manual_seed(0)
net, criterion = Net(), torch.nn.MSELoss()
optimizer = torch.optim.SGD(net.parameters(), lr=0.0 if options.lr == 10 else options.lr)
vanished = 0.0 if options.lr == 10 else 1.0
for step in range(3000 if options.lr == 10 else 12):
    optimizer.zero_grad()
    loss = criterion(net(torch.ones(2, 1, 8, 8)) * vanished, torch.zeros(2))
    loss.backward()
    optimizer.step()
    print(f"{step}/12 - loss: {loss.item():.3f} - accuracy: 0.5", flush=True)
    time.sleep(0.02)
"""


@pytest.fixture(autouse=True)
def _surroundings(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    if not SEEDS.is_dir():
        pytest.skip(f"no notebooks in {SEEDS}")
    monkeypatch.setitem(sys.modules, "boto3", our_boto3())
    monkeypatch.setenv("AWS_DEFAULT_REGION", "us-east-2")
    naps = time.sleep
    monkeypatch.setattr(time, "sleep", lambda seconds: naps(min(seconds, 0.2)))
    (tmp_path / "buckets" / "mine" / "train").mkdir(parents=True)


def notebook(number: str, **names: object) -> Notebook:
    (document,) = SEEDS.glob(f"{number}_*.txt")
    return Notebook(document, **names)


def put_script(path: str) -> None:
    Path(path).parent.mkdir(parents=True, exist_ok=True)
    Path(path).write_text(TRAINING)


def test_bert_attention(capsys: pytest.CaptureFixture[str]) -> None:
    put_script("entry_point/train.py")
    cells = notebook("000")
    cells.run("import boto3")
    cells.run("MXNet(entry_point")
    cells.run("fit(wait=False)")
    cells.run("latest_job_debugger_artifacts_path")
    cells.run("latest_training_job.name")
    cells.run("SecondaryStatus")
    cells.run("create_trial( path )")
    assert cells.names["trial"].steps() is not None
    printed = capsys.readouterr().out
    assert "Tensors are stored in: s3://sagemaker-us-east-2-000000000000/smdebug-output/mxnet-training-2" in printed
    cells.names["mxnet_estimator"].latest_training_job.wait(logs=False)


def test_realtime_analysis() -> None:
    put_script("scripts/mnist_gluon_realtime_visualize_demo.py")
    cells = notebook("001")
    cells.run("sagemaker_session = sagemaker.Session()")
    cells.run("sagemaker_simple_estimator = MXNet(")
    cells.run("sagemaker_simple_estimator.fit(wait=False)")
    cells.run("def print_same_line")
    cells.run("create_trial(sagemaker_simple_estimator")
    cells.names["sagemaker_simple_estimator"].latest_training_job.wait(logs=False)
    assert "conv0.weight" in cells.run('tensor_names(collection="conv0_tensors")')
    assert cells.names["trial"].tensor("conv0.weight").steps() == [0]


def test_bert_classifier(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("INFO", "sagemaker")
    put_script("src/tf_bert_reviews.py")
    uris = {f"processed_{name}_data_s3_uri": "s3://mine/train" for name in ("train", "validation", "test")}
    cells = notebook("002", max_seq_length=64, experiment_name="reviews", trial_name="first", pd=None, **uris)
    cells.names["pd"] = __import__("pandas")
    cells.run("sess = sagemaker.Session()")
    cells.run("s3_input_train_data = TrainingInput")
    assert "'S3DataDistributionType': 'ShardedByS3Key'" in capsys.readouterr().out
    cells.run("epochs = 3")
    cells.run("metrics_definitions =")
    cells.run("rule_configs.ActionList")
    cells.run("FrameworkProfile(local_path")
    cells.run("checkpoint_s3_uri =")
    cells.run("estimator = TensorFlow(")
    _program.call("experiment", "create", "reviews", "--trial", "first")  # in an earlier notebook
    cells.run("experiment_config =")
    cells.run("estimator.fit(")
    assert 'METRIC_AMBIGUOUS: train:loss: "loss: " also stands within "val_loss: "' in caplog.text
    cells.run("training_job_name = estimator")
    cells.run("latest_training_job.wait(logs=False)")
    frame = cells.run("training_job_analytics.dataframe()")
    assert {"train:loss", "train:accuracy"} <= set(frame["metric_name"])
    (report,) = cells.run("rule_job_summary()")
    assert report["RuleConfigurationName"] == "ProfilerReport"
    assert report["RuleEvaluationStatus"] in ("IssuesFound", "NoIssuesFound"), report
    # Where the workshop's next cells copy it from: s3://BUCKET/JOB/rule-output/ProfilerReport/profiler-output.
    results = tmp_path / "buckets" / cells.names["bucket"] / cells.names["training_job_name"]
    found = results / "rule-output" / "ProfilerReport" / "profiler-output"
    assert (found / "profiler-report.html").is_file() and [*(found / "profiler-reports").glob("*.json")]
    components = cells.run("ExperimentAnalytics(")
    assert components["TrialComponentName"].tolist() == [f"{cells.names['training_job_name']}-aws-training-job"]
    deadline = time.monotonic() + 60
    while not {"DataSet", "Code"} <= set(cells.run("LineageTableVisualizer(sess)")["Type"]):
        assert time.monotonic() < deadline, "inputs are hashed beside the job"
        time.sleep(0.2)


def test_rule_events() -> None:
    put_script("src/mnist_zerocodechange.py")
    cells = notebook("004")
    for words in ("import TensorFlow", "import Rule", "entrypoint_script=", "rules=[", "estimator.fit(wait=False)"):
        cells.run(words)
    first, second = cells.run("rule_job_summary()")
    assert (first["RuleConfigurationName"], second["RuleConfigurationName"]) == (
        "VanishingGradient",
        "LossNotDecreasing",
    )
    deadline = time.monotonic() + 60
    while cells.run("rule_job_summary()")[0]["RuleEvaluationStatus"] != "IssuesFound":
        assert time.monotonic() < deadline
        time.sleep(0.2)
    job = cells.names["estimator"].latest_training_job
    addresses = cells.run("get_rule_jobs_cw_urls(estimator)")
    assert f"{job.name[:26]}-VanishingGradient-" in addresses["VanishingGradient"]

    handler = cells.function("lambda_handler")
    assert handler({"detail": job.describe()}, None) is None
    job.wait(logs=False)
    assert cells.run('describe()["TrainingJobStatus"]') == "Stopped"
