"""Passes: what is counted of calls of models, in steps that are looked at and in those that are only counted."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from pathlib import Path

import pytest
import torch
from test_examination import records
from torch import nn

import trainwarden.torch as twt
from trainwarden.torch.examination.allowance import Allowance


@pytest.fixture(autouse=True)
def looked_at_first(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The first steps are looked at, all others are only counted."""
    for name, value in {"EXAMINE": "1", "SAVE_INTERVAL": "100000"}.items():
        monkeypatch.setenv(f"TRAINWARDEN_{name}", value)
    monkeypatch.setattr(Allowance, "may_examine", lambda self, step: step < 4)
    monkeypatch.setattr(Allowance, "may_look", lambda self, step: False)
    monkeypatch.setattr(Allowance, "is_due", lambda self, step: False)
    monkeypatch.setattr(Allowance, "may_evaluate", lambda self, after_step: False)
    gc.collect()  # models of the tests before are none of this one
    yield
    twt.detach()


def counts_of_training(run: Path, steps: int, evaluated: set[int], mode: bool, input_is_kept: bool = False) -> list[float]:
    """Of a training with evaluations of 3 batches before these steps, in training mode or not."""
    torch.manual_seed(0)
    net = nn.Sequential(nn.Linear(4, 8), nn.Dropout(0.1), nn.Linear(8, 3))
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    kept = torch.randn(16, 4)
    twt.attach(str(run))
    for step in range(steps):
        if step in evaluated:
            net.train(mode)
            with torch.no_grad():
                for _ in range(3):
                    net(kept if input_is_kept else torch.randn(16, 4))
            net.train()
        optimizer.zero_grad()
        net(torch.randn(16, 4)).sum().backward()
        optimizer.step()
    twt.detach()
    return records(run)[-1]["counts"]


def test_steps_with_calls_without_gradients_are_counted(tmp_path: Path) -> None:
    counts = counts_of_training(tmp_path / "run", 4, {2, 3}, mode=True)
    assert counts[5] == 6 and counts[11] == 2


def test_calls_in_steps_that_are_only_counted_are_seen(tmp_path: Path) -> None:
    counts = counts_of_training(tmp_path / "run", 80, {50, 70}, mode=True)
    assert counts[0] < 20, "most steps were only counted"
    assert [counts[4], counts[5], counts[11]] == [6, 6, 2]
    assert counts[12:] == [80, 0]


def test_an_evaluation_in_its_own_mode_is_told_from_these(tmp_path: Path) -> None:
    counts = counts_of_training(tmp_path / "run", 80, {50, 70}, mode=False)
    assert [counts[5], counts[11]] == [0, 0]
    assert counts[12:] == [80, 6]


def test_passes_of_the_same_input_are_told_from_these(tmp_path: Path) -> None:
    counts = counts_of_training(tmp_path / "run", 80, {50, 70}, mode=True, input_is_kept=True)
    assert counts[5] == 6 and counts[10] >= 4, "they are averaged, perhaps"
