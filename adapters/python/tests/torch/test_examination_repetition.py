"""What an examination notes of batches and rates that come again, and of what is handed on within a step."""

from __future__ import annotations

from pathlib import Path
from typing import Callable

import pytest
import torch
from test_examination import records
from torch import nn

import trainwarden.torch as twt
from trainwarden.torch.examination import allowance
from trainwarden.torch.examination.batches import Compared
from trainwarden.torch.examination.numbers import Numbers

Step = Callable[[int], torch.Tensor]


def examine(run: Path, step: Step, optimizers: list[torch.optim.Optimizer], steps: int = 40) -> list[dict[str, list[float]]]:
    """`step` gives the loss of each step, after which the optimizer whose turn it is steps."""
    twt.attach(str(run))
    for number in range(steps):
        optimizer = optimizers[number % len(optimizers)]
        optimizer.zero_grad()
        step(number).backward()
        optimizer.step()
    twt.detach()
    return records(run)


@pytest.fixture(autouse=True)
def examined(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRAINWARDEN_EXAMINE", "1")
    monkeypatch.setattr(allowance, "START_SECONDS", 60.0)


def label_print(labels: list[int]) -> bool:
    numbers = Numbers()
    Compared("cross_entropy", (torch.zeros(len(labels), 4), torch.tensor(labels))).add(numbers, "")
    return numbers.has("label_print")


def test_labels_that_are_laid_out_by_a_rule_have_no_print() -> None:
    assert label_print([2, 0, 1, 1, 3, 0, 2, 2])
    assert not label_print([0, 0, 1, 1, 2, 2, 3, 3])  # sorted
    assert not label_print([0, 1, 2, 3, 0, 1, 2, 3])  # class after class
    assert not label_print([1, 0, 0, 1, 1, 0, 1, 0])  # of pairs


@pytest.mark.parametrize("comes_again", [True, False])
def test_light_looks_note_which_batch_it_is(tmp_path: Path, comes_again: bool) -> None:
    net = nn.Linear(4, 2)
    same = torch.randn(8, 4)
    found = examine(
        tmp_path / "run",
        lambda _: net(same if comes_again else torch.randn(8, 4)).square().mean(),
        [torch.optim.SGD(net.parameters(), lr=0.01)],
    )
    light = [each for record in found for each in record.get("light_prints", [])]
    assert len(light) >= 4 and len(set(light)) == (1 if comes_again else len(light))


@pytest.mark.parametrize("detaches", [True, False])
def test_states_that_are_handed_on_within_a_step(tmp_path: Path, detaches: bool) -> None:
    cell = nn.GRU(3, 5, batch_first=True)

    def step(_: int) -> torch.Tensor:
        state = torch.zeros(1, 4, 5)
        for part in torch.randn(4, 6, 3).split(2, dim=1):
            output, state = cell(part, state.detach() if detaches else state)
        return output.square().mean()

    found = examine(tmp_path / "run", step, [torch.optim.SGD(cell.parameters(), lr=0.01)])
    handed = [record["handed_states"] for record in found if "handed_states" in record]
    assert handed and all(each == [2, 2 if detaches else 0] for each in handed)


def test_states_between_parts_that_are_accumulated_are_none(tmp_path: Path) -> None:
    cell = nn.GRU(3, 5, batch_first=True)

    def step(_: int) -> torch.Tensor:
        output, state = cell(torch.randn(4, 2, 3))
        output.square().mean().backward()
        return cell(torch.randn(4, 2, 3), state.detach())[0].square().mean()

    found = examine(tmp_path / "run", step, [torch.optim.SGD(cell.parameters(), lr=0.01)])
    assert found and not any("handed_states" in record for record in found)


def test_rates_are_those_of_one_optimizer(tmp_path: Path) -> None:
    net = nn.Sequential(nn.Linear(4, 4), nn.Linear(4, 2))
    first = torch.optim.SGD(net[0].parameters(), lr=0.001)
    second = torch.optim.SGD(net[1].parameters(), lr=0.5)
    found = examine(tmp_path / "run", lambda _: net(torch.randn(8, 4)).square().mean(), [first, second, first])
    rates = [record["rate"] for record in found if "rate" in record]
    assert len(rates) >= 3 and all(each == pytest.approx([0.001]) for each in rates)
