"""Folders of smdebug's as they are found: half written, half copied, left by a worker that died."""

from __future__ import annotations

import shutil
import threading
import time
from pathlib import Path

import numpy as np
import pytest

from smdebug import modes
from smdebug.core.tensor import StepState
from smdebug.exceptions import ShapeUnavailableForStep, TensorUnavailableForStep
from smdebug.trials import Trial, create_trial
from smdebug_folder import SmdebugFolder

FIRST_EVENTS = "events/000000000000/000000000000_worker_0.tfevents"


def test_reductions_and_shapes_without_a_value(run_dir: Path) -> None:
    folder = SmdebugFolder(run_dir, collections={"gradients": ["^gradient"]})
    reduced = {
        "smdebug/reductions/abs_mean/gradient/w": np.array(2.0, dtype=np.float32),
        "smdebug/reductions/l2/gradient/w": np.array(4.0, dtype=np.float32),
    }
    folder.step(0, {**reduced, "loss": np.array(0.5)}, mode="TRAIN", shapes={"conv_output_0": (4, 3, 2)})
    folder.end()
    trial = create_trial(run_dir)
    assert trial.tensor_names(collection="gradients") == ["gradient/w"]
    gradient, output = trial.tensor("gradient/w"), trial.tensor("conv_output_0")
    assert gradient.reduction_values(0, modes.TRAIN) == {("mean", True): 2.0, ("l2", False): 4.0}
    assert gradient.reduction_value(0, "l2") == 4.0
    with pytest.raises(TensorUnavailableForStep) as missing:
        gradient.value(0)
    assert missing.value.has_reductions
    with pytest.raises(TensorUnavailableForStep, match="no min"):
        gradient.reduction_value(0, "min")
    with pytest.raises(ShapeUnavailableForStep):
        gradient.shape(0)
    assert output.shape(0) == (4, 3, 2) and output.original_name == "original/conv_output_0"
    with pytest.raises(TensorUnavailableForStep) as missing:
        output.value(0)
    assert not missing.value.has_reductions and output.reduction_values(0) == {}


def test_both_footers_and_old_index_names(run_dir: Path) -> None:
    folder = SmdebugFolder(run_dir)
    folder.step(0, {"w": np.arange(3.0)}, true_checksum=True)
    folder.step(1500, {"w": np.arange(4.0)}, extension="csv")
    folder.end()
    trial = create_trial(run_dir)
    assert {step: value.tolist() for step, value in trial.tensor("w").values().items()} == {
        0: [0, 1, 2],
        1500: [0, 1, 2, 3],
    }


def test_workers_keep_their_names(run_dir: Path) -> None:
    folder = SmdebugFolder(run_dir, ["algo-1", "algo-2"])
    for number, worker in enumerate(["algo-2", "algo-1"]):
        folder.step(0, {"w": np.array([number])}, worker=worker)
    trial = create_trial(run_dir)
    assert trial.workers() == ["algo-1", "algo-2"]
    assert trial.tensor("w").workers(0) == ["algo-1", "algo-2"]
    assert trial.tensor("w").value(0) == [1] and trial.tensor("w").value(0, worker="algo-2") == [0]
    assert trial.last_index_token == str(run_dir / "index/000000000/000000000000_algo-2.json")


def test_files_that_are_being_written_are_not_seen(run_dir: Path) -> None:
    folder = SmdebugFolder(run_dir)
    folder.step(0)
    index = folder.step(1)
    index.rename(index.with_name(index.name + ".tmp"))
    assert create_trial(run_dir).steps() == [0]


def test_a_broken_index_file_is_left_out_and_told(run_dir: Path, log: pytest.LogCaptureFixture) -> None:
    folder = SmdebugFolder(run_dir)
    folder.step(0)
    folder.step(1).write_text("{broken")
    folder.step(2)
    folder.end()
    trial = create_trial(run_dir)
    trial.refresh_data()
    assert trial.steps() == [0, 2]
    assert log.text.count("index/000000000/000000000001_worker_0.json: not read, unusable index file") == 1


def test_an_ended_run_without_manifests_is_read(run_dir: Path) -> None:
    folder = SmdebugFolder(run_dir)
    folder.step(0)
    folder.end()
    shutil.rmtree(run_dir / "collections")
    trial = create_trial(run_dir)
    assert trial.steps() == [0] and trial.collections() == {} and trial.tensor("loss").value(0) == [0.0]


def test_a_live_run_without_manifests_is_waited_for(run_dir: Path, log: pytest.LogCaptureFixture) -> None:
    """One worker's files say nothing of how many there are."""
    SmdebugFolder(run_dir).step(0)
    shutil.rmtree(run_dir / "collections")
    opened: list[Trial] = []
    opener = threading.Thread(target=lambda: opened.append(create_trial(run_dir)))
    opener.start()
    while "waiting for a training to begin" not in log.text:
        opener.join(0.01)
    assert not opened
    SmdebugFolder(run_dir, ["worker_0", "worker_1"])
    opener.join(60)
    assert opened[0].num_workers == 2 and opened[0].has_passed_step(0) is StepState.NOT_YET_AVAILABLE


def test_another_look_after_the_end(
    run_dir: Path, monkeypatch: pytest.MonkeyPatch, log: pytest.LogCaptureFixture
) -> None:
    folder = SmdebugFolder(run_dir, ["worker_0", "worker_1"])
    folder.step(0)
    folder.end()
    naps: list[float] = []

    def sleep(seconds: float) -> None:
        naps.append(seconds)
        folder.step(3, worker="worker_1")

    monkeypatch.setattr(time, "sleep", sleep)
    assert create_trial(run_dir).steps() == [0] and naps == []
    monkeypatch.setenv("SMDEBUG_TRAINING_END_DELAY_REFRESH", "7")
    assert create_trial(run_dir).steps() == [0, 3] and naps == [7]
    assert "again in 7 s" in log.text and "loaded all steps" in log.text


@pytest.mark.parametrize("ends", [True, False])
def test_a_lost_event_file(run_dir: Path, ends: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is waited for when the training has ended, or a later file of the worker is there."""
    monkeypatch.setattr(time, "sleep", lambda seconds: pytest.fail("it waited"))
    folder = SmdebugFolder(run_dir)
    folder.step(0)
    (run_dir / FIRST_EVENTS).unlink()
    if ends:
        folder.end()
    else:
        folder.step(1)
    with pytest.raises(TensorUnavailableForStep, match="event file missing"):
        create_trial(run_dir).tensor("loss").value(0)


def test_an_event_file_that_comes_after_its_index(run_dir: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = SmdebugFolder(run_dir)
    folder.step(0, mode="TRAIN")
    late = run_dir / "late"
    (run_dir / FIRST_EVENTS).rename(late)
    monkeypatch.setattr(time, "sleep", lambda seconds: late.rename(run_dir / FIRST_EVENTS))
    assert create_trial(run_dir).tensor("loss").value(0, modes.TRAIN) == [0.0]


def test_an_event_file_is_not_waited_for_for_ever(run_dir: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    SmdebugFolder(run_dir).step(0)
    (run_dir / FIRST_EVENTS).unlink()
    monkeypatch.setenv("SMDEBUG_MISSING_EVENT_FILE_RETRY_LIMIT", "0")
    with pytest.raises(TensorUnavailableForStep, match="event file missing"):
        create_trial(run_dir).tensor("loss").value(0)
