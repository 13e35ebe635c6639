"""Objectives as users write them for Optuna: each takes the module, `optuna` or `trainwarden.tuning`, for its exceptions
alone, and runs unchanged with either."""

from __future__ import annotations

import math
from typing import Any, Callable


def quadratic(trial: Any) -> float:
    x = trial.suggest_float("x", -10, 10)
    return float((x - 2) ** 2)


def classifier(trial: Any) -> float:
    """One of two classifiers with parameters of its own; an error rate that is known."""
    name = trial.suggest_categorical("classifier", ["SVC", "RandomForest"])
    if name == "SVC":
        c = trial.suggest_float("svc_c", 1e-10, 1e10, log=True)
        return 0.05 + min(1.0, abs(math.log10(c) - 1) / 20)
    depth = trial.suggest_int("rf_max_depth", 2, 32, log=True)
    trees = trial.suggest_int("rf_trees", 10, 100, step=10)
    return 0.1 + depth / 100 + trees / 1000


def pruned_curve(optuna: Any) -> Callable[[Any], float]:
    def objective(trial: Any) -> float:
        rate = trial.suggest_float("rate", 1e-5, 1e-1, log=True)
        for step in range(10):
            error = abs(math.log10(rate) + 3) + 1 / (step + 1)
            trial.report(error, step)
            if trial.should_prune():
                raise optuna.TrialPruned()
        return error

    return objective


def two_goals(trial: Any) -> tuple[float, float]:
    x = trial.suggest_float("x", 0, 5)
    y = trial.suggest_float("y", 0, 3)
    return 4 * x**2 + 4 * y**2, (x - 5) ** 2 + (y - 5) ** 2


def categories(trial: Any) -> float:
    optimizer = trial.suggest_categorical("optimizer", ["MomentumSGD", "Adam"])
    features = trial.suggest_categorical("max_features", ["sqrt", None, 0.5, 3, True])
    drop = trial.suggest_float("drop", 0.0, 1.0, step=0.1)
    trial.set_user_attr("features", features)
    assert features is None or features is True or features in ("sqrt", 0.5, 3)
    assert math.isclose(drop * 10, round(drop * 10))
    return drop + (optimizer == "Adam") + (features is None)


def network(trial: Any) -> float:
    """A number of layers, and a size of each."""
    layers = trial.suggest_int("n_layers", 1, 3)
    sizes = [trial.suggest_int(f"n_units_l{i}", 4, 128, log=True) for i in range(layers)]
    return float(sum(sizes))
