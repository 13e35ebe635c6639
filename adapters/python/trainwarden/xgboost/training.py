"""XGBoostTraining: what XGBoost tells of one of its trainings."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Optional

from xgboost.core import XGBoostError

from ..boosting.parameters import items_of
from ..boosting.training import Column, Metric
from . import facts
from .parameters import effective
from .ranks import rank_and_size
from .trees import ALL_COLUMNS


class XGBoostTraining:
    """See boosting/training.py. A model is a Booster, or what xgboost.cv gives its callbacks."""

    library = "xgboost"
    importance_kinds: tuple[str, ...] = facts.IMPORTANCES
    tree_columns: tuple[str, ...] = ALL_COLUMNS
    explains = True

    def __init__(self, params: Any, dtrain: Any, evals: Any = None, rounds: Optional[int] = None) -> None:
        """`rounds`: of a call of train(); None: of a loop of the program's own."""
        self._params = params
        self._rounds = rounds
        self._dtrain = dtrain
        self._judged = _last_of(evals, dtrain)

    def rounds(self, model: Any) -> Optional[int]:
        try:
            return int(model.num_boosted_rounds())
        except XGBoostError:
            return None  # of parameters that are wrong, which XGBoost tells the program in a moment

    def rounds_to_come(self, model: Any) -> Optional[int]:
        return self._rounds

    def parameters(self, model: Any) -> dict[str, Any]:
        return effective(self._params, model.cvfolds[0].bst if self.is_packed(model) else model)

    def place(self) -> Optional[tuple[int, int]]:
        return rank_and_size()

    def is_packed(self, model: Any) -> bool:
        return facts.is_packed(model)

    def feature_names(self, model: Any) -> list[str]:
        return facts.feature_names(model, self._dtrain)

    def own_metrics(self, model: Any) -> list[Metric]:
        found = facts.metrics_on(model, self._dtrain, "train")
        return [Metric(data, name, value, facts.is_loss(name)) for data, name, value in found]

    def importances(self, model: Any, features: list[str]) -> dict[str, float]:
        return facts.importances(model, features)

    def last_trees(self, model: Any, most: Optional[int] = None) -> Optional[dict[str, Column]]:
        dumps = facts.last_dumps(model)
        return None if most is not None and facts.nodes_of(dumps) > most else facts.columns_of_trees(model, dumps)

    def size_of_predictions(self, model: Any) -> int:
        return int(self._judged.num_row())

    def predictions(self, model: Any) -> Any:
        return model.predict(self._judged)

    def labels(self, model: Any) -> Any:
        return self._judged.get_label()

    def contributions(self, model: Any, rows: int) -> Any:
        is_whole = self._judged.num_row() <= rows
        return facts.contributions(model, self._judged if is_whole else self._judged.slice(list(range(rows))))


def _last_of(evals: Any, otherwise: Any) -> Any:
    """The matrix whose predictions are kept: that of smdebug's hook. What is no list may be read once, by XGBoost."""
    pair = items_of((items_of(evals) or [None])[-1])
    return pair[0] if pair else otherwise


def metrics_of(evals_log: Mapping[str, Mapping[str, list[Any]]]) -> Iterator[Metric]:
    """The newest of each, as XGBoost keeps them for its callbacks."""
    for data, metrics in evals_log.items():
        for name, values in metrics.items():
            value, deviation = values[-1] if isinstance(values[-1], tuple) else (values[-1], None)
            yield Metric(data, name, float(value), facts.is_loss(name), None if deviation is None else float(deviation))
