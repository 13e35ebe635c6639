"""Phases of programs that know nothing of us: they sum to the wall time, and what takes long is where it was."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Optional

import pytest

import trainwarden
from running import Runner, needs_scaler, needs_torch_2

SLOW_S = 0.02  # as in programs/phases.py
WHOLES = ("step", "start")


def phases(trial: trainwarden.Trial, kind: str = "phase", worker: Optional[str] = None) -> dict[int, dict[str, float]]:
    """By train step, in seconds."""
    found: dict[int, dict[str, float]] = {step: {} for step in trial.steps("train")}
    more = {} if worker is None else {"worker": worker}
    for name in trial.tensor_names():
        prefix, _, phase = name.partition("/")
        if prefix == kind:
            for step in trial.tensor(name).steps("train"):
                found[step][phase] = trial.scalar(name, step, "train", **more)
    return found


def check_sums(trial: trainwarden.Trial) -> None:
    steps = phases(trial)
    if not steps[max(steps)]:  # the run has ended before it did
        del steps[max(steps)]
    assert steps
    for number, step in steps.items():
        wall = [step[whole] for whole in WHOLES if whole in step]
        assert len(wall) == 1, (number, step)
        parts = {phase: seconds for phase, seconds in step.items() if phase not in WHOLES}
        assert sum(parts.values()) == pytest.approx(wall[0], rel=1e-9), (number, step)
        assert all(seconds > 0 for seconds in parts.values())  # what was not there is absent


def run_of(runner: Runner, *program: str) -> trainwarden.Trial:
    captured = runner.captured(*program)
    assert (captured.attached.stderr, captured.attached.exit_code) == ("", 0)
    return captured.trial


@pytest.mark.parametrize(
    "program",
    [
        ("resnet_like.py",), ("gan.py",), ("wgan.py",), ("accumulation.py",), ("eval_loop.py",), ("lbfgs.py",),
        ("hf_style.py",), ("checkpointed.py",), ("changing.py",), ("tokens.py",), ("nested_optimizer.py",),
        ("phases.py", "closure"), ("phases.py", "accumulation"), ("phases.py", "raising"), ("phases.py", "data", "2"),
        pytest.param(("scaled.py",), marks=needs_scaler),
        pytest.param(("compiled.py", "eager", "module"), marks=needs_torch_2),
        pytest.param(("compiled_step.py", "optimizer"), marks=needs_torch_2),
    ],
    ids="-".join,
)  # fmt: skip
def test_sums(runner: Runner, program: tuple[str, ...]) -> None:
    check_sums(runner.captured(*program).trial)


def test_a_slow_loader(runner: Runner) -> None:
    trial = run_of(runner, "phases.py", "data")
    check_sums(trial)
    steps = phases(trial)
    for number in range(1, 6):
        assert steps[number]["data_wait"] >= 2 * SLOW_S
        assert "evaluation" not in steps[number]
    totals = phases(trial, "phase_total")
    assert totals[5]["data_wait"] - totals[2]["data_wait"] == pytest.approx(
        sum(steps[number]["data_wait"] for number in (3, 4, 5)), rel=0.05
    )
    assert totals[5]["capture"] - totals[2]["capture"] == pytest.approx(
        sum(steps[number]["capture"] for number in (3, 4, 5)), rel=0.05
    )
    assert totals[5]["wall"] == pytest.approx(sum(step.get("step", step.get("start", 0)) for step in steps.values()))
    assert totals[5]["steps"] == 6


def test_a_long_evaluation(runner: Runner) -> None:
    trial = run_of(runner, "phases.py", "evaluation")
    check_sums(trial)
    steps = phases(trial)
    assert steps[3]["evaluation"] >= 6 * SLOW_S  # with what it waited for its own data
    assert steps[3].get("data_wait", 0.0) < SLOW_S
    assert [number for number, step in steps.items() if "evaluation" in step] == [3]


def test_checkpoints_after_each_step(runner: Runner) -> None:
    trial = run_of(runner, "phases.py", "checkpoint")
    steps = phases(trial)
    assert [number for number, step in steps.items() if "checkpoint" in step] == [1, 2, 3, 4, 5]


def test_a_closure_is_divided_into_what_it_does(runner: Runner) -> None:
    for step in phases(run_of(runner, "phases.py", "closure")).values():
        assert {"forward", "loss", "backward", "optimizer", "zero_grad"} <= set(step)


@pytest.mark.parametrize("program", ["evaluation", "checkpoint", "data"])
def test_nothing_is_lost_between_steps_that_are_written(runner: Runner, tmp_path: Path, program: str) -> None:
    config: dict[str, object] = {"save": {"save_interval": 5}, "when_full": "block"}
    ended = runner.start("phases.py", program, environment=runner.attached_environment(tmp_path / "run", config))
    assert (ended.stderr, ended.exit_code) == ("", 0)
    trial = trainwarden.open(tmp_path / "run")
    check_sums(trial)
    totals = phases(trial, "phase_total")
    assert sorted(totals) == [0, 5]
    assert totals[5]["steps"] == 6
    seconds = {name: totals[5].get(name, 0.0) - totals[0].get(name, 0.0) for name in totals[5]}
    expected = {"evaluation": 6 * SLOW_S, "data": 5 * 2 * SLOW_S, "checkpoint": 0.0}[program]
    phase = {"data": "data_wait"}.get(program, program)
    assert expected < seconds[phase] < seconds["wall"]


def test_the_times_of_steps_that_are_not_written(runner: Runner, tmp_path: Path) -> None:
    config: dict[str, object] = {"include_collections": ["signals"], "save": {"save_interval": 5}, "when_full": "block"}
    ended = runner.start("phases.py", "evaluation", environment=runner.attached_environment(tmp_path / "run", config))
    assert (ended.stderr, ended.exit_code) == ("", 0)
    times = trainwarden.open(tmp_path / "run").value("trainwarden/step_times", 5, "train")
    assert times.shape == (4,) and (times > 0).all()  # of the steps 1 to 4
    assert times[2] >= 6 * SLOW_S  # an evaluation lies before the end of the third
    assert max(times[i] for i in (0, 1, 3)) < 6 * SLOW_S


def test_a_rank_that_the_other_waits_for(runner: Runner) -> None:
    trial = run_of(runner, "slow_rank.py")
    assert trial.workers == ["rank-00000", "rank-00001"]
    waits, slow = (phases(trial, worker=worker) for worker in trial.workers)

    def took(steps: dict[int, dict[str, float]], phase: str) -> float:
        return sum(steps[number][phase] for number in (2, 3, 4, 5))  # in the second one buckets are made anew

    assert took(slow, "rest") > 5 * 0.05  # of programs/slow_rank.py, once more in the last step
    assert took(waits, "gradient_sync") > 4 * 0.05
    assert took(waits, "gradient_sync") > took(slow, "gradient_sync")
    assert took(waits, "rest") < 0.05


def test_loaders_and_batches(runner: Runner) -> None:
    trial = run_of(runner, "phases.py", "data", "2")
    described = [json.loads(trial.value("trainwarden/loader", 0, "train").item())]
    assert described[0]["workers"] == 2 and described[0]["batch_size"] == 2 and described[0]["pin_memory"] is False
    assert [trial.scalar("trainwarden/batch/size", step, "train") for step in trial.steps("train")] == [2] * 6


def test_how_long_the_process_took_to_start(runner: Runner) -> None:
    trial = run_of(runner, "phases.py", "data")
    parts = ("imports_seconds", "building_seconds", "first_step_seconds")
    seconds = [trial.scalar(f"trainwarden/start/{part}", 0, "train") for part in parts]
    assert all(each > 0 for each in seconds)
    assert trial.scalar("trainwarden/start_seconds", 0, "train") == pytest.approx(sum(seconds), rel=1e-6)
    assert trial.tensor("trainwarden/start_seconds").steps("train") == [0]
