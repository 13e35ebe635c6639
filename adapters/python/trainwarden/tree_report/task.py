"""What a model is for: by its objective, and where that is the program's own, by what it predicts."""

from __future__ import annotations

from typing import Optional

import numpy as np

from ..arrays import Array

_MAX_CLASSES = 1000
_BINARY = ("binary", "cross_entropy", "xentropy")
_CLASSES = ("multi", "softmax")
_RANKING = ("rank", "lambdarank", "survival", "aft")  # what they predict is no label
_REGRESSION = (
    "reg", "count", "l1", "l2", "mse", "mae", "mape", "huber", "fair", "poisson", "quantile", "gamma", "tweedie"
)  # fmt: skip


def task_of(objective: str, labels: Array, predictions: Array) -> str:
    """ "binary", "classes", "regression" or "other"."""
    if labels.ndim != 1 or predictions.shape[0] != labels.shape[0] or predictions.ndim > 2:
        return "other"
    known = _by_name(objective, predictions)
    if known is None:
        known = _by_values(labels, predictions)
    if known in ("binary", "classes") and not _are_classes(labels):
        return "regression" if predictions.ndim == 1 else "other"
    return known


def _by_name(objective: str, predictions: Array) -> Optional[str]:
    name = objective.lower()
    if name.startswith(_BINARY):
        return "binary"
    if name.startswith(_CLASSES):
        return "classes"
    if name.startswith(_RANKING):
        return "other"
    if name.startswith(_REGRESSION):
        return "regression" if predictions.ndim == 1 else "other"
    return None


def _by_values(labels: Array, predictions: Array) -> str:
    if predictions.ndim == 2:
        return "classes" if predictions.shape[1] > 1 and _are_classes(labels) else "other"
    is_yes_or_no = bool(np.isin(labels, (0, 1)).all()) and bool(((predictions >= 0) & (predictions <= 1)).all())
    return "binary" if is_yes_or_no else "regression"


def _are_classes(labels: Array) -> bool:
    """Whole numbers from 0 on, not too many."""
    whole = bool(np.isfinite(labels).all()) and bool((labels == np.floor(labels)).all())
    return whole and bool((labels >= 0).all()) and bool((labels < _MAX_CLASSES).all())


def classes_of(objective: str, predictions: Array) -> Array:
    """What is predicted for each row, as a class' number."""
    if predictions.ndim == 2:
        return np.asarray(predictions.argmax(axis=1))
    if objective.startswith("multi:softmax"):
        return np.asarray(predictions).astype(np.int64)
    threshold = 0.0 if objective == "binary:logitraw" else 0.5
    return (np.asarray(predictions) > threshold).astype(np.int64)
