"""Hook: saves what XGBoost's boosting rounds leave, as one of its callbacks."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Callable, Optional

import numpy as np
import trainwarden
from trainwarden import faults
from trainwarden.xgboost import facts
from trainwarden.xgboost.ranks import rank_and_size
from trainwarden.xgboost.trees import COLUMNS
from xgboost.callback import TrainingCallback

from ..core.collection import DEFAULT_XGBOOST_COLLECTIONS, CollectionKeys
from ..core.framework_hook import FrameworkHook
from ..core.recording import Place
from ..core.utils import match_inc
from ..exceptions import SMDebugTypeError
from .collection import Collection, CollectionManager

DEFAULT_INCLUDE_COLLECTIONS = [CollectionKeys.METRICS]
DEFAULT_SAVE_INTERVAL = 10


class Hook(FrameworkHook[Collection], TrainingCallback):  # type: ignore[misc]
    """Saves the rounds of a training, each a step of mode GLOBAL.

        hook = Hook("runs/first", hyperparameters=params, train_data=train, validation_data=valid)
        xgboost.train(params, train, evals=[(train, "train"), (valid, "validation")], callbacks=[hook])

    Arguments:
        hyperparameters: saved as `hyperparameters/<name>`.
        train_data: a DMatrix, of which contributions (`average_shap`, `full_shap`) are computed.
        validation_data: a DMatrix, of which predictions and labels are saved; by default train_data.
        save_config: for collections without one; None: each 10th round.

    The others, and errors: BaseHook. Where an argument is missing, what is made of it is not saved.
    """

    captures_itself = True  # `trainwarden run` leaves a training with this callback to it

    make_collections = CollectionManager
    always_included = DEFAULT_INCLUDE_COLLECTIONS
    default_interval = DEFAULT_SAVE_INTERVAL

    def __init__(
        self,
        *positional: Any,
        hyperparameters: Optional[Mapping[str, Any]] = None,
        train_data: Any = None,
        validation_data: Any = None,
        **options: Any,
    ) -> None:
        super().__init__(*positional, **options)
        self.hyperparameters = dict(hyperparameters or {})
        self.train_data = train_data
        self.validation_data = train_data if validation_data is None else validation_data
        self._ids: dict[str, int] = {}

    # What XGBoost calls.

    def before_training(self, model: Any) -> Any:
        return model

    def after_training(self, model: Any) -> Any:
        return model

    def before_iteration(self, model: Any, epoch: int, evals_log: Any) -> bool:
        """Ends the step before. True: the training was asked to stop, and XGBoost ends it."""
        try:
            self._begin_step()
        except trainwarden.StopTraining:
            return True
        return False

    def after_iteration(self, model: Any, epoch: int, evals_log: Any) -> bool:
        if self.is_saving:
            self.last_saved_step = self.step
            self._save_round(model, evals_log)
        if self.custom_tensors_to_save:
            self._save_custom_tensors_post_step()
        return False

    # What is saved.

    @faults.guarded("save a round of XGBoost")
    def _save_round(self, model: Any, evals_log: Mapping[str, Mapping[str, list[Any]]]) -> None:
        for data, metrics in evals_log.items():
            self._save({f"{data}-{metric}": values[-1] for metric, values in metrics.items()})
        self._save({f"hyperparameters/{name}": value for name, value in self.hyperparameters.items()})
        features = facts.feature_names(model, self.validation_data)
        names = [f"feature_importance/{kind}/{feature}" for kind in facts.IMPORTANCES for feature in features]
        self._save_when_wanted(names, lambda: _without_zeros(facts.importances(model, features)))
        self._save_when_wanted([f"trees/{name}" for name in COLUMNS], lambda: _trees(model))
        if self.validation_data is not None:
            self._save_when_wanted(["predictions"], lambda: {"predictions": model.predict(self.validation_data)})
            self._save_when_wanted(["labels"], lambda: {"labels": self.validation_data.get_label()})
        if self.train_data is not None:
            names = [f"{kind}/{feature}" for kind in ("average_shap", "full_shap") for feature in [*features, "bias"]]
            self._save_when_wanted(names, lambda: self._contributions(model, features))

    def _contributions(self, model: Any, features: list[str]) -> dict[str, Any]:
        """The whole matrix under each feature, as smdebug saved it, and the mean of the feature's column."""
        shares = facts.contributions(model, self.train_data)
        means = shares.mean(axis=0)
        explained = [*features, "bias"]
        values = {f"average_shap/{name}": means[..., column] for column, name in enumerate(explained)}
        return {**values, **{f"full_shap/{name}": shares for name in explained}}

    def _save_when_wanted(self, names: Iterable[str], compute: Callable[[], Mapping[str, Any]]) -> None:
        if any(self._recording.core.wants(self._id(name)) for name in names):
            self._save(compute())

    def _save(self, values: Mapping[str, Any]) -> None:
        for name, value in values.items():
            identity = self._id(name)
            if self._recording.core.wants(identity):
                self._save_any(identity, value)

    def _id(self, name: str) -> int:
        identity = self._ids.get(name)
        if identity is None:
            identity = self._ids[name] = self._recording.core.declare(name)
            for collection in self._collections_to_save:
                if collection.has_tensor_name(name) or match_inc(name, collection.include_regex):
                    collection.add_tensor_name(name)
        return identity

    # What BaseHook asks for.

    def _place_in_job(self) -> Place:
        return Place(*(rank_and_size() or (0, 1)))

    def _get_default_collections(self) -> Iterable[str]:
        return DEFAULT_XGBOOST_COLLECTIONS

    def _save_any(self, tensor_id: int, value: Any) -> None:
        self._recording.save_value(tensor_id, np.atleast_1d(np.asarray(value)))

    @staticmethod
    def _scalar_of(value: Any) -> float:
        try:
            return float(np.asarray(value).reshape(()))
        except (TypeError, ValueError):
            raise SMDebugTypeError(f"expected one number, found {value!r}") from None


def _without_zeros(importances: Mapping[str, float]) -> dict[str, float]:
    """smdebug saved the features that split something."""
    return {name: value for name, value in importances.items() if value != 0}


def _trees(model: Any) -> dict[str, Any]:
    """As smdebug wrote them, without their depth: what a leaf does not have is "nan"."""
    found = facts.last_trees(model)
    trees = {f"trees/{name}": found[f"trees/{name}"] for name in COLUMNS}
    texts = {name: [text or "nan" for text in column] for name, column in trees.items() if isinstance(column, list)}
    return {**trees, **texts, "trees/Category": ["nan"] * len(texts["trees/Feature"])}
