"""The notebook of real-time analysis, whose job trains with MXNet: its cells, and a script that knows no smdebug."""

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

_REPOSITORY = Path(__file__).resolve().parents[3]
_SHARED = Path(os.environ.get("TRAINWARDEN_SHARED_DATA", _REPOSITORY.parent / "shared" / "data"))
SCRIPT = _REPOSITORY / "adapters" / "smdebug" / "tests" / "analysis" / "scripts" / "gluon_conv.py"


def test_realtime_analysis_of_gluon(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    documents = list((_SHARED.parent / "seeds").glob("001_*.txt"))
    if not documents:
        pytest.skip("no notebooks")
    caplog.set_level("INFO", "sagemaker")
    monkeypatch.setitem(sys.modules, "boto3", our_boto3())
    monkeypatch.setenv("AWS_DEFAULT_REGION", "us-east-2")
    naps = time.sleep
    monkeypatch.setattr(time, "sleep", lambda seconds: naps(min(seconds, 0.2)))
    Path("scripts").mkdir()
    shutil.copy(SCRIPT, "scripts/mnist_gluon_realtime_visualize_demo.py")
    cells = Notebook(documents[0])
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
