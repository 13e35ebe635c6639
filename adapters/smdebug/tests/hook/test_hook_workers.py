"""Hooks of several workers of one training."""

from __future__ import annotations

import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

import trainwarden
from hook_runs import run


@pytest.mark.parametrize(("include_workers", "workers"), [("all", 2), ("one", 1)])
def test_distributed_data_parallel(run_dir: Path, include_workers: str, workers: int) -> None:
    def work(rank: int) -> None:
        run(sys.executable, "distributed.py", str(run_dir), str(rank), "2", include_workers)

    with ThreadPoolExecutor() as pool:
        list(pool.map(work, range(2)))
    trial = trainwarden.open(run_dir)
    assert trial.workers == [f"rank-{rank:05}" for rank in range(workers)]
    assert trial.world_size == workers
    for rank, worker in enumerate(trial.workers):
        value = trial.value("DistributedDataParallel_input_0", 2, worker=worker)
        assert np.array_equal(value, np.full((2, 3), rank))
    assert trial.tensor("DistributedDataParallel_module.weight").steps() == [0, 1, 2]
    assert trial.tensor("gradient/DistributedDataParallel_module.weight").steps() == [0, 1, 2]
