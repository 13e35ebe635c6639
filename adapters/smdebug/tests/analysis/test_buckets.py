"""Runs in buckets, by create_trial(): ours, and those that smdebug itself wrote."""

from __future__ import annotations

import os
import subprocess
import threading
from pathlib import Path

import numpy as np
import pytest
import trainwarden
from bucket_server import BucketServer
from smdebug_folder import SmdebugFolder

from smdebug.core.config_constants import END_OF_JOB_FILENAME
from smdebug.exceptions import MissingCollectionFiles, TensorUnavailableForStep
from smdebug.profiler import S3SystemMetricsReader
from smdebug.trials import S3Trial, Trial, create_trial

THEIRS = """
import smdebug.pytorch as smd, torch
torch.manual_seed(3)
model = torch.nn.Linear(3, 2)
optimizer = torch.optim.SGD(model.parameters(), 0.1)
hook = smd.Hook("s3://bucket/theirs/job", save_config=smd.SaveConfig(save_interval=2), save_all=True)
hook.register_module(model)
for step in range(6):
    loss = model(torch.full((4, 3), float(step))).pow(2).mean()
    hook.record_tensor_value("my_loss", loss)
    loss.backward()
    optimizer.step()
hook.close()
"""


def assert_same(here: Trial, there: Trial) -> int:
    """Every tensor at every step; how many values there were."""
    assert there.steps() == here.steps()
    assert there.modes() == here.modes()
    assert there.workers() == here.workers()
    assert there.tensor_names() == here.tensor_names()
    assert {name: each.tensor_names for name, each in there.collections().items()} == {
        name: each.tensor_names for name, each in here.collections().items()
    }
    values = 0
    for name in here.tensor_names():
        assert there.tensor(name).steps() == here.tensor(name).steps()
        for step in here.tensor(name).steps():
            assert there.tensor(name).reduction_values(step) == here.tensor(name).reduction_values(step)
            try:
                value = here.tensor(name).value(step)
            except TensorUnavailableForStep:
                continue
            np.testing.assert_array_equal(there.tensor(name).value(step), value)
            values += 1
    return values


@pytest.mark.parametrize("name", ["cnn_reductions", "cnn_save_all", "mlp_modes_scalar"])
def test_recorded_runs_are_the_same_there(bucket: BucketServer, shared_trials: Path, name: str) -> None:
    bucket.put_folder(f"recorded/{name}", shared_trials / name)
    there = create_trial(f"s3://bucket/recorded/{name}/")
    assert isinstance(there, S3Trial)
    assert (there.name, there.bucket_name, there.prefix_name) == (name, "bucket", f"recorded/{name}")
    here = create_trial(shared_trials / name)
    assert assert_same(here, there) > 0
    assert there.loaded_all_steps


def test_a_run_of_ours(bucket: BucketServer, run_dir: Path) -> None:
    with trainwarden.Hook(run_dir, save_all=True, save=1) as hook:
        for step in range(4):
            hook.save_tensor("weight", np.full(5, step))
            hook.step()
    bucket.put_folder("ours/first", run_dir)
    assert assert_same(create_trial(run_dir), create_trial("s3://bucket/ours/first")) == 4


def test_what_smdebug_itself_wrote_there(bucket: BucketServer, rivals_python: str, tmp_path: Path) -> None:
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    environment.update(AWS_REGION="us-east-1", AWS_DEFAULT_REGION="us-east-1")
    done = subprocess.run([rivals_python, "-c", THEIRS], env=environment, capture_output=True, text=True, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    there = create_trial("s3://bucket/theirs/job")
    assert there.source.recorder == "smdebug"
    assert there.steps() == [0, 2, 4]
    for key, content in bucket.objects("theirs/job/").items():
        file = tmp_path / "copy" / key
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content)
    assert assert_same(create_trial(tmp_path / "copy" / "theirs" / "job"), there) > 6
    assert "Linear" in " ".join(there.tensor_names())


def test_a_live_run_of_smdebugs_is_followed(bucket: BucketServer, tmp_path: Path) -> None:
    opened: list[Trial] = []
    opener = threading.Thread(target=lambda: opened.append(create_trial("s3://bucket/live/job")))
    opener.start()
    writer = SmdebugFolder(tmp_path / "job")
    writer.step(0)
    bucket.put_folder("live/job", tmp_path / "job")
    opener.join(60)
    (trial,) = opened
    trial.wait_for_steps([0])
    assert trial.steps() == [0] and not trial.loaded_all_steps
    writer.step(1)
    bucket.put_folder("live/job", tmp_path / "job")
    trial.wait_for_steps([1])
    assert trial.tensor("loss").value(1) == [1.0]
    writer.step(2)
    writer.end()
    bucket.put_folder("live/job", tmp_path / "job")
    trial.wait_for_steps([2])
    while not trial.loaded_all_steps:
        trial.refresh_data()


def test_what_is_wrong_is_said(bucket: BucketServer, monkeypatch: pytest.MonkeyPatch) -> None:
    bucket.put(f"ended/{END_OF_JOB_FILENAME}", b"")
    with pytest.raises(MissingCollectionFiles, match="s3://bucket/ended holds"):
        create_trial("s3://bucket/ended")
    with pytest.raises(RuntimeError, match="there is no such bucket"):
        create_trial("s3://not-there/run")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "another")
    with pytest.raises(PermissionError, match="SignatureDoesNotMatch"):
        create_trial("s3://bucket/ended")


def test_a_profile_there(bucket: BucketServer, tmp_path: Path) -> None:
    file = tmp_path / "profiler-output" / "system" / "incremental" / "2026112718" / "1700000040.algo-1.json"
    file.parent.mkdir(parents=True)
    line = '{"Type":"cpu","Name":"cpu0","Dimension":"CPUUtilization","Value":%d,"Timestamp":1700000000.5,"NodeId":"algo-1"}\n'
    file.write_text(line % 40)
    bucket.put_folder("job", tmp_path)
    for address in ("s3://bucket/job", "s3://bucket/job/profiler-output/"):
        (event,) = S3SystemMetricsReader(address).get_events(0, 1 << 60)
        assert (event.name, event.value) == ("cpu0", 40.0)
    trial = create_trial("s3://bucket/job/profiler-output", profiler=True)
    assert len(trial.get_system_metrics(0, 1 << 60)) == 1
