"""Loops over Horovod's tape: its processes are workers of one run. A stand-in connects them
(horovod_stand_in/README.md)."""

from __future__ import annotations

import os
import sys
from importlib.metadata import version
from pathlib import Path

import numpy as np
import pytest
from untouched import EVERYTHING, Ended, Runner, clean_environment

import trainwarden

STAND_IN = Path(__file__).parents[1] / "horovod_stand_in"
pytestmark = pytest.mark.skipif(
    os.environ.get("KERAS_BACKEND", "tensorflow") != "tensorflow", reason="loops over tf.GradientTape"
)


def started(runner: Runner, environment: dict[str, str], way: str) -> Ended:
    path = os.pathsep.join(filter(None, [str(STAND_IN), environment.get("PYTHONPATH")]))
    launcher = (str(STAND_IN / "horovodrun.py"), "-np", "2", sys.executable, "horovod_ranks.py", way)
    return runner.start(*launcher, environment={**environment, "PYTHONPATH": path})


@pytest.mark.parametrize("way", ["graph", "eager"])
def test_ranks_are_workers_of_one_run(runner: Runner, way: str, tmp_path: Path) -> None:
    plain = started(runner, clean_environment(), way)
    environment = runner.attached_environment(tmp_path / "run", EVERYTHING)
    ended = started(runner, environment, way)
    assert plain.exit_code == ended.exit_code == 0, ended.stderr
    lines = sorted(ended.stdout.splitlines())
    assert lines == sorted(plain.stdout.splitlines()) and len(lines) == 14
    assert [path.name for path in tmp_path.iterdir() if path.is_dir()] == ["run"]
    trial = trainwarden.open(tmp_path / "run")
    assert trial.workers == ["rank-00000", "rank-00001"] and trial.steps("train") == list(range(6))
    kernel = "dense/kernel" if version("keras").startswith("2.") else "sequential/dense/kernel"
    gradient = f"gradient/{kernel}"
    for step in range(1, 6):
        sums = [trial.value(gradient, step, "train", worker=worker) for worker in trial.workers]
        np.testing.assert_array_equal(*sums)
        before, after = (trial.value(kernel, at, "train", worker=trial.workers[1]) for at in (step - 1, step))
        np.testing.assert_allclose(before - np.float32(0.1) * sums[0], after, rtol=1e-5, atol=1e-7)
    losses = [trial.scalar("loss", 0, "train", worker=worker) for worker in trial.workers]
    assert losses[0] != losses[1]
