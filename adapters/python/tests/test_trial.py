"""Trial: runs while they are written and after, and values that are the run's file in memory."""

from __future__ import annotations

import gc
from pathlib import Path

import numpy as np
import pytest

import trainwarden as tw


def mappings(run_dir: Path) -> list[tuple[int, int]]:
    """The addresses at which files of the run lie in this process."""
    ranges = []
    for line in Path("/proc/self/maps").read_text().splitlines():
        if str(run_dir) in line:
            begin, end = line.split()[0].split("-")
            ranges.append((int(begin, 16), int(end, 16)))
    return ranges


@pytest.fixture
def finished(run_dir: Path) -> Path:
    with tw.Hook(run_dir, save_all=True, save=1, keep=["values", "statistics"]) as hook:
        for step in range(4):
            hook.set_mode("train" if step < 3 else "eval")
            hook.save_tensor("weight", np.full((2, 3), step, np.float32))
            hook.save_scalar("loss", 1.0 / (step + 1))
            hook.step()
    return run_dir


def test_the_run(finished: Path) -> None:
    trial = tw.open(finished)
    assert trial.path == str(finished)
    assert trial.recorder == "trainwarden"
    assert trial.state is tw.RunState.COMPLETED and trial.loaded_all_steps
    assert (trial.world_size, trial.workers, trial.losses) == (1, ["rank-00000"], [])
    assert len(trial.run_id) > 8 and 0 < trial.created_unix_ns <= trial.last_unix_ns
    assert repr(trial) == f"<Trial '{finished}': completed, last step 3>"


def test_steps(finished: Path) -> None:
    trial = tw.open(finished)
    assert trial.modes == [tw.Mode.TRAIN, tw.Mode.EVAL]
    assert trial.steps() == [0, 1, 2, 3] and trial.steps("train") == [0, 1, 2] and trial.steps(tw.Mode.EVAL) == [0]
    assert trial.last_complete_step == 3
    assert trial.complete_steps_after(1) == [2, 3]
    assert trial.global_step("eval", 0) == 3 and trial.global_step("eval", 5) is None
    assert trial.mode_of(3) is tw.Mode.EVAL and trial.mode_of(9) is None
    assert trial.mode_step_of(3) == 0 and trial.mode_step_of(9) is None
    assert trial.step_state(3) is tw.StepState.AVAILABLE
    assert trial.step_state(9) is tw.StepState.UNAVAILABLE


@pytest.fixture
def judged(run_dir: Path) -> Path:
    """What rules need lies between what the program saves: statistics at each step, values at each tenth."""
    saved = tw.Collection("saved", include=("weight",), save=10)
    needed = tw.Collection("needed", include=("weight", "gradient"), save=1, keep="statistics")
    with tw.Hook(run_dir, collections=[saved, needed]) as hook:
        for step in range(21):
            hook.set_mode("train")
            for name in ("weight", "gradient"):
                hook.save_tensor(name, np.full((2, 3), step, np.float32))
            if step % 5 == 0:
                hook.save_scalar("loss", float(step))
            hook.step()
    return run_dir


def test_steps_by_what_was_kept(judged: Path) -> None:
    trial = tw.open(judged)
    weight, everywhere = trial.tensor("weight"), list(range(21))
    assert weight.steps() == [0, 10, 20] and [weight.value(step)[0, 0] for step in weight.steps()] == [0, 10, 20]
    assert weight.steps("train", kept="any") == everywhere and weight.steps("eval") == []
    assert weight.steps(kept=tw.Kept.STATISTICS) == everywhere
    assert list(weight.values()) == [0, 10, 20]
    assert trial.tensor("gradient").steps() == everywhere  # of which there is nothing else
    assert trial.tensor("gradient").steps(kept="value") == [] == trial.tensor("gradient").steps(kept=["shape", "scalar"])
    assert trial.tensor("loss").steps() == [0, 5, 10, 15, 20] == list(trial.tensor("loss").scalars())
    assert trial.steps() == everywhere == trial.steps(kept=["value", "statistics"])
    assert trial.steps(kept="value") == [0, 10, 20] and trial.steps(kept="scalar") == [0, 5, 10, 15, 20]
    with pytest.raises(tw.errors.OutOfRange, match="only its statistics; the nearest steps that have it: 0, 10, 20"):
        weight.value(7)


def test_forms_that_there_are_not(judged: Path) -> None:
    weight = tw.open(judged).tensor("weight")
    for wrong in ("values", ["any", "hash"], [], ["fullest", "any"]):
        with pytest.raises(ValueError, match="Kept|fullest"):
            weight.steps(kept=wrong)


def test_strips_take_the_nearest_steps_with_values(judged: Path) -> None:
    from trainwarden.notebook import ImageStrip

    trial = tw.open(judged)
    assert ImageStrip(trial, "weight").steps == [0, 10, 20]
    strip = ImageStrip(trial, "weight", steps=[3, 10, 14, 16, 18])
    assert strip.steps == [0, 10, 20] and strip.data()["images"][0, 2, 0, 0] == 20
    assert "the nearest steps that have it whole: 0 for 3, 10 for 14, 20 for 16, 20 for 18" in strip.text()
    with pytest.raises(tw.errors.OutOfRange, match="'gradient' was kept whole at no step"):
        ImageStrip(trial, "gradient")


def test_tensors(finished: Path) -> None:
    trial = tw.open(finished)
    assert trial.tensor_names() == ["loss", "weight"]
    assert trial.tensor_names("^w") == trial.tensor_names(["^w", "none"]) == ["weight"]
    assert trial.tensor_names(collection="scalars", mode="eval", step=0) == ["loss"]
    assert "weight" in trial and "none" not in trial
    info = trial.tensor_info("weight")
    assert (info.name, info.dtype, info.shape, info.values, info.statistics) == ("weight", "float32", [2, 3], 4, 4)
    assert "scalars" in trial.collections()


def test_a_tensor_and_its_steps(finished: Path) -> None:
    weight = tw.open(finished).tensor("weight")
    assert weight.steps() == [0, 1, 2, 3] and weight.steps("eval") == [0]
    assert weight.value(0, "eval")[0, 0] == 3
    assert {step: value[0, 0] for step, value in weight.values().items()} == {0: 0, 1: 1, 2: 2, 3: 3}
    assert list(weight.values([1, 2])) == [1, 2]
    assert weight.statistics(2).mean == 2 and weight.reduction(2, "l1") == 12
    assert weight.reduction(2, tw.Reduction.MAX, abs=True) == 2
    assert weight.shape(1) == (2, 3) and weight.workers(1) == ["rank-00000"]
    assert weight.trial.tensor("loss").scalars() == {0: 1.0, 1: 0.5, 2: 1 / 3, 3: 0.25}


def test_values_are_copies_and_read_only(finished: Path) -> None:
    trial = tw.open(finished)
    value = trial.value("weight", 2)
    assert mappings(finished) == []  # a file that is cut while it is mapped would end the process
    assert not value.flags.writeable and not value.flags.owndata
    with pytest.raises(ValueError):
        value[0, 0] = 1
    with pytest.raises(ValueError):
        value.flags.writeable = True


def test_a_value_outlives_the_trial_and_the_folder(finished: Path) -> None:
    trial = tw.open(finished)
    value = trial.value("weight", 2)[1]
    del trial
    gc.collect()
    for file in sorted(finished.rglob("*"), reverse=True):
        file.unlink() if file.is_file() else file.rmdir()
    assert value.tolist() == [2, 2, 2]


def test_a_live_run_is_followed(run_dir: Path) -> None:
    with tw.Hook(run_dir, save_all=True, save=1) as hook:
        hook.save_tensor("x", np.zeros(2))
        hook.step()
        hook.flush()
        trial = tw.open(run_dir)
        assert trial.state is tw.RunState.RUNNING and trial.steps() == [0]
        assert trial.step_state(1) is tw.StepState.NOT_YET_AVAILABLE
        first = trial.value("x", 0)
        assert not first.flags.writeable and mappings(run_dir) == []  # its file is not at its end
        hook.save_tensor("x", np.ones(2))
        hook.step()
        hook.flush()
        assert trial.steps() == [0]
        trial.wait_for_steps([1], timeout_s=60)
        assert trial.value("x", 1).tolist() == [1, 1] and first.tolist() == [0, 0]
    trial.refresh()
    assert trial.state is tw.RunState.COMPLETED and trial.loaded_all_steps


def test_several_workers(run_dir: Path) -> None:
    for rank in range(2):
        with tw.Hook(run_dir, save_all=True, save=1, rank=rank, world_size=2) as hook:
            hook.save_tensor("x", np.full(1, rank))
            hook.step()
    trial = tw.open(run_dir)
    assert trial.workers == ["rank-00000", "rank-00001"] == trial.workers_of("x", 0)
    assert trial.value("x", 0, worker="rank-00001") == 1
    assert trial.tensor("x").value(0) == 0
