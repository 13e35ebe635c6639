"""Recorder: what a round leaves in the run.

Metrics are free, the framework has computed them, and are kept of every round. The rest costs more than a small round
does: it is kept when a configuration or a rule wants it, and without a word of anybody's at the rounds 1, 2, 4, 8, ...
and the last; between these as often as the budget allows. Contributions of features (SHAP) cost many times a round and
are made only where they are asked for.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any, Callable, Optional, Union

import numpy as np

from .. import faults
from ..hook import Hook
from .allowance import Allowance
from .training import MAX_EXPLAINED_ROWS, Metric, Training

_MAX_FEATURES = 1000  # several tensors each
_PARTS = 5  # that share an allowance: metrics, trees, predictions, labels, importances
_MAX_FAILURES = 3
# Limits of what nobody has asked for: beside the training it takes no memory to speak of.
_MAX_NODES = 1 << 15
_MAX_PREDICTIONS = 1 << 21

# Is a collection to be kept without a word of anybody's?
_Due = Callable[[str], bool]
# Gives values by their names, None when they are larger than this.
_Compute = Callable[[Optional[int]], Optional[Mapping[str, Any]]]


class Recorder:
    """Of one training."""

    def __init__(self, hook: Hook, parameters: Mapping[str, Union[float, list[str]]]) -> None:
        self._hook = hook
        self._ids: dict[str, int] = {}  # of all tensors, by name
        self._groups: dict[str, list[int]] = {}  # of those of a collection
        self._parameters = parameters
        self._rounds = 0  # recorded so far
        self._has_metrics = False
        self._failures: Counter[str] = Counter()  # by collection
        self._features: list[str] = []
        self._allowance = Allowance(hook.report().bill.budget, _PARTS)

    def record_metrics(self, metrics: Iterable[Metric]) -> None:
        self._has_metrics = False
        for metric in metrics:
            self._has_metrics = True
            self._keep_metric(metric)

    def record_round(self, training: Training, model: Any, is_last: bool) -> None:
        """Behind record_metrics() of the same round. Neither of the two is kept."""
        is_due, due = self._due(is_last)
        self._rounds += 1
        if self._rounds == 1:
            self._keep("hyperparameters", self._parameters, is_due=True)
        if training.is_packed(model):
            return  # the boosters of a cross-validation; nobody keeps any of them
        if not self._features:
            self._features = training.feature_names(model)
            if len(self._features) > _MAX_FEATURES:
                faults.say_once(f"{len(self._features)} features: their importances and contributions are not captured")
        if not self._has_metrics and is_due and (is_last or self._allowance.allows("metrics")):
            self._measure(training, model)
        self._record("trees", lambda: list(training.tree_columns), lambda most: training.last_trees(model, most), due)
        due_of_rows = due if training.size_of_predictions(model) <= _MAX_PREDICTIONS else _never
        self._record("predictions", list, lambda _: {"predictions": training.predictions(model)}, due_of_rows)
        self._record("labels", list, lambda _: {"labels": training.labels(model)}, due_of_rows)
        if len(self._features) <= _MAX_FEATURES:
            self._record_features(training, model, due)

    def _due(self, is_last: bool) -> tuple[bool, _Due]:
        """Is something of this round to be kept, and what?"""
        if is_last:
            return True, lambda _: True
        if (self._rounds + 1) & self._rounds == 0:
            return True, self._allowance.allows
        return False, _never

    def _record_features(self, training: Training, model: Any, due: _Due) -> None:
        def of_importances() -> list[str]:
            return [f"{kind}/{feature}" for kind in training.importance_kinds for feature in self._features]

        def of_contributions() -> list[str]:
            return [*self._features, "bias"]

        def compute_importances(_: Optional[int]) -> dict[str, float]:
            return training.importances(model, self._features)

        if training.importance_kinds:
            self._record("feature_importance", of_importances, compute_importances, due)
        if training.explains:
            self._record("average_shap", of_contributions, lambda _: self._explain(training, model)[0], _never)
            self._record("full_shap", of_contributions, lambda _: self._explain(training, model)[1], _never)

    def _record(
        self,
        collection: str,
        members: Callable[[], list[str]],
        compute: _Compute,
        due: _Due,
    ) -> None:
        """Keeps what `compute` gives. `members`, asked once, are the names behind "COLLECTION/"; none: the collection's
        name is that of its one tensor."""
        ids = self._groups.get(collection)
        if ids is None:
            names = [f"{collection}/{member}" for member in members()] or [collection]
            ids = self._groups[collection] = [self._id(name, collection) for name in names]
        is_due = due(collection)
        if not is_due and not self._hook.wants_any(ids):
            return
        with self._allowance.paying(collection):
            values = self._computed(collection, compute, _MAX_NODES if is_due else None)
            if values is not None:
                self._keep(collection, values, is_due)

    def _computed(self, what: str, compute: _Compute, most: Optional[int]) -> Optional[Mapping[str, Any]]:
        """Some boosters have no trees, some matrices cannot be predicted from: no reason to leave out the rest, nor to
        try for ever."""
        if self._failures[what] >= _MAX_FAILURES:
            return None
        begin = time.perf_counter_ns()
        try:
            with np.errstate(all="ignore"):  # the program's filters and handlers hear nothing of our divisions
                return compute(most)
        except Exception as error:
            self._failures[what] += 1
            if self._failures[what] == 1:  # the message of XGBoost has the time in it, and would be news each time
                faults.say_once(f"{what} of this training cannot be captured: {faults.first_line(error)}")
            return None
        finally:
            self._hook.add_cost_ns(max(0, time.perf_counter_ns() - begin))

    def _keep(self, collection: str, values: Mapping[str, Any], is_due: bool) -> None:
        for name, value in values.items():
            identity = self._id(name, collection)
            if is_due:
                self._hook.observe(identity, value)
            else:
                self._hook.save_tensor(identity, value)

    def _keep_metric(self, metric: Metric) -> None:
        name = f"{metric.data}-{metric.name}"
        if metric.deviation is not None:
            self._hook.observe(self._id(f"{name}-std", "metrics"), metric.deviation)
        collections = ("metrics", "losses") if metric.is_loss else ("metrics",)
        self._hook.observe(self._id(name, *collections), metric.value)

    def _id(self, name: str, *collections: str) -> int:
        identity = self._ids.get(name)
        if identity is None:
            identity = self._ids[name] = self._hook.declare(name, collections)
        return identity

    def _measure(self, training: Training, model: Any) -> None:
        """A program that asks for no metric gets those of its objective, on what it trains with."""
        begin = time.perf_counter_ns()
        with self._allowance.paying("metrics"), np.errstate(all="ignore"):
            metrics = training.own_metrics(model)
        self._hook.add_cost_ns(max(0, time.perf_counter_ns() - begin))
        for metric in metrics:
            self._keep_metric(metric)

    def _explain(self, training: Training, model: Any) -> tuple[dict[str, Any], dict[str, Any]]:
        """The mean contribution of each feature, and its contribution to each row, of the first rows."""
        shares = training.contributions(model, MAX_EXPLAINED_ROWS)
        explained = [*self._features, "bias"]
        return (
            {f"average_shap/{name}": shares[..., column].mean(axis=0) for column, name in enumerate(explained)},
            {f"full_shap/{name}": np.ascontiguousarray(shares[..., column]) for column, name in enumerate(explained)},
        )


def _never(collection: str) -> bool:
    return False
