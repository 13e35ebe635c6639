"""Programs that change their weights themselves, without an optimizer, are captured step by step too."""

from __future__ import annotations

import weakref
from pathlib import Path

import pytest
import torch
from running import PROGRAMS, Runner

from trainwarden.torch.own_updates import OwnUpdates

STEPS = 12


@pytest.mark.parametrize("how", ["in_place", "by_data", "module"])
def test_each_step_is_seen(tmp_path: Path, how: str) -> None:
    captured = Runner(tmp_path, PROGRAMS).captured("own_updates.py", how)
    assert captured.plain.stdout == captured.attached.stdout != ""
    trial = captured.trial
    # The first step is over when it is seen that there was one; a model that is called before was asked until then.
    assert STEPS - 2 <= len(trial.steps(mode="train")) <= STEPS
    said = [line for step in trial.steps() if "trainwarden/not_captured" in trial.tensor_names(step=step)
            for line in trial.value("trainwarden/not_captured", step)]  # fmt: skip
    assert any("changes its weights itself" in line for line in said)


def test_gradients_without_updates_are_no_training(tmp_path: Path) -> None:
    """As those of an attack, or of a map of what an answer depends on."""
    assert Runner(tmp_path, PROGRAMS).captured("own_updates.py", "never").trial.steps(mode="train") == []


def test_an_optimizer_that_is_made_later_takes_over(tmp_path: Path) -> None:
    captured = Runner(tmp_path, PROGRAMS).captured("own_updates.py", "later")
    assert captured.plain.stdout == captured.attached.stdout
    assert 2 * STEPS - 3 <= len(captured.trial.steps(mode="train")) <= 2 * STEPS


def test_weights_are_let_go_and_inputs_are_never_kept() -> None:
    own, weights = OwnUpdates(), torch.zeros(3, requires_grad=True)
    for _ in range(3):
        own.see_backward((weights * torch.randn(3)).sum())
        weights.grad = torch.ones(3)
        own.see_backward_end()
        with torch.no_grad():
            weights -= 0.1
    assert own.optimizer is not None
    for _ in range(300):
        own.see_backward(weights.sum())
        own.see_backward_end()
    assert own.optimizer is None
    for _ in range(100):
        image = torch.zeros(3, requires_grad=True)
        kept = weakref.ref(image)
        own.see_backward((image * 2).sum())
        own.see_backward_end()
        del image
        assert kept() is None
