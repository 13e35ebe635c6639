"""The callback that XGBoost calls before and after each boosting round."""

from __future__ import annotations

from typing import Any

from xgboost.callback import TrainingCallback

from ..boosting.session import Session
from .training import metrics_of


class RoundCallback(TrainingCallback):  # type: ignore[misc]
    """Tells a session of each round. True ends the training."""

    def __init__(self, session: Session) -> None:
        super().__init__()
        self._session = session

    def __hash__(self) -> int:
        """XGBoost 1 keeps its callbacks in a set, in which that of hash 0 is first when it was put in first. Behind one
        that raises or ends the training, this one would not hear of the round."""
        return 0

    def before_iteration(self, model: Any, epoch: int, evals_log: Any) -> bool:
        return self._session.round_begins()

    def after_iteration(self, model: Any, epoch: int, evals_log: Any) -> bool:
        # Before its first round a model that is asked would warn of its parameters, and in our words.
        self._session.training_has_begun(model)
        self._session.round_ends(model, metrics_of(evals_log))
        return False

    def after_training(self, model: Any) -> Any:
        self._session.training_ends(model)
        return model
