"""Loops over tf.GradientTape that lie within a compiled function as a whole: one call has many steps."""

from __future__ import annotations

import os
from importlib.metadata import version
from pathlib import Path
from typing import Optional

import numpy as np
import pytest
from untouched import EVERYTHING, Ended, Runner

import trainwarden
from trainwarden.keras.whole_loops import rows_asked_for

IS_KERAS_2 = version(os.environ.get("KERAS_PACKAGE", "keras")).startswith("2.")
ON = os.environ.get("KERAS_BACKEND", "tensorflow") == "tensorflow" or IS_KERAS_2
pytestmark = pytest.mark.skipif(not ON, reason="loops over tf.GradientTape")

OFF_LINE = "trainwarden: steps in a loop within a compiled function are counted"
KERNEL = "dense/kernel" if IS_KERAS_2 else "sequential/dense/kernel"
WAYS = ["dataset", "nested", "branches", "compiled", "two", "seldom" if IS_KERAS_2 else "scaled"]


class Loop:
    """A program that was captured."""

    def __init__(self, ended: Ended, run_dir: Path) -> None:
        self.ended = ended
        self.trial = trainwarden.open(run_dir)

    def losses(self, name: str = "loss") -> list[Optional[float]]:
        return [self.trial.scalar(name, step, "train") for step in self.trial.tensor(name).steps("train")]


_kept: dict[tuple[str, str], Loop] = {}


def captured(runner: Runner, way: str, rows: str, config: Optional[dict[str, object]] = None) -> Loop:
    """Each is run once for all tests that ask, unless it has a configuration."""
    key = (way, rows)
    if config is not None or key not in _kept:
        run_dir = runner.folder / f"{way}-{rows}-{len(list(runner.folder.iterdir()))}"
        environment = runner.attached_environment(run_dir, EVERYTHING if config is None else config)
        environment["TRAINWARDEN_LOOP_STEPS"] = rows
        loop = Loop(runner.start("whole_loop.py", way, environment=environment), run_dir)
        if config is not None:
            return loop
        _kept[key] = loop
    return _kept[key]


@pytest.mark.parametrize("way", WAYS)
def test_each_step_is_seen_and_no_bit_changes(runner: Runner, way: str) -> None:
    plain = runner.captured("whole_loop.py", way).plain
    loop = captured(runner, way, "on")
    assert plain.exit_code == loop.ended.exit_code == 0, loop.ended.stderr
    assert loop.ended.stdout == plain.stdout
    assert loop.ended.stderr.count("trainwarden:") == (1 if way in ("seldom", "scaled") else 0), loop.ended.stderr
    assert loop.trial.steps("train") == list(range(24))
    last = [float(line.split()[1]) for line in plain.stdout.splitlines() if line.startswith("loss ")]
    losses = loop.losses()
    assert len(losses) == 24
    if way != "scaled":  # which is that of the tape
        assert [losses[11], losses[23]] == last


def test_losses_and_statistics_are_those_of_the_same_steps_one_by_one(runner: Runner) -> None:
    reference = runner.captured("whole_loop.py", "stepwise_two").trial
    loop = captured(runner, "two", "on")
    for name in ("loss", "loss#1"):
        expected = [reference.scalar(name, step, "train") for step in range(24)]
        assert loop.losses(name) == pytest.approx(expected, rel=1e-5)
    for name in (KERNEL, f"gradient/{KERNEL}"):
        for step in range(24):
            found = loop.trial.tensor(name).statistics(step, mode="train")
            value = reference.tensor(name).value(step, mode="train")
            assert found.mean == pytest.approx(float(value.mean()), rel=1e-4, abs=1e-6), (name, step)
            assert (found.min, found.max) == pytest.approx((value.min(), value.max()), rel=1e-4, abs=1e-6)
            assert found.zero_count == np.count_nonzero(value == 0)


def test_rows_that_were_overwritten_are_said_to_be_lost(runner: Runner) -> None:
    loop = captured(runner, "dataset", "5")
    whole = captured(runner, "dataset", "on")
    seen = [*range(7, 12), *range(19, 24)]
    assert loop.trial.tensor("loss").steps("train") == seen
    assert loop.losses() == [whole.losses()[step] for step in seen]
    said = "of 12 steps in one call the first 7 were overwritten, in further calls as well: TRAINWARDEN_LOOP_STEPS=12"
    assert loop.ended.stderr.count(said) == 1, loop.ended.stderr


def test_what_nobody_wants_is_not_in_the_loop(runner: Runner) -> None:
    loop = captured(runner, "dataset", "on", {"include_collections": ["losses"], "save": {"save_interval": 1}})
    assert loop.ended.stdout == runner.captured("whole_loop.py", "dataset").plain.stdout
    assert loop.trial.tensor("loss").steps("train") == list(range(24))
    assert loop.trial.tensor_names(collection="gradients") == []


def test_a_loop_that_fails_leaves_the_steps_before(runner: Runner) -> None:
    plain = runner.captured("whole_loop.py", "fails").plain
    loop = captured(runner, "fails", "on")
    assert loop.ended.stdout == plain.stdout and "failed" in plain.stdout, loop.ended.stderr
    assert loop.trial.tensor("loss").steps("train") == list(range(12 + 6))


def test_without_being_asked_steps_are_counted_and_a_line_says_so(runner: Runner) -> None:
    ran = runner.captured("whole_loop.py", "dataset")
    assert ran.attached.exit_code == 0 and ran.attached.stdout == ran.plain.stdout, ran.attached.stderr
    assert ran.attached.stderr.count("trainwarden:") == ran.attached.stderr.count(OFF_LINE) == 1, ran.attached.stderr
    assert ran.trial.steps("train") == [11, 23]
    assert ran.trial.tensor(KERNEL).steps("train") == [11, 23]
    assert "loss" not in ran.trial.tensor_names()


def test_an_interval_is_one_of_steps(runner: Runner) -> None:
    config: dict[str, object] = {"include_collections": ["weights"], "save": {"save_interval": 10}}
    assert captured(runner, "dataset", "off", config).trial.tensor(KERNEL).steps("train") == [11, 23]


def test_how_many_steps_are_kept(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    for text, rows in (("", 0), ("off", 0), ("0", 0), ("on", 64), ("1", 1), ("200", 200), ("many", 0)):
        monkeypatch.setenv("TRAINWARDEN_LOOP_STEPS", text)
        assert rows_asked_for() == rows, text
    assert capsys.readouterr().err.count("TRAINWARDEN_LOOP_STEPS: expected a number of steps") == 1
