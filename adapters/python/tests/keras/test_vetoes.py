"""Rules inside a training with Keras: a batch that they veto leaves no trace in what is trained."""

from __future__ import annotations

import os
from importlib.metadata import version
from pathlib import Path

import pytest
from untouched import Ended, Runner

import trainwarden

IS_KERAS_2 = version(os.environ.get("KERAS_PACKAGE", "keras")).startswith("2.")
BACKEND = "tensorflow" if IS_KERAS_2 else os.environ.get("KERAS_BACKEND", "tensorflow")
WAYS = ["plain", "by_batch", "eager", "first"]
if not IS_KERAS_2:  # which accumulates nothing, and compiles other last bits into the state of the optimizer
    WAYS += ["compiled", "accumulation"]
if BACKEND == "torch":
    WAYS.remove("compiled")
LOOPS = ["graph", "compiled", "eager", "two", "two_eager"]


def guarded(runner: Runner, run: Path, *command: str, on_fire: str = "skip_step") -> Ended:
    rules = {"TRAINWARDEN_GUARD_RULES": "ExplodingTensor:collection_names=gradients", "TRAINWARDEN_ON_FIRE": on_fire}
    rules["TRAINWARDEN_BUDGET"] = "100%"  # a busy machine would leave out weights of a step
    return runner.start(*command, environment={**runner.attached_environment(run), **rules})


def assert_left_out(runner: Runner, run: Path, program: str, way: str) -> None:
    """The training ends as one that never saw the batch."""
    ended = guarded(runner, run, program, way)
    expected = runner.captured(program, way, "leave_out").plain
    assert expected.exit_code == 0 and "finite True" in expected.stdout, expected.stderr
    assert (ended.exit_code, ended.stdout) == (0, expected.stdout), ended.stderr
    assert ended.stderr.count("The optimizer's step is left out") == 1, ended.stderr
    assert trainwarden.open(run).steps("train") == list(range(8))


@pytest.mark.parametrize("way", WAYS)
def test_a_vetoed_batch_changes_nothing(runner: Runner, way: str, tmp_path: Path) -> None:
    assert_left_out(runner, tmp_path / "run", "poisoned.py", way)
    trial = trainwarden.open(tmp_path / "run")
    bad = 0 if way == "first" else 3
    assert trial.statistics("gradient/conv2d/kernel", bad, "train").nan_count > 0, "the step is there as it was judged"
    assert trial.statistics("conv2d/kernel", bad, "train").nan_count == 0


def test_the_scale_of_a_loss_falls_with_a_batch_that_is_vetoed(runner: Runner, tmp_path: Path) -> None:
    ended = guarded(runner, tmp_path / "run", "poisoned.py", "mixed")
    assert ended.exit_code == 0 and "finite True" in ended.stdout, ended.stderr
    words = ended.stdout.split()
    vetoes = 8 - int(words[words.index("iterations") + 1])
    assert vetoes >= 1 and float(words[words.index("scale") + 1]) == 2.0 ** (15 - vetoes)


@pytest.mark.skipif(BACKEND != "tensorflow", reason="loops over tf.GradientTape")
@pytest.mark.parametrize("way", LOOPS)
def test_a_vetoed_step_of_a_loop_changes_nothing(runner: Runner, way: str, tmp_path: Path) -> None:
    assert_left_out(runner, tmp_path / "run", "poisoned_loop.py", way)


@pytest.mark.parametrize("way", ["plain", "eager", "compiled"])
def test_a_guard_that_is_silent_changes_nothing(runner: Runner, way: str, tmp_path: Path) -> None:
    ended = guarded(runner, tmp_path / "run", "poisoned.py", way, "leave_out")
    assert ended.stdout == runner.captured("poisoned.py", way, "leave_out").plain.stdout, ended.stderr
    assert "trainwarden:" not in ended.stderr


def test_a_rule_ends_the_training_before_the_step(runner: Runner, tmp_path: Path) -> None:
    ended = guarded(runner, tmp_path / "run", "poisoned.py", "plain", on_fire="stop")
    assert ended.exit_code == 0 and "finite True" in ended.stdout and "iterations 3" in ended.stdout, ended.stderr
    trial = trainwarden.open(tmp_path / "run")
    assert trial.steps("train") == [0, 1, 2, 3] and trial.state.value == "stopped"


def test_a_report_keeps_nothing_from_happening(runner: Runner, tmp_path: Path) -> None:
    ended = guarded(runner, tmp_path / "run", "poisoned.py", "plain", on_fire="report")
    assert ended.exit_code == 0 and "finite False" in ended.stdout and "iterations 8" in ended.stdout, ended.stderr


def test_workers_of_one_training_veto_nothing(runner: Runner, tmp_path: Path) -> None:
    place = {"TRAINWARDEN_RANK": "0", "TRAINWARDEN_WORLD_SIZE": "2"}
    rules = {"TRAINWARDEN_GUARD_RULES": "ExplodingTensor", "TRAINWARDEN_ON_FIRE": "skip_step"}
    environment = {**runner.attached_environment(tmp_path / "run"), **rules, **place}
    ended = runner.start("poisoned.py", "plain", environment=environment)
    assert "finite False" in ended.stdout
    assert ended.stderr.count("rules cannot veto a step of a training with several workers") == 1, ended.stderr
