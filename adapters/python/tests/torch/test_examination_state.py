"""What an examination sees of states that are loaded and of the running statistics of batch norm."""

from __future__ import annotations

import json
import math
import os
import subprocess
import sys
from pathlib import Path
from typing import Any, Optional

import pytest
import torch
from test_examination import texts
from test_examination_shapes import numbers_of
from torch import nn

import trainwarden
import trainwarden.torch as twt
from trainwarden.torch import signal_sources
from trainwarden.torch.examination import loaded_files
from trainwarden.torch.examination.norms import Norms
from trainwarden.torch.examination.numbers import Numbers


def seen(norm: nn.Module, value: torch.Tensor) -> list[float]:
    class Part:
        def add(self, numbers: Numbers) -> None:
            norms = Norms()
            norms.see("norm", norm, (value,))
            norms.add(numbers, ["other", "norm"])

    return numbers_of(Part()).get("norms", [])


@pytest.mark.parametrize("kind, shape", [(nn.BatchNorm1d, (64, 3)), (nn.BatchNorm2d, (16, 3, 5, 5))])
def test_statistics_of_batches_are_compared_with_the_running_ones(kind: Any, shape: tuple[int, ...]) -> None:
    torch.manual_seed(0)
    norm = kind(3)
    value = 4 * torch.randn(shape) + 6
    nothing, neither, far, logarithm = seen(norm, value)
    assert math.isnan(nothing) and math.isnan(neither)
    assert far == pytest.approx(6, abs=0.8) and logarithm == pytest.approx(math.log(16), abs=0.3)
    for _ in range(60):
        norm(value)
    _, _, far, logarithm = seen(norm, value)
    assert far < 0.2 and abs(logarithm) < 0.2
    norm.eval()
    assert seen(norm, value) == []
    assert seen(kind(3, track_running_stats=False), value) == []
    assert seen(nn.LayerNorm(shape[-1]), value) == []


@pytest.fixture
def optimizer(monkeypatch: pytest.MonkeyPatch) -> torch.optim.Optimizer:
    monkeypatch.setattr(loaded_files, "_found", [])
    monkeypatch.setattr(loaded_files, "_given", 0)
    return trained()


def trained(rate: float = 0.1) -> torch.optim.Optimizer:
    net = nn.Linear(3, 2)
    optimizer = torch.optim.Adam(net.parameters(), lr=rate)
    net(torch.ones(1, 3)).sum().backward()
    optimizer.step()
    return optimizer


def test_states_of_optimizers_are_found_in_what_is_read(optimizer: torch.optim.Optimizer) -> None:
    assert loaded_files.describe([optimizer]) is None
    loaded_files.note({"model": {"weight": torch.ones(2)}, "epoch": 3})
    loaded_files.note({"state": {}, "param_groups": []})  # of one that has never stepped
    loaded_files.note([optimizer.state_dict()])
    assert loaded_files.describe([optimizer]) is None
    loaded_files.note({"training": {"optimizer": optimizer.state_dict()}})
    assert loaded_files.describe([optimizer]) == {"optimizers": 1, "given": 0, "fits": True}
    assert loaded_files.describe([trained(0.2)]) == {"optimizers": 1, "given": 0, "fits": False}


def test_what_is_loaded_is_looked_at(optimizer: torch.optim.Optimizer, monkeypatch: pytest.MonkeyPatch) -> None:
    """Through functions of the test's own: those of torch may have ours in them already, from another test."""
    monkeypatch.setenv("TRAINWARDEN_EXAMINE", "1")
    read = {"optimizer": optimizer.state_dict()}
    signal_sources._note_loaded(read)
    other = trained()
    assert loaded_files.describe([other]) == {"optimizers": 1, "given": 0, "fits": True}
    loaded_files._note_given(other, read["optimizer"])
    assert loaded_files.describe([other]) == {"optimizers": 1, "given": 1, "fits": True}


def printed_by(program: str, run: Path, examine: str = "1") -> str:
    """In a process of its own, which no optimizer and no watcher of another test is in."""
    done = subprocess.run(
        [sys.executable, "-c", program, str(run)],
        env={**os.environ, "TRAINWARDEN_EXAMINE": examine}, capture_output=True, text=True, check=True,
    )  # fmt: skip
    return done.stdout.strip()


def test_the_two_stand_in_torch_where_trainings_are_examined(tmp_path: Path) -> None:
    program = """
import sys, torch
import trainwarden.torch as twt
from trainwarden.torch.examination import loaded_files
twt.attach(sys.argv[1])
net = torch.nn.Linear(2, 2)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1, momentum=0.9)
net(torch.ones(1, 2)).sum().backward()
optimizer.step()
torch.save(optimizer.state_dict(), sys.argv[1] + ".pt")
optimizer.load_state_dict(torch.load(sys.argv[1] + ".pt"))
print(loaded_files.describe([optimizer]))
twt.detach()
"""
    for is_on, said in (("1", "{'optimizers': 1, 'given': 1, 'fits': True}"), ("0", "None")):
        assert printed_by(program, tmp_path / f"run{is_on}", is_on) == said


def test_an_optimizer_that_is_gone_at_the_end_is_described_as_it_was(tmp_path: Path) -> None:
    """That of a function which trains, before the best state is loaded."""
    program = """
import gc, sys, torch
import trainwarden.torch as twt
net = torch.nn.Linear(3, 1)

def train():
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    for _ in range(12):
        optimizer.zero_grad()
        net(torch.ones(2, 3)).sum().backward()
        optimizer.step()
    return {name: each.clone() for name, each in net.state_dict().items()}

twt.attach(sys.argv[1])
best = train()
gc.collect()
net.load_state_dict(best)
twt.detach()
"""
    printed_by(program, tmp_path / "run")
    trial, name = trainwarden.open(tmp_path / "run"), "trainwarden/examination/structure"
    steps = [step for step in trial.steps() if name in trial.tensor_names(step=step)]
    last = json.loads(trial.value(name, steps[-1])[0])
    assert [each["kind"] for each in last["optimizers"]] == ["SGD"]
    assert all(each["optimizers"] == [0] for each in last["parameters"])
    assert last["loaded"][0]["kind"] == "Linear"


@pytest.mark.parametrize("second_steps_from", [None, 30])
def test_the_structure_says_which_optimizers_have_stepped(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, second_steps_from: Optional[int]
) -> None:
    monkeypatch.setenv("TRAINWARDEN_EXAMINE", "1")
    first, second = nn.Linear(4, 8), nn.Linear(8, 2)
    optimizers = [torch.optim.Adam(first.parameters()), torch.optim.Adam(second.parameters())]
    net = nn.Sequential(first, nn.ReLU(), second)
    twt.attach(str(tmp_path / "run"))
    for step in range(40):
        for optimizer in optimizers:
            optimizer.zero_grad()
        nn.functional.cross_entropy(net(torch.randn(16, 4)), torch.randint(2, (16,))).backward()
        optimizers[0].step()
        if second_steps_from is not None and step >= second_steps_from:
            optimizers[1].step()
    twt.detach()
    stepped = [[each["stepped"] for each in structure["optimizers"]] for structure in texts(tmp_path / "run", "structure")]
    assert stepped[0] == [True, False]
    assert stepped[-1] == [True, second_steps_from is not None]
