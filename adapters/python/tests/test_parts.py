"""Tensors that come in parts, and steps of which several are one call."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import trainwarden as tw

WHOLE = np.random.default_rng(7).standard_normal((6, 10)).astype(np.float32)


def save_in_parts(hook: tw.Hook, name: str = "w", replicas: int = 1) -> None:
    for replica in range(replicas):
        for row, column in ((3, 0), (0, 5), (0, 0), (3, 5)):
            part = WHOLE[row : row + 3, column : column + 5]
            hook.save_shard(name, part, WHOLE.shape, (row, column), replica)


def test_the_values_of_parts_are_those_of_the_whole(run_dir: Path) -> None:
    with tw.Hook(run_dir, save_all=True) as hook:
        save_in_parts(hook)
        hook.step()
    trial = tw.open(run_dir)
    assert np.array_equal(np.asarray(trial.value("w", 0)), WHOLE)
    assert trial.losses == []


def test_the_statistics_of_parts_are_those_of_the_whole_whatever_copies_come(run_dir: Path) -> None:
    with tw.Hook(run_dir, save_all=True, keep=["statistics", "histogram"]) as hook:
        save_in_parts(hook, replicas=2)
        hook.save_tensor("as it is", WHOLE)
        hook.step()
        hook.flush()
        assert hook.report().statistics == 2
    trial = tw.open(run_dir)
    assert trial.statistics("w", 0) == trial.statistics("as it is", 0)
    assert trial.shape("w", 0) == WHOLE.shape


def test_a_tensor_of_which_parts_are_missing_is_lost_and_counted(run_dir: Path) -> None:
    with tw.Hook(run_dir, save_all=True, save=1) as hook:
        number = hook.declare("w")
        hook.save_shard(number, WHOLE[:3], WHOLE.shape, (0, 0))
        hook.step()
        hook.save_shard(number, WHOLE[3:], WHOLE.shape, (3, 0))
        hook.step()
        hook.save_shard(number, WHOLE, WHOLE.shape, (1, 0))  # reaches beyond
        hook.step()
        (loss,) = hook.report().losses
    assert (loss.cause, loss.count) == ("unsupported", 3)
    assert "w: 30 of its 60 elements came" in loss.first_message
    assert tw.open(run_dir).tensor_names() == []


def test_wrong_arguments_raise(run_dir: Path) -> None:
    with tw.Hook(run_dir, save_all=True) as hook:
        with pytest.raises(ValueError):
            hook.save_shard("x", WHOLE, (6, -10), (0, 0))
        with pytest.raises(TypeError):
            hook.save_shard("x", object(), (6, 10), (0, 0))
        with pytest.raises(ValueError):
            hook.end_steps(0)


def test_steps_of_one_call_end_at_once_and_what_is_wanted_at_one_is_kept_at_the_last(run_dir: Path) -> None:
    with tw.Hook(run_dir, save_all=True, save=10) as hook:
        hook.set_mode("train")
        for call in range(6):
            hook.begin_steps(4)
            assert hook.wants("w") == (call in (0, 2, 5))
            hook.save_tensor("w", WHOLE)
            end = hook.end_steps(4)
            assert (end.global_step, end.mode_step) == (4 * call + 3, 4 * call + 3)
        hook.begin_steps(4)
        assert hook.end_steps(2).global_step == 25  # the last call may have fewer
        assert hook.step().global_step == 26
    assert tw.open(run_dir).tensor("w").steps("train") == [3, 11, 23]
