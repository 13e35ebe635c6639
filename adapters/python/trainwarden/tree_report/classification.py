"""How well classes are told apart: scikit-learn's figures, without scikit-learn. A part of nothing is 0, as there."""

from __future__ import annotations

from typing import Any, Optional

import numpy as np

from ..arrays import Array

MAX_CURVE = 500  # points of a ROC curve that are kept


def confusion_of(labels: Array, predicted: Array, classes: int) -> Array:
    """[label, predicted]: how many rows."""
    counts = np.bincount(labels.astype(np.int64) * classes + predicted.astype(np.int64), minlength=classes * classes)
    return np.asarray(counts.reshape(classes, classes))


def evaluation_of(confusion: Array) -> dict[str, Any]:
    """Of each class, and over all: macro is the mean of the classes, weighted that by their rows, micro counts rows."""
    right = np.diag(confusion).astype(float)
    support = confusion.sum(axis=1)
    precision, recall = _part(right, confusion.sum(axis=0)), _part(right, support)
    f1 = _part(2 * precision * recall, precision + recall)
    scores = {"precision": precision, "recall": recall, "f1": f1}
    accuracy = float(_part(right.sum(), confusion.sum()))
    occurs = (support > 0) | (confusion.sum(axis=0) > 0)  # as scikit-learn: in the labels or in the predictions
    return {
        "accuracy": accuracy,
        "classes": [
            {"class": number, **{name: float(values[number]) for name, values in scores.items()},
             "rows": int(support[number])}
            for number in range(len(confusion)) if occurs[number]
        ],
        "macro": {name: float(values[occurs].mean()) for name, values in scores.items()},
        "weighted": {name: float(_part((values * support).sum(), support.sum())) for name, values in scores.items()},
        "micro": dict.fromkeys(scores, accuracy),
    }  # fmt: skip


def recalls_of(confusion: Array) -> list[Optional[float]]:
    """The diagonal's part of its row, of each class; None: no row has the class."""
    support = confusion.sum(axis=1)
    return [float(right / rows) if rows else None for right, rows in zip(np.diag(confusion), support)]


def roc_of(labels: Array, scores: Array) -> Optional[dict[str, Any]]:
    """The curve from the strictest threshold to the loosest, and the area under it; None where one class is missing."""
    scores = np.asarray(scores, np.float64)
    order = np.argsort(-scores, kind="stable")
    is_positive = labels[order] == 1
    positives, negatives = int(is_positive.sum()), int((~is_positive).sum())
    if not positives or not negatives:
        return None
    ends = np.append(np.flatnonzero(np.diff(scores[order])), len(scores) - 1)  # the last row of each score
    hits = np.concatenate([[0.0], np.cumsum(is_positive)[ends] / positives])
    alarms = np.concatenate([[0.0], np.cumsum(~is_positive)[ends] / negatives])
    area = float(((hits[1:] + hits[:-1]) / 2 * np.diff(alarms)).sum())
    kept = np.unique(np.linspace(0, len(hits) - 1, min(len(hits), MAX_CURVE)).round().astype(int))
    thresholds = [None, *scores[order][ends].tolist()]
    return {
        "auc": area,
        "false_positive_rate": alarms[kept].tolist(),
        "true_positive_rate": hits[kept].tolist(),
        "thresholds": [thresholds[place] for place in kept],
    }


def _part(part: Any, whole: Any) -> Any:
    return np.divide(part, whole, out=np.zeros_like(np.asarray(part, float)), where=np.asarray(whole) != 0)
