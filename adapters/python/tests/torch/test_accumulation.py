"""Several passes before the optimizer steps: which of them repeats another, and what their losses come to."""

from __future__ import annotations

from typing import Any

import torch

from trainwarden.torch.accumulation import PassLosses, Passes, is_divided


class Saved:
    """In place of the bridge."""

    def __init__(self) -> None:
        self.losses: dict[int, float] = {}

    def save(self, tensor_id: int, tensor: Any) -> None:
        assert tensor_id not in self.losses
        self.losses[tensor_id] = float(tensor)


def loss(value: float) -> torch.Tensor:
    return torch.tensor(value)


def step_of(losses: PassLosses, *values: float, adds_up: bool = False) -> None:
    losses.begin_step(is_training=True)
    for value in values:
        losses.save(1, loss(value), adds_up)
        losses.end_backward()


def test_a_pass_that_begins_with_the_same_model_is_a_repetition() -> None:
    passes = Passes()
    assert passes.begin(1) and not passes.is_repeated
    assert not passes.begin(2)  # a part of the same pass
    passes.end_pass()
    assert passes.is_repeated  # until a model shows something else
    assert passes.begin(1) and passes.is_repeated
    passes.end_pass()
    assert passes.begin(3) and not passes.is_repeated  # what a GAN computes for made samples
    passes.end()
    assert passes.begin(1) and not passes.is_repeated  # an optimizer has stepped


def test_the_loss_of_a_step_is_the_mean_over_its_passes() -> None:
    saved = Saved()
    losses = PassLosses(saved)  # type: ignore[arg-type]
    step_of(losses, 1.0, 2.0, 6.0)
    assert saved.losses == {}
    losses.flush()
    assert saved.losses == {1: 3.0}


def test_what_the_program_divides_adds_up() -> None:
    saved = Saved()
    losses = PassLosses(saved)  # type: ignore[arg-type]
    step_of(losses, 0.5, 0.25, adds_up=True)
    losses.flush()
    assert saved.losses == {1: 0.75}
    divided = torch.ones(1, requires_grad=True).sum() / 4
    assert is_divided(divided) and not is_divided(divided + 1)


def test_where_steps_have_one_pass_losses_are_saved_at_once() -> None:
    saved = Saved()
    losses = PassLosses(saved)  # type: ignore[arg-type]
    step_of(losses, 1.0)
    losses.flush()
    assert saved.losses.pop(1) == 1.0
    step_of(losses, 2.0, 4.0)  # an accumulation begins: the first stands for this step
    assert saved.losses.pop(1) == 2.0
    losses.flush()
    step_of(losses, 2.0, 4.0)
    losses.flush()
    assert saved.losses == {1: 3.0}


def test_losses_of_evaluation_are_saved_at_once_and_what_is_cut_short_is_gone() -> None:
    saved = Saved()
    losses = PassLosses(saved)  # type: ignore[arg-type]
    losses.begin_step(is_training=False)
    losses.save(1, loss(5.0), adds_up=False)
    assert saved.losses.pop(1) == 5.0
    step_of(losses, 1.0)
    losses.begin_step(is_training=True)
    losses.flush()
    assert saved.losses == {}
