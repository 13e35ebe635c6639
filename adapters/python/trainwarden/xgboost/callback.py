"""The callback that XGBoost calls before and after each boosting round."""

from __future__ import annotations

from typing import Any

from xgboost.callback import TrainingCallback

from .session import Session


class RoundCallback(TrainingCallback):  # type: ignore[misc]
    """Tells a session of each round. True ends the training."""

    def __init__(self, session: Session) -> None:
        super().__init__()
        self._session = session

    def before_training(self, model: Any) -> Any:
        self._session.training_begins(model)
        return model

    def before_iteration(self, model: Any, epoch: int, evals_log: Any) -> bool:
        return self._session.round_begins()

    def after_iteration(self, model: Any, epoch: int, evals_log: Any) -> bool:
        self._session.round_ends(model, evals_log)
        return False

    def after_training(self, model: Any) -> Any:
        self._session.training_ends(model)
        return model
