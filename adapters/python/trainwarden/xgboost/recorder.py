"""Recorder: what a round leaves in the run.

Metrics are free, XGBoost has computed them, and are kept of every round. The rest costs more than a small round does:
it is kept when a configuration or a rule wants it, and without a word of anybody's at the rounds 1, 2, 4, 8, ... and
the last. Contributions of features (SHAP) cost many times a round and are made only where they are asked for.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any, Callable, Optional, Union

import numpy as np

from .. import faults
from ..hook import Hook
from . import facts
from .trees import COLUMNS

_MAX_EXPLAINED_ROWS = 500
_MAX_FEATURES = 1000  # several tensors each


class Recorder:
    """Of one training."""

    def __init__(
        self, hook: Hook, dtrain: Any, evals: list[Any], parameters: Mapping[str, Union[float, list[str]]]
    ) -> None:
        self._hook = hook
        self._dtrain = dtrain
        self._judged = evals[-1][0] if evals else dtrain  # the matrix whose predictions are kept, as smdebug's hook does
        self._ids: dict[str, int] = {}  # of all tensors, by name
        self._groups: dict[str, list[int]] = {}  # of those of a collection
        self._parameters = parameters
        self._rounds = 0  # recorded so far
        self._has_metrics = False
        self._features: list[str] = []

    def record_metrics(self, evals_log: Mapping[str, Mapping[str, list[Any]]]) -> None:
        self._has_metrics = bool(evals_log)
        for data, metrics in evals_log.items():
            for metric, values in metrics.items():
                self._keep_metric(data, metric, values[-1])

    def record_round(self, model: Any, is_last: bool) -> None:
        """Behind record_metrics() of the same round."""
        is_due = is_last or (self._rounds + 1) & self._rounds == 0
        self._rounds += 1
        if self._rounds == 1:
            self._keep("hyperparameters", self._parameters, is_due=True)
        if facts.is_packed(model):
            return  # the boosters of a cross-validation; nobody keeps any of them
        if not self._features:
            self._features = facts.feature_names(model, self._dtrain)
            if len(self._features) > _MAX_FEATURES:
                faults.say_once(f"{len(self._features)} features: their importances and contributions are not captured")
        if not self._has_metrics and is_due:
            self._measure(model)
        self._record("trees", lambda: list(COLUMNS), lambda: facts.last_trees(model), is_due)
        self._record("predictions", list, lambda: {"predictions": model.predict(self._judged)}, is_due)
        self._record("labels", list, lambda: {"labels": self._judged.get_label()}, is_due)
        if len(self._features) <= _MAX_FEATURES:
            self._record_features(model, is_due)

    def _record_features(self, model: Any, is_due: bool) -> None:
        def of_importances() -> list[str]:
            return [f"{kind}/{feature}" for kind in facts.IMPORTANCES for feature in self._features]

        def of_contributions() -> list[str]:
            return [*self._features, "bias"]

        self._record("feature_importance", of_importances, lambda: facts.importances(model, self._features), is_due)
        self._record("average_shap", of_contributions, lambda: self._explain(model)[0], False)
        self._record("full_shap", of_contributions, lambda: self._explain(model)[1], False)

    def _record(
        self,
        collection: str,
        members: Callable[[], list[str]],
        compute: Callable[[], Mapping[str, Any]],
        is_due: bool,
    ) -> None:
        """Keeps what `compute` gives. `members`, asked once, are the names behind "COLLECTION/"; none: the collection's
        name is that of its one tensor."""
        ids = self._groups.get(collection)
        if ids is None:
            names = [f"{collection}/{member}" for member in members()] or [collection]
            ids = self._groups[collection] = [self._id(name, collection) for name in names]
        if not is_due and not any(self._hook.wants(each) for each in ids):
            return
        values = self._computed(collection, compute)
        if values is not None:
            self._keep(collection, values, is_due)

    def _computed(self, what: str, compute: Callable[[], Mapping[str, Any]]) -> Optional[Mapping[str, Any]]:
        """Some boosters have no trees, some matrices cannot be predicted from: that is no reason to leave out the rest."""
        begin = time.perf_counter_ns()
        try:
            return compute()
        except Exception as error:
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

    def _keep_metric(self, data: str, metric: str, value: Any) -> None:
        if isinstance(value, tuple):  # of a cross-validation: the mean of its folds, and how far they are apart
            value, deviation = value
            self._hook.observe(self._id(f"{data}-{metric}-std", "metrics"), float(deviation))
        collections = ("metrics", "losses") if facts.is_loss(metric) else ("metrics",)
        self._hook.observe(self._id(f"{data}-{metric}", *collections), float(value))

    def _id(self, name: str, *collections: str) -> int:
        identity = self._ids.get(name)
        if identity is None:
            identity = self._ids[name] = self._hook.declare(name, collections)
        return identity

    def _measure(self, model: Any) -> None:
        """A program that asks for no metric gets those of its objective, on what it trains with."""
        for data, metric, value in facts.metrics_on(model, self._dtrain, "train"):
            self._keep_metric(data, metric, value)

    def _explain(self, model: Any) -> tuple[dict[str, Any], dict[str, Any]]:
        """The mean contribution of each feature, and its contribution to each row, of the first rows."""
        rows = min(self._judged.num_row(), _MAX_EXPLAINED_ROWS)
        sample = self._judged if rows == self._judged.num_row() else self._judged.slice(list(range(rows)))
        shares = facts.contributions(model, sample)
        explained = [*self._features, "bias"]
        return (
            {f"average_shap/{name}": shares[..., column].mean(axis=0) for column, name in enumerate(explained)},
            {f"full_shap/{name}": np.ascontiguousarray(shares[..., column]) for column, name in enumerate(explained)},
        )
