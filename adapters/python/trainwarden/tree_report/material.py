"""What a report is made of, read from a run: the names are those of smdebug's hook, so its runs do too."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any, Optional

import numpy as np

from ..arrays import Array
from ..options import Kept
from ..trial import Trial

MAX_JUDGED_ROUNDS = 200  # predictions of more rounds than these are not read: some of them, evenly
_METRIC = re.compile(r"^[^/]+-[^/]+$")
_WHOLE = (Kept.SCALAR, Kept.VALUE)


@dataclass(frozen=True)
class Series:
    """A metric of a set of data, by round."""

    data: str
    metric: str
    is_loss: bool
    steps: list[int]
    values: list[float]


def series_of(trial: Trial) -> list[Series]:
    """All metrics, losses first."""
    marked = set(trial.tensor_names(collection="metrics")) if "metrics" in trial.collections() else set()
    names = [name for name in trial.tensor_names() if name in marked or (not marked and _METRIC.match(name))]
    losses = set(trial.tensor_names(collection="losses")) if "losses" in trial.collections() else set()
    found = []
    for name in names:
        if name.endswith("-std") and name[: -len("-std")] in names:
            continue  # how far the folds of a cross-validation are apart
        data, _, metric = name.partition("-")  # XGBoost has metrics with a dash, and allows none in the names of sets
        scalars = trial.tensor(name).scalars()
        if data and scalars:
            found.append(Series(data, metric, name in losses, list(scalars), list(scalars.values())))
    return sorted(found, key=lambda series: (not series.is_loss, series.metric))


def importances_of(trial: Trial) -> tuple[Optional[int], dict[str, dict[str, float]]]:
    """The last round that has them, and by kind the part of each feature, largest first."""
    kinds: dict[str, dict[str, float]] = {}
    last: Optional[int] = None
    names = trial.tensor_names("^feature_importance/")
    steps = {name: trial.tensor(name).steps(kept=_WHOLE) for name in names}
    last = max((found[-1] for found in steps.values() if found), default=None)
    for name in names:
        if last is not None and last in steps[name]:
            _, kind, feature = name.split("/", 2)
            kinds.setdefault(kind, {})[feature] = trial.scalar(name, last)
    ordered = {kind: dict(sorted(parts.items(), key=lambda part: -part[1])) for kind, parts in kinds.items()}
    return last, _without_doubles(ordered)


def _without_doubles(kinds: dict[str, dict[str, float]]) -> dict[str, dict[str, float]]:
    """LightGBM's "split" is there as "weight" too."""
    if kinds.get("split") is not None and kinds.get("split") == kinds.get("weight"):
        return {kind: parts for kind, parts in kinds.items() if kind != "weight"}
    return kinds


def parameters_of(trial: Trial) -> dict[str, str]:
    """The hyper-parameters as texts."""
    found = {}
    for name in trial.tensor_names("^hyperparameters/"):
        tensor, short = trial.tensor(name), name.split("/", 1)[1]
        if whole := tensor.steps(kept=Kept.VALUE):
            found[short] = ", ".join(_text(each) for each in np.asarray(tensor.value(whole[0])).reshape(-1).tolist())
        elif numbers := tensor.scalars():
            found[short] = _text(next(iter(numbers.values())))
    return found


def _text(value: Any) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)


def judged_rounds(trial: Trial) -> list[int]:
    """Those that have predictions and labels, rising."""
    if not trial.has_tensor("predictions") or not trial.has_tensor("labels"):
        return []
    labels = set(trial.tensor("labels").steps(kept=Kept.VALUE))
    steps = [step for step in trial.tensor("predictions").steps(kept=Kept.VALUE) if step in labels]
    if len(steps) <= MAX_JUDGED_ROUNDS:
        return steps
    places = np.linspace(0, len(steps) - 1, MAX_JUDGED_ROUNDS).round().astype(int)
    return [steps[place] for place in places]


def samples_of(trial: Trial, step: int) -> tuple[Array, Array]:
    """Labels and predictions of the same rows, of all workers."""
    labels: list[Any] = []
    predictions: list[Any] = []
    having = set(trial.workers_of("labels", step))
    for worker in trial.workers_of("predictions", step):
        if worker in having:
            labels.append(np.asarray(trial.value("labels", step, worker=worker)))
            predictions.append(np.asarray(trial.value("predictions", step, worker=worker)))
    return np.concatenate(labels), np.concatenate(predictions)
