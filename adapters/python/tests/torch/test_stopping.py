"""A training that was asked to stop ends with its work kept: by the trainer of a library, and with all of its ranks."""

from __future__ import annotations

import pytest
from running import EVERYTHING, Runner

import trainwarden


def ended(runner: Runner, how: str) -> tuple[list[str], trainwarden.Trial]:
    """What the program printed, and its run."""
    run_dir = runner.folder / f"stopped-{how}"
    end = runner.start("asked_to_stop.py", how, environment=runner.attached_environment(run_dir, EVERYTHING))
    assert end.exit_code == 0, end.stderr
    return end.stdout.splitlines(), trainwarden.open(run_dir)


@pytest.mark.parametrize("how, says", [("transformers", "saves True"), ("lightning", "ends the epoch")])
def test_the_trainer_of_a_library_is_asked(runner: Runner, how: str, says: str) -> None:
    lines, trial = ended(runner, how)
    assert lines == [says]
    assert 3 <= len(trial.steps("train")) < 2000
    assert trainwarden.describe(runner.folder / f"stopped-{how}")["TrainingJobStatus"] == "Stopped"


def test_another_loop_is_left_by_an_exception(runner: Runner) -> None:
    lines, trial = ended(runner, "own")
    assert lines == ["StopTraining enough"]
    assert 3 <= len(trial.steps("train")) < 2000


def test_ranks_stop_at_the_same_step(runner: Runner) -> None:
    lines, trial = ended(runner, "ranks")
    assert lines == ["StopTraining enough"] * 2
    steps = trial.steps("train")
    assert 3 <= len(steps) < 2000
    assert trial.workers == ["rank-00000", "rank-00001"]
    assert trial.steps("train", include_incomplete=True) == steps  # none that only one of them has
