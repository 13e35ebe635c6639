"""Which operators run is recorded in the steps that are wanted, and in no others."""

from __future__ import annotations

import sys
from collections import Counter
from pathlib import Path
from typing import Iterator, NamedTuple

import pytest
import torch
from running import Runner, clean_environment
from torch import nn

import trainwarden
import trainwarden.torch as twt
from trainwarden.torch import operators

sys.path.insert(0, str(Path(__file__).parents[4] / "docs" / "format"))
read_run = pytest.importorskip("read_run")


class Call(NamedTuple):
    """As docs/format/read_run.py gives it."""

    worker: str
    step: int
    name: str
    kind: str
    track: str
    start_ns: int
    duration_ns: int
    sequence: int

    def holds(self, other: Call) -> bool:
        end_ns = self.start_ns + self.duration_ns
        return (
            self.track == other.track
            and self.start_ns <= other.start_ns
            and other.start_ns + other.duration_ns <= end_ns
        )


def calls_in(run_dir: object) -> list[Call]:
    return [Call(*call) for call in read_run.read_operators(str(run_dir))]


def named(calls: list[Call], name: str) -> Call:
    return next(call for call in calls if call.name == name)


def test_nobody_listens_any_longer_in_a_step_that_has_more_than_there_is_room_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TRAINWARDEN_PROFILE_STEPS", "auto")
    ended_at: list[tuple[int, int]] = []
    place = (0, 0)
    end_feeding = operators._core.end_feeding

    def end(turn: int) -> None:
        ended_at.append(place)
        end_feeding(turn)

    monkeypatch.setattr(operators._core, "end_feeding", end)
    model, one = nn.Linear(2, 1), torch.ones(2)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    twt.attach(str(tmp_path / "run"))
    for step in range(7):
        optimizer.zero_grad()
        for part in range(4):
            place = (step, part)
            for _ in range(50_000 if step == 5 else 0):
                torch.neg(one)
            model(one).sum().backward()
        optimizer.step()
    twt.detach()
    assert ended_at == [(5, 2)]
    calls = calls_in(tmp_path / "run")
    assert {call.step for call in calls} == {5}
    assert 130_000 < sum(call.kind != "python" for call in calls) <= 131_072


def test_an_unchanged_program_has_its_operators_in_the_steps_5_to_15(runner: Runner) -> None:
    run_dir = runner.folder / "unchanged-operators"
    plain = runner.start("operators.py", environment=clean_environment())
    attached = runner.start("operators.py", environment=runner.attached_environment(run_dir))
    assert (attached.stdout, attached.stderr, attached.exit_code) == (plain.stdout, plain.stderr, 0)
    calls = calls_in(run_dir)
    assert sorted({call.step for call in calls}) == list(range(5, 15))
    step = [call for call in calls if call.step == 7]
    stretch, product, backward = (named(step, name) for name in ("my stretch", "aten::addmm", "AddmmBackward0"))
    assert (stretch.kind, product.kind, backward.kind) == ("user", "operator", "backward")
    assert stretch.holds(product)
    assert not stretch.holds(backward)
    assert product.duration_ns > 0
    forward = {call.sequence for call in step if call.name == "aten::addmm"}
    assert {call.sequence for call in step if call.name == "AddmmBackward0"} == forward
    assert len(forward) == 2
    assert Counter(call.name for call in step)["aten::addmm"] == 2


def test_steps_of_which_nothing_else_is_wanted_are_counted_right(runner: Runner) -> None:
    run_dir = runner.folder / "idle-operators"
    never = {"save_interval": 1, "end_step": 0}
    idle: dict[str, object] = {
        "save": never, "collections": [{"name": "losses", "save": never}], "operators": "4:6", "labels": {"a": "b"}
    }  # fmt: skip
    ended = runner.start("operators.py", environment=runner.attached_environment(run_dir, idle))
    assert ended.exit_code == 0
    calls = calls_in(run_dir)
    assert sorted({call.step for call in calls}) == [4, 5]
    for step in (4, 5):
        assert Counter(call.name for call in calls if call.step == step)["aten::addmm"] == 2


def test_a_variable_switches_it_off(runner: Runner) -> None:
    run_dir = runner.folder / "no-operators"
    environment = {**runner.attached_environment(run_dir), "TRAINWARDEN_PROFILE_STEPS": "off"}
    assert runner.start("operators.py", environment=environment).exit_code == 0
    assert calls_in(run_dir) == []


class Training:
    def __init__(self, hook: trainwarden.Hook) -> None:
        self.model = nn.Linear(4, 2)
        self.optimizer = torch.optim.SGD(self.model.parameters(), 0.1)
        self.watcher = twt.watch(hook, self.model, self.optimizer)

    def step(self) -> None:
        self.optimizer.zero_grad()
        self.model(torch.ones(3, 4)).sum().backward()
        self.optimizer.step()
        self.watcher.step()


@pytest.fixture
def hook(tmp_path: Path) -> Iterator[trainwarden.Hook]:
    with trainwarden.Hook(tmp_path / "run", operators="1:3", save=1) as hook:
        yield hook


def test_a_watched_model(hook: trainwarden.Hook) -> None:
    training = Training(hook)
    recorded = []
    for _ in range(5):
        recorded.append(training.watcher._recorder._operators._stop is not None)
        training.step()
    assert recorded == [False, True, True, False, False]
    hook.close()
    assert sorted({call.step for call in calls_in(hook.run_dir)}) == [1, 2]


def test_another_hook_has_its_turn_when_the_first_is_closed(hook: trainwarden.Hook, tmp_path: Path) -> None:
    first = Training(hook)
    first.step()
    with trainwarden.Hook(tmp_path / "second", operators="0:9") as other:
        second = Training(other)
        second.step()
        hook.close()
        second.step()
        second.step()
    for training in (first, second):
        training.watcher.detach()
    names = Counter(call.name for call in calls_in(tmp_path / "second") if call.step == 2)
    assert names["aten::addmm"] == 1


def test_an_unknown_version_is_left_alone_and_the_run_says_so(
    hook: trainwarden.Hook, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(operators, "_obstacle", None)
    monkeypatch.setattr(torch, "__version__", "1.7.0")
    training = Training(hook)
    for _ in range(5):
        training.step()
    hook.close()
    assert calls_in(hook.run_dir) == []
    trial = trainwarden.open(hook.run_dir)
    said = [text for step in trial.steps() for text in _unseen(trial, step)]
    assert said == ["operators: PyTorch 1.7 is not known to this version of Trainwarden"]


def _unseen(trial: trainwarden.Trial, step: int) -> list[str]:
    name = "trainwarden/not_captured"
    if not trial.has_tensor(name) or step not in trial.tensor(name).steps():
        return []
    return [str(text) for text in trial.value(name, step)]


def test_a_system_that_gives_no_thread_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    def no_thread(*_: object) -> int:
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(operators, "_obstacle", None)
    monkeypatch.setattr("_thread.start_new_thread", no_thread)
    assert operators._find_obstacle() == "operators: can't start new thread"
    monkeypatch.undo()
    monkeypatch.setattr(operators, "_obstacle", None)
    assert operators._find_obstacle() == ""
