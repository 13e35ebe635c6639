"""What a loss that the program computes itself compares is read from its graph."""

from __future__ import annotations

from typing import Any, Callable

import pytest
import torch
from torch import nn

from trainwarden.torch.examination.own_losses import compared_in, mark_output

Loss = Callable[[torch.Tensor, torch.Tensor], torch.Tensor]


def behind(loss: torch.Tensor, output: torch.Tensor) -> Any:
    """What a loss compares with this output of a model."""
    mark_output(output)
    return compared_in(loss)


@pytest.mark.parametrize(
    "loss",
    [
        lambda p, y: ((p - y) ** 2).mean(),
        lambda p, y: ((y - p) ** 2).mean(),
        lambda p, y: (p - y).pow(2).sum() / len(y),
        lambda p, y: 0.5 * ((p - y) * (p - y)).mean(),
        lambda p, y: torch.sqrt(((p - y) ** 2).mean()),
        lambda p, y: ((p.squeeze(-1) - y.squeeze(-1)) ** 2).mean() + 0.01 * p.sum(),
        lambda p, y: (p - y).abs().mean(),
    ],
)
def test_differences(loss: Loss) -> None:
    torch.manual_seed(0)
    net, x, y = nn.Linear(3, 1), torch.randn(8, 3), torch.randn(8, 1)
    output = net(x)
    compared = behind(loss(output, y), output)
    assert compared is not None and compared.predicted is not None and compared.target is not None
    assert torch.allclose(compared.target.reshape(-1), y.reshape(-1), atol=1e-6)
    assert torch.equal(compared.predicted.reshape(-1), output.detach().reshape(-1))


@pytest.mark.parametrize(
    "loss",
    [
        lambda p, y: -torch.log_softmax(p, dim=1).gather(1, y[:, None]).mean(),
        lambda p, y: -torch.log_softmax(p, dim=-1)[torch.arange(len(y)), y].sum() / len(y),
        lambda p, y: -torch.log(torch.softmax(p, dim=1))[range(len(y)), y].mean(),
    ],
)
def test_likelihoods(loss: Loss) -> None:
    torch.manual_seed(0)
    net, x, y = nn.Linear(3, 4), torch.randn(8, 3), torch.randint(0, 4, (8,))
    output = net(x)
    value = loss(output, y)
    compared = behind(value, output)
    assert compared is not None and compared.target is not None and compared.has_classes()
    assert torch.equal(compared.target, y)
    plain = compared.plain_loss()
    assert plain is not None and torch.allclose(plain, value.detach(), atol=1e-6)


@pytest.mark.parametrize(
    "loss",
    [
        lambda p, y: p.sum(),
        lambda p, y: (p - p.mean()).pow(2).mean(),  # of two that are learned
        lambda p, y: ((p - y.reshape(1, -1)) ** 2).mean(),  # each with every other
        lambda p, y: -(y * torch.log(torch.sigmoid(p))).mean(),
    ],
)
def test_others_are_left_alone(loss: Loss) -> None:
    net, x, y = nn.Linear(3, 1), torch.randn(8, 3), torch.rand(8, 1)
    output = net(x)
    assert behind(loss(output, y), output) is None


def test_what_was_changed_since_is_left_alone() -> None:
    net, x = nn.Linear(3, 1), torch.randn(8, 3)
    output = net(x)
    difference = output - torch.ones(8, 1)
    value = (difference**2).mean()
    with torch.no_grad():
        difference += 1.0
    assert behind(value, output) is None


@pytest.mark.parametrize(
    "loss",
    [
        lambda p, y: (p - 1).pow(2).mean(),
        lambda p, y: ((1 - p) ** 2).mean(),
        lambda p, y: (p - torch.zeros(8, 1)).abs().mean(),
    ],
)
def test_a_constant_is_no_target(loss: Loss) -> None:
    output = nn.Linear(3, 1)(torch.randn(8, 3))
    assert behind(loss(output, torch.rand(8, 1)), output) is None


@pytest.mark.parametrize("scale", [1e12, 1e38, float("inf"), float("nan")])
def test_of_an_answer_that_is_broken_no_target_can_be_read_back(scale: float) -> None:
    torch.manual_seed(0)
    net, x, y = nn.Linear(3, 1), torch.randn(8, 3), torch.randn(8, 1)
    with torch.no_grad():
        net.weight *= scale
    output = net(x)
    assert behind((output - y).pow(2).mean(), output) is None


@pytest.mark.parametrize("bad", [float("nan"), float("inf")])
def test_a_target_that_is_no_number_by_itself_is_one(bad: float) -> None:
    net, x, y = nn.Linear(3, 1), torch.randn(8, 3), torch.randn(8, 1)
    y[2] = bad
    output = net(x)
    compared = behind((output - y).pow(2).mean(), output)
    assert compared is not None and compared.target is not None
    assert torch.equal(torch.isfinite(compared.target), torch.isfinite(y))
