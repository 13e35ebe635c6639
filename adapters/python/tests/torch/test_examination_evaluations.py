"""What an examination sees of evaluations: when they come, what they get, and what they leave behind."""

from __future__ import annotations

import copy
from pathlib import Path

import pytest
import torch
from test_examination import records
from torch import nn

import trainwarden.torch as twt
from trainwarden.torch.examination.features import features_of
from trainwarden.torch.examination.rhythm import Rhythm


def test_the_next_evaluation_is_expected_at_the_same_distance() -> None:
    rhythm = Rhythm()
    assert not any(rhythm.is_around(step) for step in range(100))
    rhythm.evaluation_follows(9)  # after 10 steps
    assert [step for step in range(100) if rhythm.is_around(step)] == [19, 20]
    rhythm.evaluation_follows(24)
    assert [step for step in range(100) if rhythm.is_around(step)] == [39, 40]
    rhythm.evaluation_follows(25)  # after each step: nothing lies around it
    assert not any(rhythm.is_around(step) for step in range(100))


def test_features_of_numbers_and_tokens() -> None:
    numbers = torch.tensor([[0.0, 1.0], [2.0, 1.0], [0.0, 1.0], [2.0, 1.0]])
    tokens = torch.tensor([[3, 4]] * 16)
    of_numbers, of_tokens = features_of([numbers, tokens])
    assert of_numbers is not None and of_numbers.tolist() == [1, 1, 1, 0]
    assert of_tokens is not None and of_tokens[[3, 4]].tolist() == [0.5, 0.5] and of_tokens.sum() == 1
    wide = features_of([torch.randn(8, 3, 32, 32)])[0]
    assert wide is not None and wide.numel() == 2 * 48
    assert features_of([numbers[:2], tokens[:2], tokens]) == [None, None]


@pytest.mark.parametrize("restores", [True, False], ids=["taken out again", "left in"])
def test_weights_after_an_evaluation_are_compared_with_those_before(
    tmp_path: Path, restores: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Averages of weights are put in for each evaluation, most of which come where nothing else is looked at."""
    monkeypatch.setenv("TRAINWARDEN_EXAMINE", "1")
    torch.manual_seed(0)
    net = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 2))
    average = copy.deepcopy(net)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    twt.attach(str(tmp_path / "run"))
    for step in range(600):
        optimizer.zero_grad()
        nn.functional.cross_entropy(net(torch.randn(16, 4)), torch.randint(2, (16,))).backward()
        optimizer.step()
        with torch.no_grad():
            for mean, now in zip(average.parameters(), net.parameters()):
                mean.mul_(0.9).add_(now, alpha=0.1)
        if step % 75 == 74:
            kept = copy.deepcopy(net.state_dict())
            net.load_state_dict(average.state_dict())
            net.eval()
            with torch.no_grad():
                net(torch.randn(50, 4))
            net.train()
            if restores:
                net.load_state_dict(kept)
    twt.detach()
    found = [each["outside"] for each in records(tmp_path / "run") if "outside" in each]
    changed, compared = sum(each[2] for each in found), sum(each[3] for each in found)
    assert compared >= 4 and changed == (0 if restores else compared)
    assert sum(each[0] for each in found) == changed
    features = [each["eval_features"] for each in records(tmp_path / "run") if "eval_features" in each]
    assert features and all(len(each) == 8 for each in features)


def train_with_copy(run: Path, every: int) -> list[dict[str, list[float]]]:
    """A copy that holds averages of the weights is called every so many steps, and the trained model never without it."""
    torch.manual_seed(0)
    net = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 2))
    average = copy.deepcopy(net).eval()
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    twt.attach(str(run))
    for step in range(400):
        inputs, labels = torch.randn(16, 4), torch.randint(2, (16,))
        optimizer.zero_grad()
        nn.functional.cross_entropy(net(inputs), labels).backward()
        optimizer.step()
        with torch.no_grad():
            for mean, now in zip(average.parameters(), net.parameters()):
                mean.mul_(0.9).add_(now, alpha=0.1)
            if step % every == every - 1:
                for _ in range(3):
                    nn.functional.cross_entropy(average(torch.randn(50, 4)), torch.randint(2, (50,)))
    twt.detach()
    return records(run)


def test_averages_of_weights_that_are_evaluated_alone_are_an_evaluation(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TRAINWARDEN_EXAMINE", "1")
    found = train_with_copy(tmp_path / "run", every=50)
    evaluated = [each for each in found if "eval_loss" in each]
    assert [each["eval_after"] for each in evaluated[:3]] == [[49], [99], [149]]
    assert all(each["eval_losses"][0] <= 3 for each in evaluated) and evaluated[0]["eval_losses"] == [3]
    assert all(0.5 < each["eval_loss"][0] < 1.2 for each in evaluated)


def test_a_teacher_that_is_called_in_each_step_is_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRAINWARDEN_EXAMINE", "1")
    found = train_with_copy(tmp_path / "run", every=1)
    assert found and not any("eval_loss" in each for each in found)
