"""Ranks that share one model by tensor parallelism rightly get the same batches."""

from __future__ import annotations

import pytest
from running import EVERYTHING, Runner

import trainwarden
from trainwarden import rules

pytest.importorskip("torch.distributed.tensor.parallel")
pytest.importorskip("torch.distributed.device_mesh")


@pytest.mark.parametrize("groups", [1, 2])
def test_ranks_that_share_a_model(runner: Runner, groups: int) -> None:
    run_dir = runner.folder / f"sharded-{groups}"
    end = runner.start("tensor_parallel.py", str(groups), environment=runner.attached_environment(run_dir, EVERYTHING))
    assert end.exit_code == 0, end.stderr
    trial = trainwarden.open(run_dir)
    assert trial.steps("train") == list(range(8))
    found = [trial.scalar("trainwarden/batch/group", 1, "train", worker) for worker in trial.workers]
    assert found == [0, 0, 2, 2][: 2 * groups]
    assert "Sequential_input_0" in trial.tensor_names()  # not FSDPSequential
    assert not rules.run(run_dir, ["DuplicateBatch"], write_journal=False).fired
