"""A hook and a watcher of one's own."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any, Iterator

import numpy as np
import pytest
import torch
from asking import ask_for_checkpoint
from torch import nn

import trainwarden
import trainwarden.torch as twt


class Net(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.conv = nn.Conv1d(2, 3, 1)
        self.norm = nn.BatchNorm1d(3)
        self.relu = nn.ReLU(inplace=True)
        self.fc = nn.Linear(3, 2)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.fc(self.relu(self.norm(self.conv(x))).mean(-1))


@pytest.fixture
def hook(tmp_path: Path) -> Iterator[trainwarden.Hook]:
    with trainwarden.Hook(tmp_path / "run", save_all=True, save=1, when_full="block") as hook:
        yield hook


def finished(hook: trainwarden.Hook) -> trainwarden.Trial:
    hook.close()
    return trainwarden.open(hook.run_dir)


def train_step(model: nn.Module, optimizer: torch.optim.Optimizer, criterion: Any) -> torch.Tensor:
    optimizer.zero_grad()
    loss = criterion(model(torch.randn(4, 2, 5)), torch.zeros(4, 2))
    loss.backward()
    optimizer.step()
    return loss


def test_a_model_its_optimizer_and_its_loss(hook: trainwarden.Hook) -> None:
    model, criterion = Net(), nn.MSELoss()
    optimizer = torch.optim.Adam(model.parameters())
    with twt.watch(hook, model, optimizer) as watcher:
        losses = [train_step(model, optimizer, criterion).item()]
        end = watcher.step()
    assert (end.global_step, end.stop_requested) == (0, False)
    train_step(model, optimizer, criterion)  # nobody watches any more
    trial = finished(hook)
    assert trial.scalar("MSELoss_output_0", 0) == losses[0]
    names = set(trial.tensor_names())
    assert {"conv.weight", "gradient/conv.weight", "norm.running_mean", "optimizer_state/fc.bias/exp_avg"} <= names
    assert {"conv_input_0", "relu_output_0", "Net_output_0", "phase/forward", "phase/optimizer"} <= names
    assert trial.steps() == [0]


@pytest.mark.parametrize(
    "tensor", ["gradient/fc.weight", "optimizer_state/fc.weight/exp_avg", "MSELoss_input_1", "norm.running_mean"]
)
def test_what_is_chosen_by_a_pattern_is_there_from_the_first_step_on(tmp_path: Path, tensor: str) -> None:
    model, criterion = Net(), nn.MSELoss()
    optimizer = torch.optim.Adam(model.parameters())
    hook = trainwarden.Hook(tmp_path / "run", include=[f"^{tensor}$"], save=2)
    with twt.watch(hook, model, optimizer) as watcher:
        for _ in range(5):
            train_step(model, optimizer, criterion)
            watcher.step()
    assert finished(hook).tensor(tensor).steps() == [0, 2, 4]


def test_without_an_optimizer(hook: trainwarden.Hook) -> None:
    model = nn.Linear(2, 1)
    watcher = twt.watch(hook, model, prefix="mine.")
    with torch.no_grad():
        before = model.weight.clone()
    model(torch.ones(1, 2)).sum().backward()
    watcher.step()
    trial = finished(hook)
    np.testing.assert_array_equal(trial.value("mine.weight", 0), before.numpy())
    np.testing.assert_array_equal(trial.value("gradient/mine.weight", 0), np.ones((1, 2), np.float32))
    watcher.detach()


def test_modes(hook: trainwarden.Hook) -> None:
    model = Net()
    with twt.watch(hook, model) as watcher:
        watcher.set_mode("train")
        model(torch.randn(4, 2, 5)).sum().backward()
        watcher.step()
        watcher.set_mode("eval")
        model(torch.randn(4, 2, 5))
        watcher.step()
    trial = finished(hook)
    assert trial.tensor("fc_output_0").steps("eval") == [0]
    assert trial.tensor("gradient/fc.weight").steps("train") == [0]


def test_only_what_is_wanted(tmp_path: Path) -> None:
    hook = trainwarden.Hook(tmp_path / "run", include_collections=["gradients"], save=2)
    model = Net()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    with twt.watch(hook, model, optimizer) as watcher:
        for _ in range(4):
            train_step(model, optimizer, nn.MSELoss())
            watcher.step()
    trial = finished(hook)
    assert trial.tensor("gradient/fc.weight").steps() == [0, 2]
    assert not trial.has_tensor("fc.weight")
    assert not trial.has_tensor("fc_output_0")


def test_only_layers_of_a_kind_that_is_wanted_are_looked_at(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    hook = trainwarden.Hook(tmp_path / "run", include_collections=["relu_inputs"], save=2)
    model = Net()
    watcher = twt.watch(hook, model)
    called = []
    monkeypatch.setattr(watcher, "call_begins", lambda module, args, kwargs: called.append(module))
    for _ in range(2):
        model(torch.randn(4, 2, 5))
        watcher.step()
    watcher.detach()
    assert called == [model, model.relu, model]
    finished(hook)


def test_layouts_and_types(hook: trainwarden.Hook) -> None:
    class Odd(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.register_buffer("transposed", torch.arange(6.0).reshape(2, 3).t())
            self.register_buffer("conjugated", torch.tensor([1 + 2j, 3 - 1j]).conj())
            self.register_buffer("brain", torch.tensor([1.5, 2.5], dtype=torch.bfloat16))
            self.register_buffer("flags", torch.tensor([True, False]))
            self.register_buffer("sparse", 2 * torch.eye(3).to_sparse())
            self.register_buffer("quantised", torch.quantize_per_tensor(torch.ones(2), 0.1, 0, torch.qint8))
            self.register_buffer("empty", torch.empty(0, 3))
            self.register_buffer("scalar", torch.tensor(7))
            self.weight = nn.Parameter(torch.ones(2))

    model = Odd()
    twt.watch(hook, model).step()
    trial = finished(hook)
    np.testing.assert_array_equal(trial.value("transposed", 0), np.arange(6.0, dtype=np.float32).reshape(2, 3).T)
    np.testing.assert_array_equal(trial.value("conjugated", 0), [1 - 2j, 3 + 1j])
    assert trial.tensor_info("brain").dtype == "bfloat16"
    assert trial.value("flags", 0).tolist() == [True, False]
    assert trial.shape("empty", 0) == (0, 3)
    assert trial.scalar("scalar", 0) == 7
    assert trial.value("sparse", 0).tolist() == [2, 2, 2], "by the values that it holds"
    assert not trial.has_tensor("quantised")
    assert [(loss.cause, loss.count) for loss in hook.report().losses] == [("unsupported", 1)]


def test_a_fault_is_kept_from_the_training(hook: trainwarden.Hook, capsys: pytest.CaptureFixture[str]) -> None:
    model = nn.Linear(2, 1)
    watcher = twt.watch(hook, model)
    before = twt.failures()
    watcher._recorder.losses.see_root = raise_fault  # type: ignore[method-assign]
    model(torch.ones(1, 2)).sum().backward()
    model(torch.ones(1, 2)).sum().backward()
    watcher.detach()
    assert twt.failures() == before + 2
    assert capsys.readouterr().err.count("could not capture the loss of a backward pass") == 1


def raise_fault(tensors: object) -> None:
    raise RuntimeError("a fault of ours")


def test_nothing_is_kept_alive(hook: trainwarden.Hook) -> None:
    import gc
    import weakref

    model = Net()
    watcher = twt.watch(hook, model)
    output = model(torch.randn(4, 2, 5))
    graph = weakref.ref(output)
    output.sum().backward()
    watcher.step()
    del output
    assert graph() is None
    gone = weakref.ref(model)
    watcher.detach()
    del model
    gc.collect()
    assert gone() is None


def test_random_numbers_are_untouched(hook: trainwarden.Hook) -> None:
    torch.manual_seed(3)
    model = Net()
    expected = torch.random.get_rng_state()
    with twt.watch(hook, model) as watcher:
        watcher.step()
    assert torch.equal(torch.random.get_rng_state(), expected)


def phases_at(trial: trainwarden.Trial, step: int) -> dict[str, float]:
    names = [name for name in trial.tensor_names() if name.startswith("phase/")]
    return {name[6:]: trial.scalar(name, step) for name in names if step in trial.tensor(name).steps()}


def test_phases_sum_to_the_step(hook: trainwarden.Hook) -> None:
    model, criterion = Net(), nn.MSELoss()
    optimizer = torch.optim.Adam(model.parameters())
    with twt.watch(hook, model, optimizer) as watcher:
        for _ in range(2):
            train_step(model, optimizer, criterion)
            watcher.step()
            watcher.set_mode("eval")
            model(torch.randn(4, 2, 5))
            watcher.step()
            watcher.set_mode("train")
        train_step(model, optimizer, criterion)
        watcher.step()
    steps = [phases_at(finished(hook), step) for step in (0, 2, 4)]
    for step, whole in zip(steps, ("start", "step", "step")):
        wall = step.pop(whole)
        assert sum(step.values()) == pytest.approx(wall, rel=1e-9)
        assert {"forward", "loss", "backward", "optimizer", "zero_grad", "capture"} <= set(step)
    assert ["evaluation" in step for step in steps] == [False, True, True]


def test_what_the_program_saves_on_request_is_a_checkpoint_and_no_capture(hook: trainwarden.Hook) -> None:
    model, criterion = Net(), nn.MSELoss()
    optimizer = torch.optim.Adam(model.parameters())
    saved: list[int] = []

    def save(step: int, request: object) -> None:
        saved.append(step)
        time.sleep(0.5)

    hook.on_checkpoint(save)
    with twt.watch(hook, model, optimizer) as watcher:
        for step in range(1000):
            train_step(model, optimizer, criterion)
            if step == 0:
                ask_for_checkpoint(Path(hook.run_dir))
            watcher.step()
            if saved:
                break
        train_step(model, optimizer, criterion)
        watcher.step()
    after = phases_at(finished(hook), saved[0] + 1)
    assert after["checkpoint"] >= 0.5 > after["capture"]
