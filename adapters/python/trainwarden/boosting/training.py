"""Training: what a framework's adapter tells of one training that is followed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Optional, Protocol, Union

import numpy as np

Column = Union["np.ndarray[Any, Any]", list[str]]

MAX_EXPLAINED_ROWS = 500  # contributions cost many times a round


@dataclass(frozen=True)
class Metric:
    """A number that the framework computes of a set of data behind a round."""

    data: str
    name: str
    value: float
    is_loss: bool  # it is better when it is lower
    deviation: Optional[float] = None  # of a cross-validation: how far its folds are apart


class Training(Protocol):
    """What can be asked of a training. Nothing is kept here, and what is asked may raise: it is left out then."""

    library: str  # the module
    importance_kinds: tuple[str, ...]
    tree_columns: tuple[str, ...]
    explains: bool  # contributions can be had

    def rounds(self, model: Any) -> Optional[int]:
        """That the model has when the training begins; None: the training is to be left alone."""

    def rounds_to_come(self, model: Any) -> Optional[int]:
        """That this call is to train, if nothing ends it earlier, when it begins; None: not known."""

    def parameters(self, model: Any) -> dict[str, Any]:
        """As the program gave them, and those that matter most as the framework has them."""

    def place(self) -> Optional[tuple[int, int]]:
        """Rank and world size; None: the process trains alone."""

    def is_packed(self, model: Any) -> bool:
        """Is it what a cross-validation gives its callbacks: the boosters of all folds?"""

    def feature_names(self, model: Any) -> list[str]:
        """As the program named them, else as the framework does."""

    def own_metrics(self, model: Any) -> list[Metric]:
        """Of the data that are trained with, for a program that evaluates nothing."""

    def importances(self, model: Any, features: list[str]) -> dict[str, float]:
        """By "feature_importance/KIND/FEATURE". Each kind adds up to 1; a feature without a split has 0."""

    def last_trees(self, model: Any, most: Optional[int]) -> Optional[dict[str, Column]]:
        """The trees of the last round, by "trees/COLUMN": a row a node. None: they have more than `most` nodes."""

    def size_of_predictions(self, model: Any) -> int:
        """How many numbers they are, without computing them."""

    def predictions(self, model: Any) -> Any:
        """Of the set whose predictions are kept: the last that is evaluated, else what is trained with."""

    def labels(self, model: Any) -> Any:
        """Of the same rows."""

    def contributions(self, model: Any, rows: int) -> Any:
        """SHAP values of the first rows: [rows, features and the bias], or [rows, classes, features and the bias]."""


def parts_of_whole(scores: Mapping[str, float], features: list[str], kind: str) -> dict[str, float]:
    """Importances by the names of their tensors; they add up to 1, unless all are 0."""
    total = sum(scores.values())
    shares = {feature: scores.get(feature, 0.0) / total if total > 0 else 0.0 for feature in features}
    return {f"feature_importance/{kind}/{feature}": share for feature, share in shares.items()}
