"""Rules inside a training with JAX: a batch that they veto leaves no trace in what is trained."""

from __future__ import annotations

from pathlib import Path

import pytest
from untouched import Ended, Runner

import trainwarden

WAYS = [
    "whole", "first", "donated", "by_hand", "apart", "apart_jitted", "eager", "train_state", "nnx", "equinox",
]  # fmt: skip


def guarded(runner: Runner, run: Path, *command: str, on_fire: str = "skip_step") -> Ended:
    rules = {"TRAINWARDEN_GUARD_RULES": "ExplodingTensor:collection_names=gradients", "TRAINWARDEN_ON_FIRE": on_fire}
    return runner.start(*command, environment={**runner.attached_environment(run), **rules})


@pytest.mark.parametrize("way", WAYS)
def test_a_vetoed_batch_changes_nothing(runner: Runner, way: str, tmp_path: Path) -> None:
    ended = guarded(runner, tmp_path / "run", "poisoned.py", way)
    expected = runner.captured("poisoned.py", way, "leave_out").plain
    assert expected.exit_code == 0 and "finite False" not in expected.stdout, expected.stderr
    assert (ended.exit_code, ended.stdout) == (0, expected.stdout), ended.stderr
    assert ended.stderr.count("The optimizer's step is left out") == 1, ended.stderr
    said = ["the first step of JAX"] if way in ("nnx", "equinox") else []
    assert ended.stderr.count("cannot veto") == len(said) and all(each in ended.stderr for each in said), ended.stderr
    trial = trainwarden.open(tmp_path / "run")
    assert trial.steps("train") == list(range(8))
    bad = 0 if way == "first" else 3
    names = trial.tensor_names(collection="gradients")
    assert sum(trial.statistics(name, bad, "train").nan_count for name in names) > 0


@pytest.mark.parametrize("way", ["whole", "donated", "train_state", "eager"])
def test_a_guard_that_is_silent_changes_nothing(runner: Runner, way: str, tmp_path: Path) -> None:
    ended = guarded(runner, tmp_path / "run", "poisoned.py", way, "leave_out")
    assert ended.stdout == runner.captured("poisoned.py", way, "leave_out").plain.stdout, ended.stderr
    assert "trainwarden:" not in ended.stderr


@pytest.mark.parametrize("way", ["updates_apart", "scanned"])
def test_what_cannot_be_vetoed_is_said_once(runner: Runner, way: str, tmp_path: Path) -> None:
    ended = guarded(runner, tmp_path / "run", "poisoned.py", way)
    assert ended.exit_code == 0 and "finite False" in ended.stdout, ended.stderr
    assert ended.stderr.count("rules cannot veto") == 1 and "is left out" not in ended.stderr, ended.stderr


def test_a_rule_ends_the_training_before_the_step(runner: Runner, tmp_path: Path) -> None:
    ended = guarded(runner, tmp_path / "run", "poisoned.py", "whole", on_fire="stop")
    assert ended.exit_code == 143, ended.stderr
    trial = trainwarden.open(tmp_path / "run")
    assert trial.steps("train") == [0, 1, 2, 3] and trial.state.value == "stopped"
