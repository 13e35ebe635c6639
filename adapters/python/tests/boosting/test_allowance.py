"""What is kept of boosted trees without a word of anybody's keeps to the budget."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Optional

import numpy as np
import pytest

import trainwarden
from trainwarden.boosting import allowance
from trainwarden.boosting.recorder import Recorder

ROUNDS = 40


class Clock:
    """A processor's time that passes where a test says so: a real one also counts what other programs take from it."""

    def __init__(self) -> None:
        self.ns = 0

    def thread_time_ns(self) -> int:
        return self.ns

    def perf_counter_ns(self) -> int:
        return self.ns


@pytest.fixture(autouse=True)
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    monkeypatch.setattr(allowance, "time", clock)
    return clock


class CostlyTrees:
    """A training whose trees take long to describe, and nothing else does."""

    library = "none"
    importance_kinds = ("gain",)
    tree_columns = ("Node",)
    explains = False

    def __init__(self, clock: Clock, cost_ms: float) -> None:
        self._clock = clock
        self._cost_ns = int(cost_ms * 1e6)

    def is_packed(self, model: Any) -> bool:
        return False

    def feature_names(self, model: Any) -> list[str]:
        return ["f0"]

    def own_metrics(self, model: Any) -> list[Any]:
        return []

    def importances(self, model: Any, features: list[str]) -> dict[str, float]:
        return {"feature_importance/gain/f0": 1.0}

    def size_of_predictions(self, model: Any) -> int:
        return 3

    def last_trees(self, model: Any, most: Optional[int]) -> dict[str, Any]:
        self._clock.ns += self._cost_ns
        return {"trees/Node": np.arange(3)}

    def predictions(self, model: Any) -> Any:
        return np.zeros(3)

    def labels(self, model: Any) -> Any:
        return np.zeros(3)


def kept(run: Path, clock: Clock, cost_ms: float, budget: float) -> dict[str, list[int]]:
    with trainwarden.Hook(run, include_collections=["losses"], budget=budget) as hook:
        hook.set_mode("train")
        recorder, training = Recorder(hook, {}), CostlyTrees(clock, cost_ms)
        for number in range(ROUNDS):
            recorder.record_metrics([])
            recorder.record_round(training, None, is_last=number == ROUNDS - 1)
            hook.step()
    trial = trainwarden.open(run)
    names = ("trees/Node", "feature_importance/gain/f0", "predictions")
    return {name: trial.tensor(name).steps("train") for name in names}


@pytest.mark.parametrize("cost_ms", [1.0, 60.0])
def test_trees_that_are_dear_are_kept_at_the_first_round_and_the_last(tmp_path: Path, clock: Clock, cost_ms: float) -> None:
    steps = kept(tmp_path / "run", clock, cost_ms, budget=0.01)
    due = [0, 1, 3, 7, 15, 31, 39]
    assert steps["trees/Node"] == (due if cost_ms == 1.0 else [0, 39])
    assert steps["feature_importance/gain/f0"] == steps["predictions"] == due, "what is cheap is kept all the same"


def test_without_a_budget_all_rounds_that_are_due_are_kept(tmp_path: Path, clock: Clock) -> None:
    assert kept(tmp_path / "run", clock, 60.0, budget=0)["trees/Node"] == [0, 1, 3, 7, 15, 31, 39]
