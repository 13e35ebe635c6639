"""What is seen of an evaluation whose program compares the answers of its model itself, without a loss function."""

from __future__ import annotations

from pathlib import Path
from typing import Callable, Optional

import numpy as np
import pytest
import torch
from test_examination import examined, records  # noqa: F401, the first is a fixture of each test
from torch import nn

import trainwarden.torch as twt

# Functions of torch in whose place ours stand while an evaluation is looked at.
_REPLACED = {"__eq__", "eq", "__sub__", "sub", "tolist", "numpy"}


def evaluated_twice(
    run: Path, net: nn.Module, loss: Callable[[], torch.Tensor], evaluate: Callable[[], None], name: str
) -> list[float]:
    """The number of this name of each evaluation. Each follows a step that changes nothing."""
    twt.attach(str(run))
    optimizer = torch.optim.SGD(net.parameters(), lr=0.0)
    for _ in range(2):
        net.train()
        loss().backward()
        optimizer.step()
        net.eval()
        with torch.no_grad():
            evaluate()
    twt.detach()
    assert not _REPLACED & vars(torch.Tensor).keys()
    return [record[name][0] for record in records(run) if name in record]


def test_answers_that_are_right(tmp_path: Path) -> None:
    net, value = nn.Linear(4, 3), torch.randn(90, 4)
    label = net(value).argmax(1)
    label[:30] = (label[:30] + 1) % 3

    def evaluate() -> None:
        assert int((net(value).argmax(1) == label).sum()) == 60
        assert bool((label == 0).any())  # no comparison of two tensors

    found = evaluated_twice(
        tmp_path / "run", net, lambda: nn.functional.cross_entropy(net(value), label), evaluate, "eval_accuracy"
    )
    assert found == [pytest.approx(2 / 3)] * 2


def _right_answers(net: nn.Module, parts: list[tuple[torch.Tensor, torch.Tensor, torch.Tensor]], way: str) -> int:
    """Counted outside of torch."""
    right = 0
    for value, label, length in parts:
        if way == "labels first":
            right += sum(a == b for a, b in zip(label.tolist(), net(value).argmax(1).tolist()))
        elif way == "arrays":
            output = net(value)
            right += int((np.array(output.argmax(1)) == label.cpu().numpy()).sum())
        elif way == "scores":
            right += int((net(value).softmax(1).numpy().argmax(1) == label.numpy()).sum())
        else:
            length.tolist()
            answers = net(value).argmax(1).tolist()
            right += sum(a == b for a, b in zip(label.tolist() if way == "lengths too" else answers, answers))
    return right


@pytest.mark.parametrize(
    "way, share", [("labels first", 0.5), ("arrays", 2 / 3), ("scores", 2 / 3), ("lengths too", 2 / 3), ("lengths", None)]
)
def test_labels_that_a_program_takes_out_of_torch(tmp_path: Path, way: str, share: Optional[float]) -> None:
    """A third of the labels is wrong: half of the second part and half of the third."""
    net, value = nn.Linear(4, 3), torch.randn(90, 4)
    label = net(value).argmax(1)
    label[45:75] = (label[45:75] + 1) % 3
    parts = list(zip(value.split(30), label.split(30), torch.randint(5, 50, (90,)).split(30)))

    def evaluate() -> None:
        assert _right_answers(net, parts, way) == (90 if way == "lengths" else 60)

    found = evaluated_twice(
        tmp_path / "run", net, lambda: nn.functional.cross_entropy(net(value), label), evaluate, "eval_accuracy"
    )
    assert found == ([] if share is None else [pytest.approx(share)] * 2)


@pytest.mark.parametrize("is_scaled_back, is_clamped", [(True, False), (False, False), (False, True)])
def test_errors_that_a_program_computes_itself(tmp_path: Path, is_scaled_back: bool, is_clamped: bool) -> None:
    torch.manual_seed(2)  # how much is clamped is left to chance
    net, value = nn.Linear(4, 2), torch.randn(30, 4)
    target = net(value).detach() + 3

    def evaluate() -> None:
        answers = torch.cat([net(part) for part in value.split(10)])
        if is_scaled_back:
            answers = 2 * answers
        if is_clamped:  # a few of the first eight
            answers = answers.clamp(max=float(answers.reshape(-1)[:8].sort().values[5]))
        (answers - target).pow(2).mean()
        (value - value.mean(0)).sum()  # of no answers

    found = evaluated_twice(
        tmp_path / "run", net, lambda: nn.functional.mse_loss(net(value), target), evaluate, "eval_square"
    )
    assert found == ([] if is_scaled_back else [pytest.approx(9, rel=0.1 if is_clamped else 1e-6)] * 2)
