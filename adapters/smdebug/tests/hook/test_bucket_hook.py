"""smdebug's hook with an address of S3 as out_dir."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from bucket_server import BucketServer

import smdebug.pytorch as smd
from smdebug.exceptions import SMDebugRuntimeError
from smdebug.trials import create_trial

TRAINING = """
import smdebug.pytorch as smd, torch
torch.manual_seed(3)
model = torch.nn.Linear(3, 2)
hook = smd.Hook("s3://bucket/ours/job", save_config=smd.SaveConfig(save_interval=1), save_all=True, export_tensorboard=True)
hook.register_module(model)
for step in range(4):
    model(torch.full((4, 3), float(step))).pow(2).mean().backward()
"""


def test_a_run_there_is_read_by_both(bucket: BucketServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRAINWARDEN_RUNS", str(tmp_path / "runs"))
    done = subprocess.run([sys.executable, "-c", TRAINING], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    trial = create_trial("s3://bucket/ours/job")
    assert trial.steps() == [0, 1, 2, 3]
    here = create_trial(tmp_path / "runs" / ".buckets" / "bucket" / "ours" / "job")
    (weight,) = [name for name in trial.tensor_names() if name.endswith("weight") and "gradient" not in name]
    for step in trial.steps():
        assert (trial.tensor(weight).value(step) == here.tensor(weight).value(step)).all()
    assert any("tensorboard/" in key for key in bucket.objects("ours/job/"))
    with pytest.raises(SMDebugRuntimeError, match="s3://bucket/ours/job holds a finished run"):
        smd.Hook("s3://bucket/ours/job")


def test_an_address_of_no_run(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("TRAINWARDEN_BUCKETS", raising=False)
    with pytest.raises(ValueError, match="s3://BUCKET/PREFIX"):
        smd.Hook("s3://bucket")
