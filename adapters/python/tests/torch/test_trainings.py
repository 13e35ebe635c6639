"""Trainings of one process: which optimizers belong to which, and what is looked at where one interrupts another."""

from __future__ import annotations

import gc
from pathlib import Path

import pytest
import torch
from test_examination import records
from torch import nn

import trainwarden.torch as twt
from trainwarden.torch.examination import allowance
from trainwarden.torch.examination.optimizers import Optimizers


def optimizer() -> torch.optim.Optimizer:
    return torch.optim.SGD([torch.zeros(1, requires_grad=True)], lr=0.1)


def test_several_new_optimizers_are_another_training() -> None:
    seen, judge, maker, critic = Optimizers(), optimizer(), optimizer(), optimizer()
    assert not any(seen.steps(judge, step) for step in range(20))
    begun = [step for step in range(20, 40) for each in (critic, maker) if seen.steps(each, step) == 1]
    assert begun == [28] and seen.is_past(judge) and not seen.is_past(critic)


def test_optimizers_that_step_by_turns_are_one_training() -> None:
    seen = Optimizers()
    maker, critic = optimizer(), optimizer()
    for step in range(60):
        assert seen.steps(critic if step % 6 else maker, step) is None


def test_a_training_that_was_interrupted_goes_on() -> None:
    seen, main = Optimizers(), optimizer()
    assert not any(seen.steps(main, step) for step in range(30))
    probe = optimizer()
    assert [seen.steps(probe, step) for step in range(30, 50)] == [None] * 8 + [1] + [None] * 11
    assert seen.is_past(main) and not seen.interrupts(probe)
    assert seen.steps(main, 50) == 0 and not seen.is_past(main)
    later = optimizer()
    assert [seen.steps(later, step) for step in range(60, 80)] == [None] * 20
    assert seen.interrupts(later)
    assert seen.steps(main, 80) is None and not seen.interrupts(main)
    last = optimizer()
    begun = [step for step in range(90, 190) if seen.steps(last, step) == 2]
    assert begun == [150], "it goes on for three times as long as an interruption"


def test_a_probe_now_and_then_hides_nothing_of_the_training(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRAINWARDEN_EXAMINE", "1")
    monkeypatch.setattr(allowance, "START_SECONDS", 60.0)
    gc.collect()  # models of the tests before are none of this one
    torch.manual_seed(0)
    net = nn.Linear(6, 4)
    main = torch.optim.SGD(net.parameters(), lr=0.1)
    value = torch.randn(16, 6)
    twt.attach(str(tmp_path / "run"))
    for _ in range(4):
        for _ in range(30):
            main.zero_grad()
            net(value).square().mean().backward()
            main.step()
        probe = nn.Linear(4, 2)
        of_probe = torch.optim.SGD(probe.parameters(), lr=0.1)
        for _ in range(20):
            of_probe.zero_grad()
            (1000 + probe(net(value).detach()).square().mean()).backward()
            of_probe.step()
    twt.detach()
    looks = [(record["step"][0], record["training"][0], record["loss"][0]) for record in records(tmp_path / "run") if "loss" in record]
    assert {training for _, training, _ in looks} == {0, 1}
    # The first probe is another training, as far as anybody knows; the first steps of it are taken for the main one.
    assert all(30 <= step < 50 for step, _, loss in looks if loss > 900)
    assert [training for step, training, _ in looks if step >= 50] and {training for step, training, _ in looks if step >= 50} == {0}


def test_another_training_is_seen_while_its_steps_are_only_counted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRAINWARDEN_EXAMINE", "1")
    monkeypatch.setenv("TRAINWARDEN_SAVE_INTERVAL", "100000")
    monkeypatch.setattr(allowance, "START_SECONDS", 0.0)  # what another training is granted is all there is
    monkeypatch.setattr(allowance, "SHARE", 0.0)
    monkeypatch.setattr(allowance, "SECOND_SECONDS", 60.0)
    gc.collect()  # models of the tests before are none of this one
    twt.attach(str(tmp_path / "run"))
    for loss in (1.0, 1000.0):
        net = nn.Linear(6, 4)
        of_net = torch.optim.SGD(net.parameters(), lr=0.01)
        for _ in range(60):
            of_net.zero_grad()
            (loss + net(torch.randn(16, 6)).square().mean()).backward()
            of_net.step()
    twt.detach()
    looks = [(record["step"][0], record["training"][0]) for record in records(tmp_path / "run") if "loss" in record]
    began = min(step for step, training in looks if training == 1)
    assert 68 <= began <= 74
