"""What can be asked of a booster: features, importances, trees, contributions, metrics. Nothing is kept here."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import nullcontext
from typing import Any

import numpy as np

from ..boosting.training import Column, parts_of_whole
from .trees import columns_of

IMPORTANCES = ("weight", "gain", "cover", "total_gain", "total_cover")
# Metrics that are better when they are higher (XGBoost's own list, and what people call their own): they are no loss.
_HIGHER_IS_BETTER = ("auc", "aucpr", "pre", "map", "ndcg", "accuracy")


def is_packed(model: Any) -> bool:
    """Is it what xgboost.cv gives its callbacks: the boosters of all folds?"""
    return hasattr(model, "cvfolds")


def feature_names(model: Any, data: Any = None) -> list[str]:
    """As the program named them, in the model or in its data, else f0, f1, ... as XGBoost does."""
    names = model.feature_names or getattr(data, "feature_names", None)
    return list(names) if names else [f"f{number}" for number in range(model.num_features())]


def importances(model: Any, features: list[str]) -> dict[str, float]:
    """By "feature_importance/KIND/FEATURE". Each kind adds up to 1; a feature without a split has 0."""
    values: dict[str, float] = {}
    for kind in IMPORTANCES:
        scores = {name: _number(score) for name, score in model.get_score(importance_type=kind).items()}
        values.update(parts_of_whole(scores, features, kind))
    return values


def _number(score: Any) -> float:
    """Of a linear model with several classes it is a list."""
    return float(np.sum(score)) if isinstance(score, list) else float(score)


def last_trees(model: Any) -> dict[str, Column]:
    """The trees of the last round, by "trees/COLUMN"."""
    return columns_of_trees(model, last_dumps(model))


def last_dumps(model: Any) -> list[str]:
    """The same trees as XGBoost writes them."""
    last = model.num_boosted_rounds() - 1
    dumps: list[str] = model[last : last + 1].get_dump(with_stats=True, dump_format="json")
    return dumps


def nodes_of(dumps: list[str]) -> int:
    return sum(dump.count('"nodeid"') for dump in dumps)


def columns_of_trees(model: Any, dumps: list[str]) -> dict[str, Column]:
    first = (model.num_boosted_rounds() - 1) * len(dumps)
    return {f"trees/{name}": column for name, column in columns_of(dumps, first).items()}


def contributions(model: Any, data: Any) -> Any:
    """SHAP values: [rows, features and the bias], with several classes [rows, classes, features and the bias]."""
    return model.predict(data, pred_contribs=True)


def metrics_on(model: Any, data: Any, name: str) -> Iterator[tuple[str, str, float]]:
    """Those of the booster's parameters: name, metric and value. By a copy: a booster that evaluates keeps the metric
    of its objective as one that it was given, in its configuration and in the results of all later evaluations."""
    with _in_silence():
        said = model.copy().eval_set([(data, name)])
    for part in said.split()[1:]:
        key, _, value = part.rpartition(":")
        yield name, key[len(name) + 1 :], float(value)


def _in_silence() -> Any:
    """The copy says nothing of its parameters that the model has not said. XGBoost before 1.3 has no such setting."""
    import xgboost

    return xgboost.config_context(verbosity=0) if hasattr(xgboost, "config_context") else nullcontext()


def is_loss(metric: str) -> bool:
    """Is it better when it is lower?"""
    return not metric.lower().split("@")[0].split("-")[0].endswith(_HIGHER_IS_BETTER)
