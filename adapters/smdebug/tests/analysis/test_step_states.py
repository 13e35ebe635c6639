"""Which steps are there, complete, still to come or never, in seventeen folders of smdebug's.

A row says what is written and what create_trial() shall make of it. In `answers` a step stands with its state: "A" is
there, "U" is not and never will be, "N" may still come.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pytest

from smdebug import modes
from smdebug.core.tensor import StepState
from smdebug.exceptions import NoMoreData, StepUnavailable
from smdebug.trials import create_trial
from smdebug_folder import SmdebugFolder

_STATES = {"A": StepState.AVAILABLE, "U": StepState.UNAVAILABLE, "N": StepState.NOT_YET_AVAILABLE}
_WORKERS = {"a": "worker_0", "b": "worker_1", "c": "worker_2"}
_NO_THREE = [0, 1, 2, 4, 5, 6]


@dataclass(frozen=True)
class Scenario:
    written: dict[str, Sequence[int]]  # steps by the workers that wrote them
    ended: bool
    answers: list[tuple[int, str]]
    known: Sequence[int] = range(7)
    complete: Sequence[int] | None = None  # as known
    last_complete: int = 6
    announced: str = field(default="")  # workers; those that wrote when empty


SCENARIOS = {
    1: Scenario({"a": range(7)}, True, [(3, "A"), (8, "U")]),
    4: Scenario({"a": range(7)}, False, [(3, "A"), (8, "N")]),
    5: Scenario({"a": [0, 1, 2, 3, 5, 6]}, True, [(3, "A"), (4, "U"), (8, "U")], known=[0, 1, 2, 3, 5, 6]),
    6: Scenario({"a": [0, 1, 2, 3, 5, 6]}, False, [(4, "U"), (8, "N")], known=[0, 1, 2, 3, 5, 6]),
    7: Scenario({"abc": range(7)}, True, [(3, "A"), (4, "A"), (8, "U")]),
    8: Scenario({"abc": range(7)}, False, [(3, "A"), (4, "A"), (8, "N")]),
    9: Scenario({"abc": range(3), "ac": range(3, 7)}, True, [(3, "A"), (4, "A"), (6, "A"), (8, "U")]),
    10: Scenario(
        {"abc": range(3), "ac": range(3, 7)},
        False,
        [(2, "A"), (4, "N"), (6, "N"), (8, "N")],
        complete=range(3),
        last_complete=2,
    ),
    11: Scenario({"abc": [0, 1, 2, 6], "ac": [3, 4, 5]}, False, [(2, "A"), (4, "A"), (6, "A"), (8, "N")]),
    12: Scenario(
        {"abc": [0, 1, 2, 6], "ac": [4, 5]}, False, [(3, "U"), (2, "A"), (4, "A"), (6, "A"), (8, "N")], known=_NO_THREE
    ),
    13: Scenario(
        {"abc": [0, 1, 2], "ac": [4, 5, 6]},
        False,
        [(2, "A"), (3, "N"), (4, "N"), (6, "N"), (8, "N")],
        known=_NO_THREE,
        complete=range(3),
        last_complete=2,
    ),
    14: Scenario(
        {"abc": [0, 1, 2], "ac": [4, 5, 6]},
        True,
        [(3, "U"), (2, "A"), (4, "A"), (6, "A"), (8, "U")],
        known=_NO_THREE,
    ),
    15: Scenario({"abc": [0, 1, 2, 6], "ac": [3, 4, 5]}, True, [(2, "A"), (4, "A"), (6, "A"), (8, "U")]),
}


def write(path: Path, scenario: Scenario) -> None:
    letters = scenario.announced or max(scenario.written, key=len)
    folder = SmdebugFolder(path, [_WORKERS[letter] for letter in letters])
    for writers, steps in scenario.written.items():
        for step in steps:
            for letter in writers:
                folder.step(step, worker=_WORKERS[letter])
    if scenario.ended:
        folder.end()


@pytest.mark.parametrize("number", SCENARIOS)
def test_scenario(run_dir: Path, number: int) -> None:
    scenario = SCENARIOS[number]
    write(run_dir, scenario)
    trial = create_trial(run_dir)
    complete = scenario.known if scenario.complete is None else scenario.complete
    assert trial.steps(show_incomplete_steps=True) == list(scenario.known)
    assert trial.steps() == list(complete)
    assert trial.last_complete_step == scenario.last_complete
    assert {step: trial.has_passed_step(step) for step, _ in scenario.answers} == {
        step: _STATES[state] for step, state in scenario.answers
    }
    assert trial.loaded_all_steps is scenario.ended
    trial.wait_for_steps(list(complete))


def test_the_token_of_the_first_scenario(run_dir: Path) -> None:
    write(run_dir, SCENARIOS[1])
    token = create_trial(run_dir).last_index_token
    assert token == str(run_dir / "index/000000000/000000000006_worker_0.json") and Path(token).exists()


def test_waiting_in_the_fifth_scenario(run_dir: Path) -> None:
    write(run_dir, SCENARIOS[5])
    trial = create_trial(run_dir)
    trial.wait_for_steps([0, 1, 2, 3, 5, 6])
    with pytest.raises(StepUnavailable):
        trial.wait_for_steps(list(range(7)))
    with pytest.raises(NoMoreData):
        trial.wait_for_steps([0, 1, 2, 3, 5, 6, 7])


@pytest.mark.parametrize(("ended", "later"), [(True, "U"), (False, "N")], ids=["2", "3"])
def test_scenarios_of_modes(run_dir: Path, ended: bool, later: str) -> None:
    folder = SmdebugFolder(run_dir)
    for step in range(0, 80, 10):
        folder.step(step, mode="TRAIN" if step < 40 else "EVAL", mode_step=step % 40)
    if ended:
        folder.end()
    trial = create_trial(run_dir)
    assert trial.steps() == trial.steps(show_incomplete_steps=True) == list(range(0, 80, 10))
    assert trial.steps(modes.TRAIN) == trial.steps(modes.EVAL) == [0, 10, 20, 30]
    assert trial.last_complete_step == 70
    expected = {
        (30, modes.GLOBAL): "A",
        (23, modes.TRAIN): "U",
        (40, modes.TRAIN): later,
        (30, modes.EVAL): "A",
        (23, modes.EVAL): "U",
        (80, modes.GLOBAL): later,
        (80, modes.TRAIN): later,
        (80, modes.EVAL): later,
    }
    assert {place: trial.has_passed_step(*place) for place in expected} == {
        place: _STATES[state] for place, state in expected.items()
    }
    assert trial.global_step(modes.EVAL, 20) == 60 and trial.mode_modestep(60) == (modes.EVAL, 20)


def test_the_sixteenth_scenario_passes_a_straggler(run_dir: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SMDEBUG_INCOMPLETE_STEP_WAIT_WINDOW", "10")
    folder = SmdebugFolder(run_dir, ["worker_0", "worker_1", "worker_2"])
    for step in range(20):
        folder.step(step)
    trial = create_trial(run_dir)
    index = run_dir / "index/000000000"
    assert (trial.last_complete_step, trial.last_index_token) == (4, str(index / "000000000004_worker_2.json"))
    trial.refresh_data()
    assert (trial.last_complete_step, trial.last_index_token) == (9, str(index / "000000000009_worker_2.json"))
    trial.refresh_data()
    assert trial.last_complete_step == 9


def test_the_seventeenth_scenario_of_tensors(run_dir: Path) -> None:
    folder = SmdebugFolder(run_dir, ["worker_0", "worker_1"])
    for step in range(10):
        for worker in ("worker_0", "worker_1"):
            if worker == "worker_0" or step not in (3, 4, 8, 9):
                folder.step(step, {"loss" if step < 5 else "gradient/w": np.ones(2)}, worker=worker)
    trial = create_trial(run_dir)
    assert trial.steps(show_incomplete_steps=True) == list(range(10)) and trial.steps() == list(range(8))
    assert trial.last_complete_step == 7
    loss, gradient = trial.tensor("loss"), trial.tensor("gradient/w")
    assert loss.steps() == loss.steps(show_incomplete_steps=True) == [0, 1, 2, 3, 4]
    assert gradient.steps() == [5, 6, 7] and gradient.steps(show_incomplete_steps=True) == [5, 6, 7, 8, 9]


def test_a_folder_is_followed_while_it_grows(run_dir: Path) -> None:
    folder = SmdebugFolder(run_dir)
    folder.step(0)
    trial = create_trial(run_dir)
    assert trial.steps() == [0] and not trial.loaded_all_steps
    folder.step(1, {"later": np.ones(3)})
    assert trial.steps() == [0, 1] and trial.tensor("later").value(1).tolist() == [1, 1, 1]
    assert trial.has_passed_step(2) is StepState.NOT_YET_AVAILABLE
    folder.end()
    assert trial.job_finished() and trial.has_passed_step(2) is StepState.UNAVAILABLE
