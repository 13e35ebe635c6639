"""Graphs whose gradients Horovod adds up. A stand-in connects their processes (horovod_stand_in/README.md)."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from untouched import Runner

import trainwarden

STAND_IN = Path(__file__).parents[1] / "horovod_stand_in"


def test_workers_of_one_training_veto_nothing(runner: Runner, tmp_path: Path) -> None:
    """Each says so, and none waits for another."""
    rules = {"TRAINWARDEN_GUARD_RULES": "ExplodingTensor", "TRAINWARDEN_ON_FIRE": "skip_step"}
    environment = {**runner.attached_environment(tmp_path / "run"), **rules}
    environment["PYTHONPATH"] = os.pathsep.join(filter(None, [str(STAND_IN), environment.get("PYTHONPATH")]))
    launcher = (str(STAND_IN / "horovodrun.py"), "-np", "2", sys.executable, "poisoned_ranks.py")
    ended = runner.start(*launcher, environment=environment)
    assert ended.exit_code == 0, ended.stderr
    assert sorted(ended.stdout.splitlines()) == ["rank 0 finite False", "rank 1 finite False"]
    assert ended.stderr.count("rules cannot veto a step of a training with several workers") == 2, ended.stderr
    trial = trainwarden.open(tmp_path / "run")
    assert trial.workers == ["rank-00000", "rank-00001"] and trial.steps("train") == list(range(6))
