"""What is seen of the lines in which a program says how its evaluation went."""

from __future__ import annotations

import io
import json
import sys
from pathlib import Path
from typing import Iterator

import pytest
import torch
from test_examination import examined  # noqa: F401, a fixture of each test
from torch import nn

import trainwarden
import trainwarden.torch as twt
from trainwarden.torch.examination import printed


def lines_of(run: Path) -> list[list[object]]:
    trial, name = trainwarden.open(run), "trainwarden/examination/printed"
    steps = [step for step in trial.steps() if name in trial.tensor_names(step=step)]
    return [line for step in steps for line in json.loads(trial.value(name, step)[0])["lines"]]


def test_lines_come_with_the_step_that_they_follow(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    net, value = nn.Linear(4, 3), torch.randn(9, 4)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    twt.attach(str(tmp_path / "run"))
    for epoch in range(3):
        net.train()
        for _ in range(4):
            optimizer.zero_grad()
            net(value).square().mean().backward()
            optimizer.step()
        print("epoch", epoch, "loss 0.25")  # of the training: nothing that is looked for
        net.eval()
        with torch.no_grad():
            net(value)
        print(f"epoch {epoch} val acc 0.{epoch}5", file=sys.stderr if epoch == 1 else sys.stdout)
    twt.detach()
    print("val acc after all of it 0.5")
    assert lines_of(tmp_path / "run") == [[4 * epoch + 3, True, f"epoch {epoch} val acc 0.{epoch}5"] for epoch in range(3)]
    out, err = capsys.readouterr()
    assert out.count("\n") == 6 and err.count("val acc") == 1


def test_what_a_logger_gets_is_a_line(tmp_path: Path) -> None:
    net = nn.Linear(4, 3)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    twt.attach(str(tmp_path / "run"))
    for step in range(2):
        optimizer.zero_grad()
        net(torch.randn(9, 4)).square().mean().backward()
        optimizer.step()
        trainwarden.log("val/acc", torch.tensor(0.25), step=step)
        trainwarden.log("rate", 0.25, step=step)
    twt.detach()
    assert [text for _, _, text in lines_of(tmp_path / "run")] == ["val/acc 0.25"] * 2


@pytest.fixture
def told() -> Iterator[list[str]]:
    lines: list[str] = []
    printed.send_to(lines.append)
    yield lines
    printed.send_to(None)


def test_parts_of_a_line_belong_together(told: list[str]) -> None:
    sys.stdout.write("val ")
    sys.stdout.write("acc 0.5\nnext")
    sys.stdout.write("\rtest loss 2\r")
    assert told == ["val acc 0.5", "test loss 2"]


def test_long_lines_and_lines_without_numbers_are_none(told: list[str]) -> None:
    print("val acc " + "9" * 1000)
    print("evaluating on the test set")
    for _ in range(1000):
        sys.stdout.write("val acc 0.123 ")  # never ends
    print()
    assert told == []


def test_a_fault_never_reaches_the_program(monkeypatch: pytest.MonkeyPatch) -> None:
    stream = io.StringIO()
    monkeypatch.setattr(sys, "stdout", stream)

    def fail(line: str) -> None:
        raise ValueError(line)

    printed.send_to(fail)
    print("val acc 0.5")
    printed.send_to(None)
    assert stream.getvalue() == "val acc 0.5\n"


def test_of_very_many_lines_the_first_ones_and_some_later_ones_are_kept() -> None:
    lines = printed.Printed()
    kept = []
    for step in range(20_000):
        lines.add(step, False, "val acc 0.5")
        kept += [line.step for line in lines.take()]
    assert kept[:300] == list(range(300))
    assert 400 < len(kept) < 600
