"""Sharded models: ranks that share one by tensor parallelism rightly get the same batches, and parts are put together."""

from __future__ import annotations

import json
import math

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


@pytest.mark.parametrize("kind", ["kept", "flat"])
def test_parts_of_flat_parameters(runner: Runner, kind: str) -> None:
    run_dir = runner.folder / kind
    end = runner.start("flat_parameters.py", kind, environment=runner.attached_environment(run_dir, EVERYTHING))
    assert end.exit_code == 0, end.stderr
    whole = json.loads(end.stdout)
    trial = trainwarden.open(run_dir)
    shapes = {"0.0.weight": (7, 5), "0.0.bias": (7,), "1.weight": (3, 7), "1.bias": (3,)}
    for name, shape in shapes.items():
        found, values = trial.sharded(name, 3, "train"), whole[name]
        assert found.shape == shape
        assert (found.statistics.count, found.statistics.min, found.statistics.max) == (
            len(values),
            min(values),
            max(values),
        )
        assert found.statistics.mean == pytest.approx(math.fsum(values) / len(values), rel=1e-6)
        for prefix in ("gradient/{}", "optimizer_state/{}/exp_avg"):
            assert trial.sharded(prefix.format(name), 3, "train").statistics.count == len(values)
    assert not [name for name in trial.tensor_names() if "_flat_param" in name]
    # 50 elements in pieces of 14 or 8: the ranks have unequal numbers of parts.
    assert trial.sharded("0.0.weight", 3, "train").workers != trial.sharded("0.0.bias", 3, "train").workers


def test_the_output_of_a_collective_operation_that_still_runs(runner: Runner) -> None:
    run_dir = runner.folder / "asynchronous"
    end = runner.start("asynchronous_outputs.py", environment=runner.attached_environment(run_dir, EVERYTHING))
    assert end.exit_code == 0, end.stderr
    trial = trainwarden.open(run_dir)
    for step in range(3):
        for worker in trial.workers:
            assert (trial.value("summed_output_0", step, "train", worker) == 2.0 * step + 10).all()
            assert (trial.value("head_input_0", step, "train", worker) == 2.0 * step + 10).all()
