"""BoostedTraining: what both kinds of scikit-learn's boosted trees tell of one of their trainings."""

from __future__ import annotations

from typing import Any, Optional

import numpy as np

from ..boosting.training import Column, Metric
from .parameters import parameters_of
from .trees import COLUMNS


class BoostedTraining:
    """See boosting/training.py. A model is an estimator that is being fitted.

    Attributes:
        raw, right: of the rows that are trained with: what the model says, before its link, and what it is to say.
    """

    library = "sklearn"
    importance_kinds: tuple[str, ...] = ()
    tree_columns: tuple[str, ...] = COLUMNS
    explains = False

    def __init__(self, first_round: int) -> None:
        self._first_round = first_round
        self.raw: Any = None
        self.right: Any = None

    def rounds(self, model: Any) -> Optional[int]:
        return self._first_round

    def rounds_to_come(self, model: Any) -> Optional[int]:
        return None

    def parameters(self, model: Any) -> dict[str, Any]:
        return parameters_of(model)

    def place(self) -> Optional[tuple[int, int]]:
        return None

    def is_packed(self, model: Any) -> bool:
        return False

    def feature_names(self, model: Any) -> list[str]:
        names = getattr(model, "feature_names_in_", None)
        return [f"f{number}" for number in range(model.n_features_in_)] if names is None else [str(n) for n in names]

    def own_metrics(self, model: Any) -> list[Metric]:
        return []

    def importances(self, model: Any, features: list[str]) -> dict[str, float]:
        return {}

    def last_trees(self, model: Any, most: Optional[int] = None) -> Optional[dict[str, Column]]:
        raise NotImplementedError

    def size_of_predictions(self, model: Any) -> int:
        return int(self.raw.size)

    def predictions(self, model: Any) -> Any:
        if hasattr(model, "classes_"):
            return np.asarray(model._loss.predict_proba(self.raw))
        return np.asarray(model._loss.link.inverse(self.raw)).ravel()

    def labels(self, model: Any) -> Any:
        return np.asarray(self.right)

    def contributions(self, model: Any, rows: int) -> Any:
        raise NotImplementedError
