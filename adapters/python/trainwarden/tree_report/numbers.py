"""The numbers of a report: one JSON document, from which the page is drawn.

    version, run, state, rounds, objective, task ("binary", "classes", "regression", "other"), parameters
    labels           {"classes": [{"class", "rows"}]} or {"edges", "counts"}
    metrics          [{"metric", "is_loss", "sets": {SET: {"steps", "values"}}}]
    importance       {"step", "kinds": {KIND: {FEATURE: part}}}
    classification   {"step", "rows", "confusion", "accuracy", "classes", "macro", "micro", "weighted",
                      "recall_by_round": {"steps", "classes": {CLASS: [...]}}, "roc"}
    regression       {"step", "rows", ..., "residuals", "error_by_round": {"steps", "edges", "bins": [[...]]}}
    missing          what the run does not hold, a sentence each

Numbers that are not finite are null.
"""

from __future__ import annotations

import math
import os
from typing import Any

import numpy as np

from ..arrays import Array
from ..errors import FailedPrecondition
from ..trial import Trial
from .classification import confusion_of, evaluation_of, recalls_of, roc_of
from .material import importances_of, judged_rounds, parameters_of, samples_of, series_of
from .regression import absolute_errors_by_bin, errors_of, histogram_of, label_edges
from .task import classes_of, task_of

VERSION = 1
_KEEP = "capture it with TRAINWARDEN_INCLUDE_COLLECTIONS={}"


def numbers_of(trial: Trial) -> dict[str, Any]:
    """Raises FailedPrecondition for a run that has nothing of what boosted trees leave."""
    parameters = parameters_of(trial)
    objective = parameters.get("objective") or trial.labels.get("objective", "")
    step, kinds = importances_of(trial)
    metrics = _metrics(trial)
    rounds = judged_rounds(trial)
    if not metrics and not kinds and not rounds:
        raise FailedPrecondition(
            f"{trial.path} holds neither metrics nor importances nor predictions of boosted trees: expected a run of "
            "XGBoost or LightGBM that has trained a round"
        )
    document: dict[str, Any] = {
        "version": VERSION,
        "run": os.path.basename(os.path.normpath(trial.path)),
        "state": trial.state.value,
        "rounds": len(trial.steps()),
        "objective": objective,
        "task": "other",
        "parameters": parameters,
        "metrics": metrics,
        "importance": {"step": step, "kinds": kinds},
        "missing": _missing(metrics, kinds, rounds),
    }
    if rounds:
        document.update(_judgement(trial, objective, rounds, document["missing"]))
    return _plain(document)  # type: ignore[no-any-return]


def _metrics(trial: Trial) -> list[dict[str, Any]]:
    found: dict[str, dict[str, Any]] = {}
    for series in series_of(trial):
        entry = found.setdefault(series.metric, {"metric": series.metric, "is_loss": series.is_loss, "sets": {}})
        entry["sets"][series.data] = {"steps": series.steps, "values": series.values}
    return list(found.values())


def _missing(metrics: list[Any], kinds: dict[str, Any], rounds: list[int]) -> list[str]:
    sentences = []
    if not metrics:
        sentences.append("There are no metrics: the program evaluated nothing.")
    if not kinds:
        sentences.append(f"There are no importances of features; {_KEEP.format('feature_importance')}.")
    if not rounds:
        sentences.append(
            f"There is no round with both predictions and labels; {_KEEP.format('predictions,labels')}. Without them "
            "there is nothing to say of labels, classes and errors."
        )
    return sentences


def _judgement(trial: Trial, objective: str, rounds: list[int], missing: list[str]) -> dict[str, Any]:
    """What follows from labels and predictions."""
    labels, predictions = samples_of(trial, rounds[-1])
    task = task_of(objective, labels, predictions)
    if task == "other":
        missing.append(
            f"What the objective {objective or '(unknown)'} predicts, of shape {list(predictions.shape)}, cannot be "
            f"compared with the labels, of shape {list(labels.shape)}, one by one."
        )
        return {"labels": histogram_of(labels.reshape(-1)) if labels.size else None}
    if task == "regression":
        return {"task": task, "labels": histogram_of(labels), "regression": _regression(trial, rounds)}
    return {"task": task, **_classification(trial, objective, task, rounds)}


def _regression(trial: Trial, rounds: list[int]) -> dict[str, Any]:
    labels, predictions = samples_of(trial, rounds[-1])
    edges = label_edges(labels)
    bins = [absolute_errors_by_bin(*samples_of(trial, step), edges) for step in rounds]
    by_round = {"steps": rounds, "edges": edges.tolist(), "bins": [list(bin_) for bin_ in zip(*bins)]}
    return {"step": rounds[-1], "rows": len(labels), **errors_of(labels, predictions), "error_by_round": by_round}


def _classification(trial: Trial, objective: str, task: str, rounds: list[int]) -> dict[str, Any]:
    labels, predictions = samples_of(trial, rounds[-1])
    classes = _count_classes(labels, predictions, objective)
    recalls = []
    confusion: Array = np.zeros((classes, classes), np.int64)
    for step in rounds:
        truth, scores = samples_of(trial, step)
        confusion = confusion_of(truth, np.clip(classes_of(objective, scores), 0, classes - 1), classes)
        recalls.append(recalls_of(confusion))
    counts = np.bincount(labels.astype(np.int64), minlength=classes)
    by_round = {str(number): list(column) for number, column in enumerate(zip(*recalls)) if counts[number]}
    found = {
        "step": rounds[-1],
        "rows": len(labels),
        "confusion": confusion.tolist(),
        **evaluation_of(confusion),
        "recall_by_round": {"steps": rounds, "classes": by_round},
        "roc": roc_of(labels, predictions) if task == "binary" and predictions.ndim == 1 else None,
    }
    rows = [{"class": number, "rows": int(count)} for number, count in enumerate(counts)]
    return {"labels": {"classes": rows}, "classification": found}


def _count_classes(labels: Array, predictions: Array, objective: str) -> int:
    if predictions.ndim == 2:
        return int(max(predictions.shape[1], labels.max() + 1))
    return int(max(2, labels.max() + 1, classes_of(objective, predictions).max() + 1))


def _plain(value: Any) -> Any:
    """Numbers that JSON has not are null."""
    if isinstance(value, dict):
        return {key: _plain(each) for key, each in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(each) for each in value]
    if isinstance(value, (float, np.floating)):
        return float(value) if math.isfinite(value) else None
    return int(value) if isinstance(value, np.integer) else value
