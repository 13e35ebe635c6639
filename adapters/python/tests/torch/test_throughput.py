"""How a training goes is saved where nobody has said what to save: learning rate, norm of the gradients, speed."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
from running import Runner

import trainwarden
from trainwarden.torch.throughput import Throughput


def test_is_saved_by_default(runner: Runner, tmp_path: Path) -> None:
    environment = runner.attached_environment(tmp_path / "run")
    environment["TRAINWARDEN_BUDGET"] = "0"  # no step is left out
    ended = runner.start("tokens.py", environment=environment)
    assert (ended.stderr, ended.exit_code) == ("", 0)
    trial = trainwarden.open(tmp_path / "run")
    assert trial.tensor("trainwarden/learning_rate/0").steps("train") == [0, 1, 2]
    assert trial.tensor("trainwarden/clip/norm").steps("train") == [0, 1, 2]
    for step in (1, 2):  # how long the first took is not known
        seconds = trial.scalar("trainwarden/step_seconds", step, "train")
        assert trial.scalar("trainwarden/samples_per_second", step, "train") * seconds == pytest.approx(8)
        assert trial.scalar("trainwarden/tokens_per_second", step, "train") * seconds == pytest.approx(48)
    assert trial.tensor("trainwarden/tokens_per_second").steps("train") == [1, 2]


def test_numbers_that_are_no_tokens() -> None:
    throughput = Throughput()
    throughput.see_call(1, (torch.tensor(0.5), {"image": torch.zeros(3, 5)}), {})
    assert throughput.take() == (3, 0)
    assert throughput.take() == (0, 0)


def test_of_models_that_train_together_the_largest_batch_counts() -> None:
    throughput = Throughput()
    throughput.see_call(1, (torch.zeros(4, 2),), {})
    for _ in range(2):
        throughput.see_call(2, (torch.zeros(4, 2),), {})
    throughput.see_call(3, ("words",), {})
    assert throughput.take() == (8, 0)
