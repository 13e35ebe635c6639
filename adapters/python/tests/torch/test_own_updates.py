"""Programs that change their weights themselves, without an optimizer, are captured step by step too."""

from __future__ import annotations

import gc
import json
from pathlib import Path
from typing import Callable

import pytest
import torch
from torch import nn

import trainwarden
import trainwarden.torch as twt
from running import EVERYTHING

_STEPS = 12


@pytest.fixture(autouse=True)
def all_steps_are_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    gc.collect()  # optimizers of other tests are none of these programs
    config = tmp_path / "config.json"
    config.write_text(json.dumps(EVERYTHING))
    monkeypatch.setenv("TRAINWARDEN_CONFIG", str(config))


def _in_place(parameter: torch.Tensor) -> None:
    with torch.no_grad():
        parameter -= 0.1 * parameter.grad


def _by_data(parameter: torch.Tensor) -> None:
    parameter.data -= 0.1 * parameter.grad.data


def _train(parameters: list[torch.Tensor], predict: Callable[[torch.Tensor], torch.Tensor], update: Callable[[torch.Tensor], None]) -> None:
    torch.manual_seed(0)
    for _ in range(_STEPS):
        x = torch.randn(16, 3)
        loss = (predict(x).reshape(-1) - x.sum(dim=1)).square().mean()
        loss.backward()
        for each in parameters:
            update(each)
            each.grad = None


@pytest.mark.parametrize("update", [_in_place, _by_data])
def test_weights_without_a_module(tmp_path: Path, update: Callable[[torch.Tensor], None]) -> None:
    def parameters() -> list[torch.Tensor]:
        torch.manual_seed(1)
        return [torch.randn(3, requires_grad=True), torch.zeros(1, requires_grad=True)]

    plain, watched = parameters(), parameters()
    _train(plain, lambda x: x @ plain[0] + plain[1], update)
    twt.attach(str(tmp_path / "run"))
    _train(watched, lambda x: x @ watched[0] + watched[1], update)
    twt.detach()
    assert all(torch.equal(mine, theirs) for mine, theirs in zip(watched, plain))
    trial = trainwarden.open(tmp_path / "run")
    # The first step is over when it is seen that there was one.
    assert len(trial.steps(mode="train")) == _STEPS - 1
    assert any("changes its weights itself" in line for line in trial.value("trainwarden/not_captured", trial.steps()[0]))


def test_a_module_without_an_optimizer_is_trained(tmp_path: Path) -> None:
    torch.manual_seed(0)
    net = nn.Sequential(nn.Linear(3, 8), nn.ReLU(), nn.Linear(8, 1))
    twt.attach(str(tmp_path / "run"))
    _train(list(net.parameters()), net, _in_place)
    twt.detach()
    assert len(trainwarden.open(tmp_path / "run").steps(mode="train")) >= _STEPS - 2


def test_gradients_without_updates_are_no_training(tmp_path: Path) -> None:
    """As those of an attack, or of a map of what an answer depends on."""
    net = nn.Linear(3, 1)
    twt.attach(str(tmp_path / "run"))
    _train(list(net.parameters()), net, lambda parameter: None)
    twt.detach()
    assert trainwarden.open(tmp_path / "run").steps(mode="train") == []


def test_an_optimizer_that_is_made_later_takes_over(tmp_path: Path) -> None:
    torch.manual_seed(0)
    net = nn.Linear(3, 1)
    twt.attach(str(tmp_path / "run"))
    _train(list(net.parameters()), net, _in_place)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    for _ in range(_STEPS):
        optimizer.zero_grad()
        x = torch.randn(16, 3)
        (net(x) - x.sum(dim=1, keepdim=True)).square().mean().backward()
        optimizer.step()
    twt.detach()
    assert 2 * _STEPS - 3 <= len(trainwarden.open(tmp_path / "run").steps(mode="train")) <= 2 * _STEPS
