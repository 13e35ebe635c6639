"""What an examination for a diagnosis measures, what it costs, and that the training does not feel it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Iterator, Optional

import pytest
import torch
from torch import nn

import trainwarden
import trainwarden.torch as twt
from trainwarden.torch.examination import examiner
from trainwarden.torch.examination.allowance import SHARE, START_SECONDS, Allowance

_PREFIX = "trainwarden/examination/"


@pytest.fixture(autouse=True)
def examined(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("TRAINWARDEN_EXAMINE", "1")
    yield
    twt.detach()


class Net(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.first = nn.Linear(4, 8)
        self.hidden = [nn.Linear(8, 8)]  # not registered
        self.last = nn.Linear(8, 3)

    def forward(self, value: torch.Tensor) -> torch.Tensor:
        value = torch.relu(self.first(value))
        return self.last(torch.relu(self.hidden[0](value)))


def train(steps: int, run: Optional[Path] = None, net: Optional[nn.Module] = None) -> list[torch.Tensor]:
    """The parameters at the end."""
    torch.manual_seed(0)
    net = net or Net()
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1, momentum=0.5)
    if run is not None:
        twt.attach(str(run))
    for _ in range(steps):
        value = torch.randn(16, 4)
        optimizer.zero_grad()
        nn.functional.cross_entropy(net(value), (value[:, 0] > 0).long()).backward()
        optimizer.step()
    if run is not None:
        twt.detach()
    return [each.detach().clone() for each in net.parameters()]


def records(run: Path) -> list[dict[str, list[float]]]:
    """By name, as docs/format/examination.md says."""
    trial, layout, found = trainwarden.open(run), [], []
    for step in trial.steps():
        names = trial.tensor_names(step=step)
        if _PREFIX + "layout" in names:
            layout = json.loads(trial.value(_PREFIX + "layout", step)[0])["layout"]
        if _PREFIX + "numbers" not in names:
            continue
        numbers, at, record = list(trial.value(_PREFIX + "numbers", step)), 0, {}
        for name, count in layout:
            record[name] = numbers[at : at + count]
            at += count
        assert at == len(numbers)
        found.append(record)
    return found


def text(run: Path, name: str) -> Any:
    trial = trainwarden.open(run)
    step = next(step for step in trial.steps() if _PREFIX + name in trial.tensor_names(step=step))
    return json.loads(trial.value(_PREFIX + name, step)[0])


def test_a_training_is_what_it_is_without_it(tmp_path: Path) -> None:
    plain = train(40)
    for mine, theirs in zip(train(40, tmp_path / "run"), plain):
        assert torch.equal(mine, theirs)


def test_what_is_measured(tmp_path: Path) -> None:
    train(3, tmp_path / "run")
    first = records(tmp_path / "run")[0]
    assert first["step"] == [0]
    assert first["compared_loss"] == pytest.approx(first["loss"])
    assert sum(first["labels"]) == 16 and len(first["labels"]) == 3
    assert first["input_shape"] == [16, 4]
    assert len(first["gradient"]) == 6 and min(first["gradient"]) > 0
    for update, gradient in list(zip(first["update"], first["gradient"]))[:4]:
        assert update == pytest.approx(0.1 * gradient, rel=1e-3)
    assert first["update"][4:] == [0, 0]  # of the layer that no optimizer has


def test_the_structure_names_what_is_not_registered(tmp_path: Path) -> None:
    train(3, tmp_path / "run")
    structure = text(tmp_path / "run", "structure")
    assert structure["unregistered"] == [{"module": "", "attribute": "hidden", "count": 1, "kind": "Linear"}]
    owners = {each["name"]: each["optimizers"] for each in structure["parameters"]}
    registered = {"first.weight": [0], "first.bias": [0], "last.weight": [0], "last.bias": [0]}
    assert owners == {**registered, "Linear.weight": [], "Linear.bias": []}
    assert structure["places"]["backward"].split(":")[0].endswith("test_examination.py")


def test_the_graph_leads_from_the_loss_to_the_parameters(tmp_path: Path) -> None:
    train(3, tmp_path / "run")
    graph = text(tmp_path / "run", "graph")
    assert graph["complete"]
    assert [node[0] for node in graph["nodes"][:2]] == ["NllLoss", "LogSoftmax"]
    assert {node[2]["number"] for node in graph["nodes"] if node[0] == "parameter"} == set(range(6))


def test_weights_that_something_else_changes(tmp_path: Path) -> None:
    class Meddling(Net):
        def forward(self, value: torch.Tensor) -> torch.Tensor:
            with torch.no_grad():
                self.first.weight.data[0, 0] += 1.0
            return super().forward(value)

    torch.manual_seed(0)
    train(4, tmp_path / "run", Meddling())
    shares = [each["changed_share"] for each in records(tmp_path / "run") if "changed_share" in each]
    assert shares and all(share[0] == pytest.approx(1 / 32) and max(share[1:]) == 0 for share in shares)


def test_a_fault_of_its_own_ends_it_and_not_the_training(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    plain = train(10)

    def fail(*_: Any) -> None:
        raise ValueError("broken")

    monkeypatch.setattr(examiner, "describe", fail)
    for mine, theirs in zip(train(10, tmp_path / "run"), plain):
        assert torch.equal(mine, theirs)
    assert records(tmp_path / "run") == []


def test_it_is_off_unless_it_is_asked_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("TRAINWARDEN_EXAMINE")
    train(4, tmp_path / "run")
    assert records(tmp_path / "run") == []


class Clock:
    def __init__(self) -> None:
        self.now = 0

    def __call__(self) -> int:
        return self.now


@pytest.mark.parametrize("step_ns", [1_000_000, 100_000_000])
def test_the_allowance_holds(step_ns: int) -> None:
    """Also for steps of a millisecond: looks cost 30 µs, full examinations 4 ms."""
    clock = Clock()
    allowance = Allowance(clock)
    for step in range(60_000_000_000 // step_ns):
        if allowance.may_examine(step):
            cost = 4_000_000
            allowance.examined(step, cost)
        elif allowance.may_look():
            cost = 30_000
            allowance.looked(cost)
        else:
            cost = 0
        clock.now += step_ns + cost
    allowed = START_SECONDS * 1e9 + SHARE * clock.now
    assert allowance.spent_ns <= allowed + 4_000_000
    assert allowance.spent_ns > 0.05 * allowed  # and it is used
