"""What a program logs is in its run, as scalars under the program's own names, and once."""

from __future__ import annotations

from running import Runner

import trainwarden


def test_what_a_program_logs(runner: Runner) -> None:
    run = runner.captured("logs.py")
    trial = run.trial
    assert run.attached.stdout == run.plain.stdout
    losses = [float(line.split()[1]) for line in run.plain.stdout.splitlines()]
    # Logged after the optimizer's step, and so in the step that is open then; the last when no other has come.
    assert list(trial.tensor("loss").scalars().values()) == losses
    assert trial.tensor("loss").steps("train") == [1, 2, 3]
    assert trial.steps("train") == [0, 1, 2, 3]
    # The last that was named before the step ended.
    assert [trial.scalar("trainwarden/trainer_step", step, "train") for step in (1, 2, 3)] == [0, 1, 2]
    assert trial.scalar("beside", 2, "train") == 1
    assert [trial.scalar("accuracy", step, "train") for step in (1, 2, 3)] == [0, 0.25, 0.5]
    assert trial.scalar("score", 3, "train") == 2
    names = set(trial.tensor_names())
    assert not names & {"words", "phase", "loss#1"}
    assert "train/loss" not in names  # of a tracker that the trainer hands on to
    assert "logged" in trial.tensor_info("accuracy").collections


def test_outside_of_a_run_nothing_happens() -> None:
    trainwarden.log("accuracy", 1.0)
    trainwarden.log("accuracy", "nothing", step=3)
