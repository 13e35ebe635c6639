"""Trials of runs of ours."""

from __future__ import annotations

import re
import threading
import time
from pathlib import Path

import numpy as np
import pytest
import trainwarden
from trainwarden import Collection, jobs

from runs import weight_at, write_modes
from smdebug import modes
from smdebug.analysis.utils import no_refresh, refresh
from smdebug.core.collection import Collection as SmdebugCollection
from smdebug.core.tensor import StepState
from smdebug.exceptions import (
    MissingCollectionFiles,
    NoMoreData,
    SMDebugRuntimeError,
    SMDebugValueError,
    StepUnavailable,
    TensorUnavailable,
)
from smdebug.trials import LocalTrial, Trial, create_trial


@pytest.fixture
def trial(run_dir: Path) -> Trial:
    write_modes(run_dir)
    return create_trial(str(run_dir))


def test_the_name_is_the_last_part_of_the_path(run_dir: Path) -> None:
    write_modes(run_dir)
    trial = create_trial(f"  {run_dir} ")
    assert isinstance(trial, LocalTrial)
    assert (trial.name, trial.path) == ("run", str(run_dir))
    assert create_trial(run_dir, name="first").name == "first"
    assert trial == create_trial(run_dir) and hash(trial) == hash(create_trial(run_dir))
    assert trial != create_trial(run_dir, name="first")
    assert "steps=[0, 1, 2, 3, 4, 5]" in repr(trial)


def test_steps_and_modes(trial: Trial) -> None:
    assert trial.steps() == [0, 1, 2, 3, 4, 5]
    assert trial.steps(modes.TRAIN) == [0, 1, 2, 3]
    assert trial.steps(mode=modes.EVAL, show_incomplete_steps=True) == [0, 1]
    assert trial.steps(modes.PREDICT) == []
    assert trial.modes() == [modes.TRAIN, modes.EVAL]
    assert [trial.mode(step) for step in (0, 2, 9)] == [modes.TRAIN, modes.EVAL, None]
    assert [trial.mode_step(step) for step in (0, 3, 9)] == [0, 2, None]
    assert trial.mode_modestep(5) == (modes.EVAL, 1) and trial.mode_modestep(9) == (None, None)
    assert [trial.global_step(modes.EVAL, step) for step in (0, 1, 2)] == [2, 5, None]
    assert trial.global_step(modes.GLOBAL, 3) == 3
    assert trial.loaded_all_steps and trial.job_finished()
    assert trial.last_complete_step == 5
    assert trial.last_index_token == f"{trial.path}/index/000000000/000000000005_worker_0.json"


def test_a_mode_must_be_one(trial: Trial) -> None:
    with pytest.raises(TypeError, match="expected a mode, one of modes.TRAIN.*found 'EVAL'"):
        trial.steps("EVAL")  # type: ignore[arg-type]


def test_a_program_that_sets_no_mode_has_none(run_dir: Path) -> None:
    with trainwarden.Hook(run_dir) as hook:
        hook.save_scalar("loss", 1.0)
        hook.step()
    trial = create_trial(run_dir)
    assert trial.modes() == [] and trial.mode(0) is modes.GLOBAL and trial.mode_step(0) == 0


def test_tensor_names(trial: Trial) -> None:
    assert trial.tensor_names() == ["gradient/weight", "loss", "weight"]
    assert trial.tensor_names(mode=modes.EVAL) == ["loss", "weight"]
    assert trial.tensor_names(step=3) == ["gradient/weight", "loss"]
    assert trial.tensor_names(step=0, mode=modes.EVAL) == ["loss", "weight"]
    assert trial.tensor_names(regex="weight$") == ["gradient/weight", "weight"]
    assert trial.tensor_names(regex=["^w", ["^l"]]) == ["loss", "weight"]
    assert trial.tensor_names(regex="oss", step=3, show_prefixed_tensors=True) == ["loss"]
    assert trial.tensor_names(collection="weights") == ["weight"]
    assert trial.tensor_names(collection=trial.collection("gradients"), step=3) == ["gradient/weight"]
    assert trial.tensor_names(step=99) == []


def test_tensor_names_that_cannot_be(trial: Trial) -> None:
    with pytest.raises(ValueError, match="expected regex or collection, found both"):
        trial.tensor_names(regex="a", collection="weights")
    with pytest.raises(KeyError, match="no step of mode PREDICT"):
        trial.tensor_names(mode=modes.PREDICT)
    with pytest.raises(KeyError, match="no eval step 7"):
        trial.tensor_names(mode=modes.EVAL, step=7)
    with pytest.raises(TypeError, match="expected the name of a collection"):
        trial.tensor_names(collection=3)  # type: ignore[arg-type]
    with pytest.raises(re.error):
        trial.tensor_names(regex="(")


def test_no_match_is_a_word_on_the_log(trial: Trial, log: pytest.LogCaptureFixture) -> None:
    assert trial.tensor_names(regex="nothing_like_it") == []
    assert trial.tensor_names(collection="no_such_collection") == []
    assert "nothing_like_it" in log.text and "no_such_collection" in log.text


def test_tensors(trial: Trial) -> None:
    assert trial.has_tensor("weight") and not trial.has_tensor("wight")
    assert trial.tensor("weight") is trial.tensor("weight")
    with pytest.raises(TensorUnavailable, match='"wight" is not there.*nearest name is "weight"'):
        trial.tensor("wight")


def test_collections(trial: Trial) -> None:
    assert {"all", "default", "gradients", "losses", "weights"} <= set(trial.collections())
    gradients = trial.collection("gradients")
    assert isinstance(gradients, SmdebugCollection)
    assert gradients.tensor_names == {"gradient/weight"} and gradients is trial.collections()["gradients"]
    mine = trial.collection("mine")
    assert mine.tensor_names == set()
    mine.include(["^l", "ght$"])
    assert trial.tensor_names(collection="mine") == ["gradient/weight", "loss", "weight"]


def test_workers(run_dir: Path) -> None:
    hooks = [trainwarden.Hook(run_dir, include=["w"], rank=rank, world_size=2) for rank in (0, 1)]
    for rank, hook in enumerate(hooks):
        hook.save_tensor("w", np.array([rank]))
        hook.step()
        hook.close()
    trial = create_trial(run_dir)
    assert trial.workers() == ["worker_0", "worker_1"] and trial.num_workers == 2
    tensor = trial.tensor("w")
    assert tensor.workers(0) == ["worker_0", "worker_1"]
    assert tensor.value(0, worker="worker_1") == [1] and tensor.value(0) == [0]


def test_has_passed_step(trial: Trial) -> None:
    assert trial.has_passed_step(3) is StepState.AVAILABLE
    assert trial.has_passed_step(6) is StepState.UNAVAILABLE
    assert trial.has_passed_step(1, modes.EVAL) is StepState.AVAILABLE
    assert trial.has_passed_step(2, mode=modes.EVAL) is StepState.UNAVAILABLE


def test_wait_for_steps(trial: Trial) -> None:
    trial.wait_for_steps([0, 5])
    trial.wait_for_steps([1], modes.EVAL)
    with pytest.raises(NoMoreData, match="step 9 of mode GLOBAL.*last step is 5"):
        trial.wait_for_steps([0, 9])


def test_waiting_for_a_step_that_was_left_out(run_dir: Path) -> None:
    hook = trainwarden.Hook(run_dir, include=["w"], save=10)
    for step in range(11):
        hook.save_tensor("w", np.array([step]))
        hook.step()
    hook.flush()
    trial = create_trial(run_dir)
    assert not trial.loaded_all_steps
    with pytest.raises(StepUnavailable, match="step 5 of mode GLOBAL.*nearest saved: 0, 10"):
        trial.wait_for_steps([5])
    hook.close()
    with pytest.raises(StepUnavailable):
        trial.wait_for_steps([5])
    with pytest.raises(NoMoreData):
        trial.wait_for_steps([11])


def test_a_live_run(run_dir: Path) -> None:
    hook = trainwarden.Hook(run_dir)
    hook.save_scalar("loss", 1.0)
    hook.step()
    hook.flush()
    trial = create_trial(run_dir)
    assert trial.steps() == [0] and not trial.loaded_all_steps and not trial.job_finished()
    assert trial.has_passed_step(1) is StepState.NOT_YET_AVAILABLE
    with no_refresh(trial):
        hook.save_scalar("later", 2.0)
        hook.step()
        hook.flush()
        assert trial.steps() == [0] and not trial.has_tensor("later")
        with refresh([trial]):
            assert trial.steps() == [0, 1]
        assert not trial.dynamic_refresh  # what held before holds again
    assert trial.dynamic_refresh and trial.has_tensor("later")
    waiter = threading.Thread(target=trial.wait_for_steps, args=([2],))
    waiter.start()
    hook.save_scalar("loss", 3.0)
    hook.step()
    hook.close()
    waiter.join(60)
    assert not waiter.is_alive() and trial.job_finished() and trial.steps() == [0, 1, 2]


def test_dynamic_refresh_comes_back_after_an_error(trial: Trial) -> None:
    with pytest.raises(ZeroDivisionError), no_refresh([trial]):
        raise ZeroDivisionError
    assert trial.dynamic_refresh


def test_inputs_labels_and_predictions(run_dir: Path) -> None:
    inputs = Collection("inputs", include=["^input"])
    with trainwarden.Hook(run_dir, collections=[inputs], include=["^(labels|predictions)"]) as hook:
        for mode, first in (("train", 0), ("eval", 100)):
            hook.set_mode(mode)
            for number in (10, 2, 1):
                hook.save_tensor(f"inputs_{number}", np.array([first + number]))
            hook.save_tensor("labels", np.array([first + 50]))
            hook.save_tensor("predictions_0", np.array([first + 60]))
            hook.step()
    trial = create_trial(run_dir)
    assert trial.inputs(0) == [1, 2, 10]
    assert trial.inputs(0, modes.EVAL) == [101, 102, 110]  # a step of the mode
    assert trial.labels(0, modes.EVAL) == [150] and trial.predictions(1) == [160]


@pytest.mark.parametrize(
    ("bounds", "steps", "train", "names"),
    [
        ((1, 3), [1, 2], [1], ["gradient/weight", "loss", "weight"]),
        ((5, None), [5], [], ["loss"]),
        ((None, 2), [0, 1], [0, 1], ["gradient/weight", "loss", "weight"]),
        ((7, 9), [], [], []),
    ],
)
def test_range_steps(
    run_dir: Path, bounds: tuple[int, int], steps: list[int], train: list[int], names: list[str]
) -> None:
    write_modes(run_dir)
    trial = create_trial(run_dir, range_steps=bounds)
    assert (trial.steps(), trial.steps(modes.TRAIN), trial.tensor_names()) == (steps, train, names)
    assert trial.last_complete_step == max(steps, default=-1)
    assert trial.range_steps == bounds
    assert trial.has_tensor("weight") is ("weight" in names)
    for step in set(range(6)) - set(steps):
        assert trial.has_passed_step(step) is StepState.UNAVAILABLE and trial.mode(step) is None
    if "loss" in names:
        loss = trial.tensor("loss")
        assert loss.steps() == steps
        with pytest.raises(StepUnavailable):
            loss.value(4 if 4 not in steps else 0)


@pytest.mark.parametrize("bounds", [(3, 1), (2, 2), (-1, 4), (1,), (0, 1, 2)])
def test_range_steps_that_cannot_be(run_dir: Path, bounds: tuple[int, int]) -> None:
    with pytest.raises(SMDebugValueError, match=r"expected range_steps=\(begin, end\)"):
        create_trial(run_dir, range_steps=bounds)


def test_the_other_arguments_are_taken(run_dir: Path) -> None:
    write_modes(run_dir)
    trial = create_trial(run_dir, check=True, index_mode=True, parallel=False, cache=True, output_dir="elsewhere")
    weight = trial.tensor("weight")
    assert weight.value(0) is weight.value(0)


def test_buckets_are_folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_modes(tmp_path / "buckets" / "mine" / "some" / "run")
    monkeypatch.setenv("TRAINWARDEN_BUCKETS", str(tmp_path / "buckets"))
    assert create_trial("s3://mine/some/run").tensor("weight").steps()
    with pytest.raises(ValueError, match=r"s3://mine/\.\./run: expected s3://BUCKET/KEY"):
        create_trial("s3://mine/../run")


def test_a_training_that_has_not_begun_is_waited_for(run_dir: Path, log: pytest.LogCaptureFixture) -> None:
    opened: list[Trial] = []
    opener = threading.Thread(target=lambda: opened.append(create_trial(run_dir)))
    opener.start()
    while "waiting for a training to begin to write into" not in log.text:
        time.sleep(0.01)
    assert str(run_dir) in log.text
    write_modes(run_dir)
    opener.join(60)
    assert opened[0].tensor("weight").value(2).tolist() == weight_at(2).tolist()


def test_a_training_that_ended_without_a_run(run_dir: Path) -> None:
    run_dir.mkdir()
    (run_dir / "training_job_end.ts").touch()
    with pytest.raises(MissingCollectionFiles, match="holds training_job_end.ts and no run"):
        create_trial(run_dir)


JOB = {"name": "mine", "status": "Failed", "message": "AlgorithmError: exit code 1"}


@pytest.mark.parametrize("path", ["runs/mine", "link", "tensors/mine/debug-output"])
def test_a_job_that_failed_at_its_start_is_not_waited_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, path: str
) -> None:
    (tmp_path / "jobs").mkdir()
    monkeypatch.setenv("TRAINWARDEN_JOBS", str(tmp_path / "jobs"))
    (tmp_path / "link").symlink_to(tmp_path / "runs" / "mine")
    monkeypatch.setattr(jobs, "list_jobs", lambda: [{**JOB, "run": str(tmp_path / "runs" / "mine")}])
    with pytest.raises(MissingCollectionFiles, match="the job mine is Failed .AlgorithmError: exit code 1"):
        create_trial(tmp_path / path)


def test_a_job_that_goes_on_is_waited_for(run_dir: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[int] = []

    def ask() -> list[dict[str, str]]:
        asked.append(1)
        write_modes(run_dir)
        earlier = {**JOB, "name": "earlier", "run": str(run_dir)}
        other = {**JOB, "run": str(tmp_path / "other")}
        return [other, {**JOB, "status": "InProgress", "run": str(run_dir)}, earlier]

    (tmp_path / "jobs").mkdir()
    monkeypatch.setenv("TRAINWARDEN_JOBS", str(tmp_path / "jobs"))
    monkeypatch.setattr(jobs, "list_jobs", ask)
    assert create_trial(run_dir).steps() and asked


def test_the_window_for_stragglers(run_dir: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with trainwarden.Hook(run_dir, include_workers="all", rank=0, world_size=2) as hook:
        for step in range(20):
            hook.save_scalar("loss", float(step))
            hook.step()
        hook.flush()
        straggler = trainwarden.Hook(run_dir, rank=1, world_size=2)
        monkeypatch.setenv("SMDEBUG_INCOMPLETE_STEP_WAIT_WINDOW", "10")
        trial = create_trial(run_dir)
        trial.maybe_refresh()
        assert 4 <= trial.last_complete_step <= 9 and len(trial.steps(show_incomplete_steps=True)) == 20
        monkeypatch.setenv("SMDEBUG_INCOMPLETE_STEP_WAIT_WINDOW", "many")
        with pytest.raises(SMDebugRuntimeError, match="expected a number from 0 on in SMDEBUG_INCOMPLETE"):
            create_trial(run_dir)
        straggler.close()
