"""attach() and detach() in a process that runs already, as in a notebook."""

from __future__ import annotations

from pathlib import Path
from typing import Iterator

import pytest
import torch
from torch import nn

import trainwarden
import trainwarden.torch as twt


@pytest.fixture(autouse=True)
def everything(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("TRAINWARDEN_SAVE_ALL", "1")
    monkeypatch.setenv("TRAINWARDEN_SAVE_INTERVAL", "1")
    monkeypatch.setenv("TRAINWARDEN_WHEN_FULL", "block")
    yield
    twt.detach()


def train(net: nn.Module, optimizer: torch.optim.Optimizer, steps: int) -> None:
    for _ in range(steps):
        optimizer.zero_grad()
        nn.functional.mse_loss(net(torch.randn(3, 2)), torch.zeros(3, 2)).backward()
        optimizer.step()


def models() -> tuple[nn.Module, torch.optim.Optimizer]:
    net = nn.Sequential(nn.Linear(2, 2))
    return net, torch.optim.SGD(net.parameters(), lr=0.1)


def test_from_attach_to_detach(tmp_path: Path) -> None:
    net, optimizer = models()
    train(net, optimizer, 2)
    twt.attach(str(tmp_path / "run"))
    twt.attach(str(tmp_path / "other"))  # again: nothing
    train(net, optimizer, 3)
    twt.detach()
    train(net, optimizer, 2)
    trial = trainwarden.open(tmp_path / "run")
    assert trial.steps("train") == [0, 1, 2]
    assert trial.state.value == "completed"
    assert not (tmp_path / "other").exists()


def test_again(tmp_path: Path) -> None:
    net, optimizer = models()
    for name in ("first", "second"):
        twt.attach(str(tmp_path / name))
        train(net, optimizer, 2)
        twt.detach()
    assert trainwarden.open(tmp_path / "second").steps("train") == [0, 1]


def test_a_step_that_was_open_is_none_of_the_next_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("TRAINWARDEN_SAVE_ALL")
    monkeypatch.delenv("TRAINWARDEN_SAVE_INTERVAL")
    (tmp_path / "config.json").write_text('{"include_collections": ["gradients"], "save": {"save_interval": 4}}')
    monkeypatch.setenv("TRAINWARDEN_CONFIG", str(tmp_path / "config.json"))
    net, optimizer = models()
    for name in ("first", "second"):
        twt.attach(str(tmp_path / name))
        train(net, optimizer, 6)
        net(torch.randn(3, 2))  # of a step of which nothing is kept
        twt.detach()
    assert trainwarden.open(tmp_path / "second").steps() == [0, 4]


def test_an_optimizer_whose_step_raises_is_not_waited_for(tmp_path: Path) -> None:
    class Failing(torch.optim.SGD):
        def step(self, closure=None):  # type: ignore[no-untyped-def]
            raise RuntimeError("no step today")

    net, optimizer = models()
    other = nn.Linear(2, 2)
    failing = Failing(other.parameters(), lr=0.1)
    twt.attach(str(tmp_path / "run"))
    for _ in range(5):
        train(net, optimizer, 1)
        with pytest.raises(RuntimeError, match="no step today"):
            failing.step()
    twt.detach()
    assert len(trainwarden.open(tmp_path / "run").steps("train")) == 5


def test_an_optimizer_that_uses_another_one_is_one_step(tmp_path: Path) -> None:
    class Outer(torch.optim.Optimizer):
        def __init__(self, inner: torch.optim.Optimizer) -> None:
            super().__init__(inner.param_groups, {})
            self.inner = inner

        def step(self, closure=None):  # type: ignore[no-untyped-def]
            self.inner.step()
            self.inner.step()

    net, inner = models()
    twt.attach(str(tmp_path / "run"))
    train(net, Outer(inner), 3)
    twt.detach()
    assert gradient_steps(tmp_path / "run") == [0, 1, 2]


def test_trained_in_eval_mode(tmp_path: Path) -> None:
    net, optimizer = models()
    net.eval()  # as when the statistics of batch normalisation are frozen
    twt.attach(str(tmp_path / "run"))
    train(net, optimizer, 3)
    twt.detach()
    assert gradient_steps(tmp_path / "run") == [0, 1, 2]


def gradient_steps(run_dir: Path) -> list[int]:
    """Of the first weight. Other models may live in this process, so its name may have a prefix."""
    trial = trainwarden.open(run_dir)
    names = [name for name in trial.tensor_names(collection="gradients") if name.endswith("0.weight")]
    return trial.tensor(names[0]).steps("train")
