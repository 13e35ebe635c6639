"""Which loss is behind the tensor that backward() is called on."""

from __future__ import annotations

import torch
import torch.nn.functional as F

from trainwarden.torch.losses import loss_behind, mark_loss


def marked(reduction: str) -> torch.Tensor:
    loss = F.mse_loss(torch.ones(4, requires_grad=True), torch.zeros(4) - 1, reduction=reduction)
    mark_loss(loss, "mse_loss")
    return loss


def test_a_mean_that_is_scaled_counts_as_it_was_before() -> None:
    name, loss, adds_up = loss_behind(marked("mean") / 8 * 1024.0)
    assert (name, loss.item(), adds_up) == ("mse_loss", 4, False)


def test_a_sum_that_is_divided_is_a_mean() -> None:
    name, loss, adds_up = loss_behind(marked("sum") / 4)
    assert (name, loss.item(), adds_up) == ("loss", 4, True)


def test_a_loss_of_several_is_one_of_its_own() -> None:
    name, loss, adds_up = loss_behind(marked("mean") + 0.5 * marked("mean"))
    assert (name, loss.item(), adds_up) == ("loss", 6, False)


def test_a_mean_that_is_divided_in_place_counts_as_it_was_before() -> None:
    divided = marked("mean")
    divided /= 8
    name, loss, _ = loss_behind(divided)
    assert (name, loss.item()) == ("mse_loss", 4)
