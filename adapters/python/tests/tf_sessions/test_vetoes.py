"""Rules inside a training with sessions of TensorFlow 1: a batch that they veto leaves no trace in what is trained."""

from __future__ import annotations

from pathlib import Path

import pytest
from untouched import Ended, Runner

import trainwarden


def guarded(runner: Runner, run: Path, *command: str, on_fire: str = "skip_step") -> Ended:
    rules = {"TRAINWARDEN_GUARD_RULES": "ExplodingTensor:collection_names=gradients", "TRAINWARDEN_ON_FIRE": on_fire}
    return runner.start(*command, environment={**runner.attached_environment(run), **rules})


@pytest.mark.parametrize("program", ["adam", "adam old", "clipped old", "branched", "turns", "shared old"])
def test_a_vetoed_batch_changes_nothing(runner: Runner, program: str, tmp_path: Path) -> None:
    """All variables, also those of optimizers, metrics and moving averages, are those of a run that never saw it."""
    command = ("poisoned.py", *program.split())
    ended = guarded(runner, tmp_path / "run", *command)
    expected = runner.captured(*command, "leave_out").plain
    assert expected.exit_code == 0 and "False" not in expected.stdout, expected.stderr
    assert (ended.exit_code, ended.stdout) == (0, expected.stdout), ended.stderr
    assert ended.stderr.count("The optimizer's step is left out") == 1, ended.stderr
    assert f"{2 if program == 'turns' else 1} steps of optimizers were vetoed" in ended.stderr
    assert trainwarden.open(tmp_path / "run").steps("train") == list(range(7))


def test_a_guard_that_is_silent_changes_nothing(runner: Runner, tmp_path: Path) -> None:
    ended = guarded(runner, tmp_path / "run", "poisoned.py", "adam", "leave_out")
    assert ended.stdout == runner.captured("poisoned.py", "adam", "leave_out").plain.stdout
    assert "trainwarden:" not in ended.stderr


def test_the_scale_of_a_loss_falls_with_a_batch_that_is_vetoed(runner: Runner, tmp_path: Path) -> None:
    ended = guarded(runner, tmp_path / "run", "poisoned.py", "scaled", "leave_out")
    plain = runner.start("poisoned.py", "scaled", "leave_out", environment=runner.attached_environment(tmp_path / "p"))
    assert (ended.exit_code, ended.stdout) == (0, plain.stdout), ended.stderr
    assert "The optimizer's step is left out" in ended.stderr


@pytest.mark.parametrize(
    ("program", "reason"), [("counted", "holds more than a variable"), ("adam served", "is one of a cluster")]
)
def test_what_cannot_be_taken_back_is_said(runner: Runner, program: str, reason: str, tmp_path: Path) -> None:
    ended = guarded(runner, tmp_path / "run", "poisoned.py", *program.split())
    assert ended.exit_code == 0 and "hidden/kernel False" in ended.stdout, ended.stderr
    assert ended.stderr.count("rules cannot veto a step of this graph") == 1, ended.stderr
    assert reason in ended.stderr and "left out" not in ended.stderr


@pytest.mark.usefixtures("keras_2")
def test_a_vetoed_batch_of_keras_in_graph_mode(runner: Runner, tmp_path: Path) -> None:
    ended = guarded(runner, tmp_path / "run", "poisoned_keras.py")
    expected = runner.captured("poisoned_keras.py", "leave_out").plain
    assert (ended.exit_code, ended.stdout) == (0, expected.stdout), ended.stderr
    assert ended.stderr.count("The optimizer's step is left out") == 1, ended.stderr


def test_a_report_keeps_nothing_from_happening(runner: Runner, tmp_path: Path) -> None:
    ended = guarded(runner, tmp_path / "run", "poisoned.py", "adam", on_fire="report")
    assert ended.exit_code == 0 and "hidden/kernel False" in ended.stdout, ended.stderr


def test_a_loss_without_a_number_that_was_left_out_ends_no_training(runner: Runner, tmp_path: Path) -> None:
    """The hook of every estimator would. A batch more is trained, as the global step does not count the one."""
    ended = guarded(runner, tmp_path / "run", "poisoned_hooks.py", str(tmp_path / "checkpoints"), "6", "one")
    assert (ended.exit_code, ended.stdout) == (0, "runs 7 steps 6 finite True\n"), ended.stderr
    assert trainwarden.open(tmp_path / "run").steps("train") == list(range(7))


def test_a_training_of_which_all_is_vetoed_ends(runner: Runner, tmp_path: Path) -> None:
    ended = guarded(runner, tmp_path / "run", "poisoned_hooks.py", str(tmp_path / "checkpoints"), "6", "all")
    assert (ended.exit_code, ended.stdout) == (0, "runs 106 steps 6 finite True\n"), ended.stderr
    assert ended.stderr.count("the graph's global step counts on") == 1, ended.stderr


def test_a_rule_ends_the_training_before_the_step(runner: Runner, tmp_path: Path) -> None:
    command = ("poisoned_hooks.py", str(tmp_path / "checkpoints"), "6", "one")
    ended = guarded(runner, tmp_path / "run", *command, on_fire="stop")
    assert (ended.exit_code, ended.stdout) == (0, "runs 4 steps 3 finite True\n"), ended.stderr
    assert trainwarden.open(tmp_path / "run").state.value == "stopped"
