"""Names of losses and of models."""

from __future__ import annotations

import weakref

import torch
import torch.nn.functional as F
from torch import nn

from trainwarden.torch.naming import loss_name, model_name, variable_name


def test_losses_are_named_after_what_made_them() -> None:
    x, y = torch.randn(4, 3, requires_grad=True), torch.randn(4, 3)
    labels = torch.tensor([0, 1, 2, 0])
    assert loss_name(F.cross_entropy(x, labels)) == "nll_loss"
    assert loss_name(F.mse_loss(x, y)) == "mse_loss"
    assert loss_name(F.smooth_l1_loss(x, y)) == "smooth_l1_loss"
    assert loss_name(x.pow(2).mean()) == "loss"
    assert loss_name(torch.zeros(())) == "loss"


def test_wrappers_leave_no_trace_in_names() -> None:
    assert model_name("_orig_mod.layer1._orig_mod.weight") == "layer1.weight"
    assert model_name("layer1.my_orig_mod.weight") == "layer1.my_orig_mod.weight"


class Trainer:
    def __init__(self) -> None:
        self.generator = nn.Linear(2, 2)

    def name(self) -> object:
        return asked(self.generator)


def asked(thing: object) -> object:
    return variable_name([thing])


def test_variables_of_the_caller() -> None:
    critic = nn.Linear(2, 2)
    assert name_from_inside(critic) == "thing"  # the innermost frame that knows it
    assert variable_name([critic]) == "critic"
    assert variable_name([object()]) is None


def name_from_inside(thing: object) -> object:
    return variable_name([thing])


def test_attributes_of_the_caller() -> None:
    assert Trainer().generator is not None
    trainer = Trainer()
    assert trainer.name() == "thing" or trainer.name() == "generator"


def test_looking_keeps_nothing_alive() -> None:
    dropped = nn.Linear(2, 2)
    gone = weakref.ref(dropped)
    variable_name([object()])
    del dropped
    assert gone() is None
