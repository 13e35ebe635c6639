"""Tensors of runs of ours."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import trainwarden

from runs import weight_at, write_modes
from smdebug import modes
from smdebug.exceptions import (
    InvalidWorker,
    SMDebugNotImplementedError,
    SMDebugRuntimeError,
    SMDebugValueError,
    StepNotYetAvailable,
    StepUnavailable,
    TensorUnavailableForStep,
)
from smdebug.trials import Trial, create_trial


@pytest.fixture
def trial(run_dir: Path) -> Trial:
    write_modes(run_dir)
    return create_trial(run_dir)


def test_steps(trial: Trial) -> None:
    weight = trial.tensor("weight")
    assert (weight.name, weight.trial, weight.original_name) == ("weight", trial, None)
    assert weight.steps() == [0, 2, 4] and weight.steps(modes.TRAIN) == [0, 3] and weight.steps(modes.EVAL) == [0]
    assert trial.tensor("gradient/weight").steps() == [0, 1, 3, 4]
    assert weight.prev_steps(3) == [0, 2] and weight.prev_steps(4, 2) == [2, 4]
    assert weight.prev_steps(4, n=9) == [0, 2, 4]
    assert weight.prev_steps(1, 1, mode=modes.TRAIN) == [0]
    assert "weight" in repr(weight)


def test_values(trial: Trial) -> None:
    weight = trial.tensor("weight")
    value = weight.value(2)
    assert value.dtype == np.float32 and np.array_equal(value, weight_at(2))
    assert np.array_equal(weight.value(step_num=1 + 2, mode=modes.TRAIN), weight_at(4))
    value += 1  # one's own
    assert np.array_equal(weight.value(2), weight_at(2))
    assert list(weight.values()) == [0, 2, 4] and np.array_equal(weight.values(modes.EVAL)[0], weight_at(2))
    assert np.array_equal(weight.value(np.int64(0)), weight_at(0))  # type: ignore[arg-type]
    assert weight.shape(2) == (2, 3)


def test_a_scalar_has_one_element(trial: Trial) -> None:
    loss = trial.tensor("loss")
    assert loss.value(1).tolist() == [0.5] and loss.value(1).dtype == np.float64
    assert loss.shape(1) == (1,)
    assert loss.reduction_value(1, "mean") == 0.5


def test_texts_and_numbers_of_all_kinds(run_dir: Path) -> None:
    saved = {
        "texts": ["[CLS]", "déjà", ""],
        "zero_dimensional": np.array(2.5, dtype=np.float32),
        "small": np.array([1.5, 2.0], dtype=np.float16),
        "bools": np.array([True, False]),
        "bytes": np.array([[1], [255]], dtype=np.uint8),
        "none": np.zeros((0, 3)),
    }
    with trainwarden.Hook(run_dir, save_all=True) as hook:
        for name, value in saved.items():
            hook.save_tensor(name, value)
        hook.step()
    trial = create_trial(run_dir)
    for name, value in saved.items():
        expected, found = np.asarray(value), trial.tensor(name).value(0)
        assert found.dtype.kind == expected.dtype.kind and np.array_equal(found, expected), name
        assert found.shape == expected.shape == trial.tensor(name).shape(0)
    with pytest.raises(SMDebugValueError, match="string"):
        trial.tensor("texts").reduction_value(0, "mean")


def test_what_is_not_there(trial: Trial) -> None:
    weight = trial.tensor("weight")
    with pytest.raises(TensorUnavailableForStep, match="step 1 of mode GLOBAL.*steps that have it: 0, 2, 4") as caught:
        weight.value(1)
    assert not caught.value.has_reductions
    with pytest.raises(StepUnavailable, match="step 9 of mode TRAIN.*the nearest saved: 1, 2, 3"):
        weight.value(9, modes.TRAIN)
    with pytest.raises(TensorUnavailableForStep):
        weight.shape(1)
    with pytest.raises(TensorUnavailableForStep):
        weight.workers(1)
    with pytest.raises(InvalidWorker, match='"worker_5".*worker_0'):
        weight.value(0, worker="worker_5")
    with pytest.raises(SMDebugNotImplementedError, match="value"):
        weight.step(0)


def test_a_step_that_may_still_come(run_dir: Path) -> None:
    with trainwarden.Hook(run_dir) as hook:
        hook.save_scalar("loss", 1.0)
        hook.step()
        hook.flush()
        loss = create_trial(run_dir).tensor("loss")
        with pytest.raises(StepNotYetAvailable, match="step 1 of mode GLOBAL is not there yet"):
            loss.value(1)
        hook.save_scalar("loss", 2.0)
        hook.step()
        hook.flush()
        assert loss.value(1) == [2.0]


def test_reductions_from_the_value(trial: Trial) -> None:
    weight, value = trial.tensor("weight"), weight_at(2).astype(np.float64)
    negative = -weight_at(1).astype(np.float64)
    assert weight.reduction_values(2) == {}
    expected = {
        "min": value.min(),
        "max": value.max(),
        "mean": value.mean(),
        "std": value.std(),
        "variance": value.var(),
        "sum": value.sum(),
        "prod": value.prod(),
        "l1": np.abs(value).sum(),
        "l2": np.sqrt((value**2).sum()),  # of all elements, not of the matrix
    }
    for name, number in expected.items():
        assert weight.reduction_value(2, name) == pytest.approx(number, rel=1e-15), name
    gradient = trial.tensor("gradient/weight")  # of -step: 0..5 - 1 at step 1
    assert negative.min() == -6
    assert gradient.reduction_value(1, "min") == -1 and gradient.reduction_value(1, "max", abs=True) == 4
    with pytest.raises(SMDebugValueError, match="expected one of min, max.*found 'median'"):
        weight.reduction_value(2, "median")


def test_reductions_from_statistics(trial: Trial) -> None:
    gradient, value = trial.tensor("gradient/weight"), weight_at(-3).astype(np.float64)
    saved = gradient.reduction_values(3)
    assert set(saved) == {
        (name, of_abs)
        for name in ("min", "max", "mean", "std", "variance", "sum", "l1", "l2")
        for of_abs in (False, True)
    }
    assert saved["mean", True] == pytest.approx(np.abs(value).mean()) == gradient.reduction_value(3, "mean", abs=True)
    assert saved["variance", False] == pytest.approx(value.var())
    with pytest.raises(TensorUnavailableForStep, match="its reductions were, ask for reduction_value") as caught:
        gradient.value(3)
    assert caught.value.has_reductions
    with pytest.raises(TensorUnavailableForStep, match="prod"):
        gradient.reduction_value(3, "prod")


def test_statistics_of_a_rule_make_no_step(run_dir: Path) -> None:
    saved = trainwarden.Collection("saved", include=("w",), save=10)
    needed = trainwarden.Collection("needed", include=("w", "g"), save=1, keep="statistics")
    with trainwarden.Hook(run_dir, collections=[saved, needed]) as hook:
        for step in range(21):
            hook.set_mode("train")
            for name in ("w", "g"):
                hook.save_tensor(name, np.full(2, step, np.float32))
            if step == 4:
                hook.save_reductions("w", [("max", False, 4.0)])
            hook.step()
    trial = create_trial(run_dir)
    w, g = trial.tensor("w"), trial.tensor("g")
    assert w.steps() == [0, 4, 10, 20] == w.steps(modes.TRAIN)  # reductions are what smdebug saves, too
    assert w.steps(modes.EVAL) == []
    assert w.prev_steps(15) == [0, 4, 10]
    assert g.steps() == trial.steps() == list(range(21))  # of which there is nothing else
    assert w.reduction_value(7, "mean") == 7
    with pytest.raises(TensorUnavailableForStep, match="the nearest steps that have it: 0, 10, 20"):
        w.value(7)


def test_steps_that_a_straggler_has_yet_to_write(run_dir: Path) -> None:
    hooks = [trainwarden.Hook(run_dir, rank=rank, world_size=2) for rank in (0, 1)]
    for step, hook in [(0, hooks[0]), (0, hooks[1]), (1, hooks[0])]:
        hook.save_scalar("loss", float(step))
        hook.step()
        hook.flush()
    trial = create_trial(run_dir)
    loss = trial.tensor("loss")
    assert loss.steps() == [0] and loss.steps(show_incomplete_steps=True) == [0, 1]
    assert loss.value(1) == [1.0] and loss.workers(1) == ["worker_0"]
    for hook in hooks:
        hook.close()
    assert loss.steps() == [0, 1]


def test_damaged_bytes_are_an_error_of_their_own(run_dir: Path) -> None:
    with trainwarden.Hook(run_dir, include=["w"]) as hook:
        hook.save_tensor("w", np.full(1000, 1.5))
        hook.step()
    (segment,) = (run_dir / "journal" / "rank-00000").glob("*.tw")
    content = bytearray(segment.read_bytes())
    content[content.index(np.float64(1.5).tobytes() * 10) + 9] ^= 1
    segment.chmod(0o644)
    segment.write_bytes(content)
    with pytest.raises(SMDebugRuntimeError):
        create_trial(run_dir).tensor("w").value(0)
