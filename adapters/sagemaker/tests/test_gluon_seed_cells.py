"""The two notebooks whose jobs train with MXNet: their cells. The script of the one knows no smdebug; that of the other is
GluonNLP's BERT with its hook."""

from __future__ import annotations

import importlib.util
import os
import shutil
import sys
import time
from pathlib import Path

import pytest
from cells import Notebook, our_boto3


def _is_installed(name: str) -> bool:
    """A folder of tests may be called so, too."""
    found = importlib.util.find_spec(name)
    return found is not None and found.origin is not None


if not all(_is_installed(name) for name in ("mxnet", "trainwarden", "smdebug")):
    pytest.skip("no MXNet, or none of the packages trainwarden and smdebug", allow_module_level=True)

from smdebug import modes  # noqa: E402

_REPOSITORY = Path(__file__).resolve().parents[3]
_SHARED = Path(os.environ.get("TRAINWARDEN_SHARED_DATA", _REPOSITORY.parent / "shared" / "data"))
SCRIPTS = _REPOSITORY / "adapters" / "smdebug" / "tests" / "analysis" / "scripts"


@pytest.fixture(autouse=True)
def _surroundings(monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("INFO", "sagemaker")
    monkeypatch.setitem(sys.modules, "boto3", our_boto3())
    monkeypatch.setenv("AWS_DEFAULT_REGION", "us-east-2")
    naps = time.sleep
    monkeypatch.setattr(time, "sleep", lambda seconds: naps(min(seconds, 0.2)))


def notebook(number: str, script: str, place: str) -> Notebook:
    documents = list((_SHARED.parent / "seeds").glob(f"{number}_*.txt"))
    if not documents:
        pytest.skip("no notebooks")
    Path(place).parent.mkdir()
    shutil.copy(SCRIPTS / script, place)
    return Notebook(documents[0])


def test_bert_attention_of_gluonnlp(capsys: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture) -> None:
    if not _is_installed("gluonnlp"):
        pytest.skip("no GluonNLP")
    cells = notebook("000", "gluon_bert.py", "entry_point/train.py")
    cells.run("import boto3")
    cells.run("MXNet(entry_point")
    assert "stands in" not in caplog.text
    cells.run("fit(wait=False)")
    cells.run("latest_job_debugger_artifacts_path")
    cells.run("latest_training_job.name")
    cells.run("SecondaryStatus")
    cells.run("create_trial( path )")
    printed = capsys.readouterr().out
    assert "Tensors are stored in: s3://sagemaker-us-east-2-000000000000/smdebug-output/mxnet-training-2" in printed
    cells.names["mxnet_estimator"].latest_training_job.wait(logs=False)
    (attention, _) = cells.names["trial"].tensor_names(regex=".*multiheadattentioncell0_output_1")
    assert cells.names["trial"].tensor(attention).value(0, modes.EVAL).shape == (3, 4, 8, 8)


def test_realtime_analysis_of_gluon(caplog: pytest.LogCaptureFixture) -> None:
    cells = notebook("001", "gluon_conv.py", "scripts/mnist_gluon_realtime_visualize_demo.py")
    cells.run("sagemaker_session = sagemaker.Session()")
    cells.run("sagemaker_simple_estimator = MXNet(")
    assert "stands in" not in caplog.text and "of this environment runs, not framework_version 1.6.0" in caplog.text
    cells.run("sagemaker_simple_estimator.fit(wait=False)")
    cells.run("def print_same_line")
    cells.run("create_trial(sagemaker_simple_estimator")
    cells.names["sagemaker_simple_estimator"].latest_training_job.wait(logs=False)
    assert cells.run('tensor_names(collection="conv0_tensors")') == [
        "conv0_bias",
        "conv0_input_0",
        "conv0_output_0",
        "conv0_relu_input_0",
        "conv0_relu_output_0",
        "conv0_weight",
        "gradient/conv0_bias",
        "gradient/conv0_weight",
    ]
    assert cells.names["trial"].tensor("conv0_output_0").steps() == [0, 100, 200]
