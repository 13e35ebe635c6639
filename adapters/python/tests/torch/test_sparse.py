"""Programs of which few steps are kept: those steps are what they are when all are kept, and in between nobody is told."""

from __future__ import annotations

import gc
from pathlib import Path
from typing import Any, Iterator

import numpy as np
import pytest
import torch
from running import EVERYTHING, Runner
from torch import nn

import trainwarden
import trainwarden.torch as twt
from trainwarden.torch import listeners

INTERVAL = 3
PROGRAMS = ["resnet_like.py", "hf_style.py", "gan.py", "wgan.py", "accumulation.py", "eval_loop.py", "changing.py", "lbfgs.py",
            "predicting.py"]  # fmt: skip


@pytest.mark.parametrize("program", PROGRAMS)
def test_every_third_step_is_what_it_is_among_all(runner: Runner, program: str) -> None:
    whole = runner.captured(program)
    run_dir = runner.folder / f"sparse-{Path(program).stem}"
    config = {**EVERYTHING, "save": {"save_interval": INTERVAL}}
    ended = runner.start(program, environment=runner.attached_environment(run_dir, config))
    assert (ended.stdout, ended.exit_code) == (whole.plain.stdout, whole.plain.exit_code)
    sparse = trainwarden.open(run_dir)
    assert sparse.modes == whole.trial.modes
    for mode in sparse.modes:
        steps = [step for step in whole.trial.steps(mode) if step % INTERVAL == 0]
        assert sparse.steps(mode) == steps
        for step in steps:
            number = whole.trial.global_step(mode, step)
            assert sparse.global_step(mode, step) == number
            assert values_at(sparse, number) == values_at(whole.trial, number)


def values_at(trial: trainwarden.Trial, global_step: int | None) -> dict[str, bytes]:
    """All tensors but times and what the run says of itself."""
    assert global_step is not None
    names = trial.tensor_names(step=global_step)
    kept = [name for name in names if not name.startswith(("phase/", "phase_total/", "phase_count/", "trainwarden/"))]
    return {name: np.asarray(trial.value(name, global_step)).tobytes() for name in kept}


@pytest.fixture
def told(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """What listeners are told of. Every tenth step is kept."""
    gc.collect()  # optimizers of other tests would be waited for
    for name, value in {"SAVE_ALL": "1", "SAVE_INTERVAL": "10", "WHEN_FULL": "block"}.items():
        monkeypatch.setenv(f"TRAINWARDEN_{name}", value)
    events: list[str] = []
    notify = listeners.board.notify

    def listen(method: str, *args: Any) -> None:
        events.append(method)
        notify(method, *args)

    monkeypatch.setattr(listeners.board, "notify", listen)
    monkeypatch.setenv("TRAINWARDEN_PROFILE_STEPS", "off")
    yield events
    twt.detach()


def test_a_step_of_which_nothing_is_wanted_is_only_counted(told: list[str], tmp_path: Path) -> None:
    net = nn.Sequential(nn.Linear(2, 2), nn.ReLU(), nn.Linear(2, 2))
    optimizer, criterion = torch.optim.SGD(net.parameters(), lr=0.1), nn.MSELoss()
    twt.attach(str(tmp_path / "run"))
    told_at = []
    for step in range(25):
        before = len(told)
        optimizer.zero_grad()
        criterion(net(torch.ones(3, 2)), torch.zeros(3, 2)).backward()
        optimizer.step()
        if len(told) > before:
            told_at.append(step)
    twt.detach()
    assert told_at == [0, 9, 10, 19, 20], "the kept ones, and those before them, which find that out"
    assert trainwarden.open(tmp_path / "run").steps("train") == [0, 10, 20]


def test_steps_whose_operators_are_recorded_are_not_only_counted(
    told: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TRAINWARDEN_PROFILE_STEPS", "5:8")
    net = nn.Linear(2, 2)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    twt.attach(str(tmp_path / "run"))
    told_at = []
    for step in range(25):
        before = len(told)
        net(torch.ones(3, 2)).sum().backward()
        optimizer.step()
        if len(told) > before:
            told_at.append(step)
    twt.detach()
    assert told_at == [0, 4, 5, 6, 7, 9, 10, 19, 20]
    assert trainwarden.open(tmp_path / "run").steps("train") == [0, 10, 20]


def test_in_evaluation_too(told: list[str], tmp_path: Path) -> None:
    net = nn.Linear(2, 2)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    twt.attach(str(tmp_path / "run"))
    net(torch.ones(3, 2)).sum().backward()
    optimizer.step()
    net.eval()
    before = 0
    for step in range(25):
        before = len(told)
        net(torch.ones(3, 2))
        assert (len(told) > before) == (step in (0, 1, 10, 11, 20, 21)), step
    net.train()
    net(torch.ones(3, 2)).sum().backward()
    optimizer.step()
    twt.detach()
    trial = trainwarden.open(tmp_path / "run")
    assert (trial.steps("train"), trial.steps("eval")) == ([0], [0, 10, 20])
    assert trial.global_step("eval", 20) == 21


def test_steps_are_counted_where_training_and_evaluation_take_turns(told: list[str], tmp_path: Path) -> None:
    net = nn.Linear(2, 2)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    twt.attach(str(tmp_path / "run"))
    for _ in range(12):
        net.train()
        for _ in range(4):
            optimizer.zero_grad()
            net(torch.ones(3, 2)).sum().backward()
            optimizer.step()
        net.eval()
        with torch.no_grad():
            net(torch.ones(3, 2))
    twt.detach()
    trial = trainwarden.open(tmp_path / "run")
    assert trial.steps("train") == [0, 10, 20, 30, 40]
    assert [trial.global_step("train", step) for step in trial.steps("train")] == [0, 12, 25, 37, 50]
    assert trial.global_step("eval", 10) == 54


def test_a_second_optimizer_ends_the_quiet(told: list[str], tmp_path: Path) -> None:
    first, second = nn.Linear(2, 2), nn.Linear(2, 2)
    optimizer = torch.optim.SGD(first.parameters(), lr=0.1)
    twt.attach(str(tmp_path / "run"))

    def step_of(net: nn.Module, of_it: torch.optim.Optimizer) -> None:
        net(torch.ones(3, 2)).sum().backward()
        of_it.step()

    for _ in range(5):
        step_of(first, optimizer)
    other = torch.optim.SGD(second.parameters(), lr=0.1)
    for _ in range(20):  # from now on a step is one of each
        step_of(second, other)
        step_of(first, optimizer)
    twt.detach()
    trial = trainwarden.open(tmp_path / "run")
    assert trial.steps("train") == [0, 10, 20]


class Several:
    """Two models, A and B, each with an optimizer."""

    def __init__(self) -> None:
        self.models = {name: nn.Linear(2, 2) for name in "AB"}
        self.optimizers = {name: torch.optim.SGD(model.parameters(), lr=0.1) for name, model in self.models.items()}

    def train(self, order: str) -> None:
        for name in order:
            self.optimizers[name].zero_grad()
            self.models[name](torch.ones(3, 2)).square().mean().backward()
            self.optimizers[name].step()


def test_several_optimizers_that_step_in_turn_are_only_counted(told: list[str], tmp_path: Path) -> None:
    several = Several()
    twt.attach(str(tmp_path / "run"))
    told_at = []
    for step in range(25):
        before = len(told)
        several.train("AB")
        if len(told) > before:
            told_at.append(step)
    twt.detach()
    assert told_at == [0, 9, 10, 19, 20]
    assert trainwarden.open(tmp_path / "run").steps("train") == [0, 10, 20]


# Where nobody is told of most steps they are counted as they are where everybody is told of all.
@pytest.mark.parametrize("order", [
    "AB" * 40, "AB" * 13 + "BA" * 13 + "AB" * 13, "AB" * 13 + "A" * 13 + "AB" * 13, "AB" * 13 + "B" * 13 + "AB" * 13,
    "AB" * 13 + "AAAB" * 7 + "BBA" * 5 + "AB" * 13, "AB" * 12 + "A" + "BA" * 20,
])  # fmt: skip
def test_steps_of_several_optimizers_are_counted_as_they_end(
    told: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, order: str
) -> None:
    steps = {}
    for interval in (1, 10):
        monkeypatch.setenv("TRAINWARDEN_SAVE_INTERVAL", str(interval))
        several, run = Several(), tmp_path / f"run{interval}"
        twt.attach(str(run))
        several.train(order)
        twt.detach()
        steps[interval] = trainwarden.open(run).steps("train")
        del several
        gc.collect()
    assert steps[10] == [step for step in steps[1] if step % 10 == 0]
