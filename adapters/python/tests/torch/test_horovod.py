"""Programs of Horovod: its processes are workers of one run. A stand-in connects them (horovod_stand_in/README.md)."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import numpy as np
import pytest

import trainwarden
from running import EVERYTHING, Ended, Runner, clean_environment, needs_torch_2

STAND_IN = Path(__file__).parents[1] / "horovod_stand_in"
GUARD = {"TRAINWARDEN_GUARD_RULES": "ExplodingTensor:collection_names=gradients", "TRAINWARDEN_ON_FIRE": "skip_step"}
pytestmark = needs_torch_2


def started(runner: Runner, environment: dict[str, str], *arguments: str) -> Ended:
    path = os.pathsep.join(filter(None, [str(STAND_IN), environment.get("PYTHONPATH")]))
    launcher = (str(STAND_IN / "horovodrun.py"), "-np", "2", sys.executable, "horovod_ranks.py", *arguments)
    return runner.start(*launcher, environment={**environment, "PYTHONPATH": path})


def lines_of(ended: Ended) -> list[str]:
    """Of all ranks, which print in no order."""
    assert ended.exit_code == 0, ended.stderr
    return sorted(ended.stdout.splitlines())


def test_ranks_are_workers_of_one_run(runner: Runner, tmp_path: Path) -> None:
    plain = started(runner, clean_environment())
    ended = started(runner, runner.attached_environment(tmp_path / "run", EVERYTHING))
    assert lines_of(ended) == lines_of(plain) and len(lines_of(plain)) == 14
    assert [path.name for path in tmp_path.iterdir() if path.is_dir()] == ["run"]
    trial = trainwarden.open(tmp_path / "run")
    assert trial.workers == ["rank-00000", "rank-00001"] and trial.steps("train") == list(range(6))
    assert trial.state.value == "completed"


def test_gradients_are_those_that_ranks_have_added_up(runner: Runner, tmp_path: Path) -> None:
    environment = runner.attached_environment(tmp_path / "run", EVERYTHING)
    environment["SEEN_FILE"] = str(tmp_path / "seen.npz")
    assert started(runner, environment).exit_code == 0
    trial = trainwarden.open(tmp_path / "run")
    with np.load(tmp_path / "seen.npz") as seen:
        expected = seen["gradient/0.bias"]
    for step in range(6):
        for worker in trial.workers:
            found = trial.value("gradient/0.bias", step, "train", worker=worker)
            np.testing.assert_array_equal(found, expected[step])
    losses = {worker: trial.scalar("MSELoss_output_0", 0, "train", worker=worker) for worker in trial.workers}
    assert len(set(losses.values())) == 2, "each rank has a batch of its own"


def test_ranks_skip_the_same_step(runner: Runner, tmp_path: Path) -> None:
    """The batch of one has no numbers; the sum has none in either."""
    environment = {**runner.attached_environment(tmp_path / "run"), **GUARD}
    ended = started(runner, environment, "poisoned")
    digests = [line for line in lines_of(ended) if line.startswith("digest")]
    assert len(digests) == 2 and len(set(digests)) == 1
    assert ended.stderr.count("The optimizer's step is left out") == 2, ended.stderr
    trial = trainwarden.open(tmp_path / "run")
    assert all(trial.statistics("0.weight", 5, "train", worker=worker).nan_count == 0 for worker in trial.workers)
