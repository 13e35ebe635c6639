"""Histograms: HistGradientBoostingClassifier and HistGradientBoostingRegressor. A step is an iteration, which begins
with the gradients of the loss and is over when the next one begins."""

from __future__ import annotations

import threading
from typing import Any, Callable, Optional

from sklearn._loss.loss import BaseLoss
from sklearn.ensemble._hist_gradient_boosting import gradient_boosting as histograms

from .. import faults
from .._replacing import replace
from ..boosting.session import Session
from ..boosting.sessions import Sessions
from ..boosting.training import Column, Metric
from ..stopping import StopTraining
from .boosted_training import BoostedTraining
from .trees import columns_of, of_predictor

_inside = threading.local()  # .iterations: those of the fit() that runs in this thread


def follow(sessions: Callable[[], Optional[Sessions]]) -> None:
    replace(histograms.BaseHistGradientBoosting, "fit", lambda original: _fitting(original, sessions))
    for name in ("gradient", "gradient_hessian"):
        replace(BaseLoss, name, _computing_gradients)


class HistogramTraining(BoostedTraining):
    def __init__(self) -> None:
        super().__init__(0)
        self.weights: Any = None  # of the rows

    def rounds(self, model: Any) -> Optional[int]:
        return len(model._predictors)  # those of a training that goes on

    def rounds_to_come(self, model: Any) -> Optional[int]:
        return int(model.max_iter) - len(model._predictors)

    def own_metrics(self, model: Any) -> list[Metric]:
        """scikit-learn computes it only where training may end early."""
        loss = model._loss(y_true=self.right, raw_prediction=self.raw, sample_weight=self.weights)
        return [Metric("train", "loss", float(loss), True)]

    def last_trees(self, model: Any, most: Optional[int] = None) -> Optional[dict[str, Column]]:
        if most is not None and sum(len(each.nodes) for each in model._predictors[-1]) > most:
            return None
        trees = [of_predictor(each.nodes) for each in model._predictors[-1]]
        return columns_of(trees, (len(model._predictors) - 1) * len(trees), self.feature_names(model))


class _Iterations:
    """Of one fit()."""

    def __init__(self, sessions: Sessions, model: Any) -> None:
        self._sessions = sessions
        self.model = model
        self.session: Optional[Session] = None
        self._training = HistogramTraining()
        self._has_begun = False
        self._scores = 0  # of those that the model has, how many were there before this iteration

    def iteration_begins(self, right: Any, raw: Any, weights: Any) -> None:
        if not self._begin(right, raw, weights) or self.session is None:
            return
        if self.session.round_begins():
            faults.say("the training was asked to stop")
            raise StopTraining("a request")

    @faults.guarded("follow an iteration of boosting over histograms")
    def _begin(self, right: Any, raw: Any, weights: Any) -> bool:
        if not self._has_begun:
            self._has_begun = True
            self._training.right, self._training.raw, self._training.weights = right, raw, weights
            self.session = self._sessions.begin(self._training)
            if self.session is not None:
                self.session.training_begins(self.model)
            self._scores = len(self._of("train_score_"))
            return True
        self.iteration_ends()
        self._training.raw = raw
        return True

    @faults.guarded("capture an iteration of boosting over histograms")
    def iteration_ends(self) -> None:
        if self.session is not None:
            self.session.round_ends(self.model, self._metrics())

    def _metrics(self) -> list[Metric]:
        """As the model has them, where training may end early: losses are better when they are higher there."""
        scores = self._of("train_score_")
        if len(scores) <= self._scores:
            return []
        self._scores = len(scores)
        is_loss = self.model.scoring == "loss"
        name, sign = ("loss", -1.0) if is_loss else ("score", 1.0)
        parts = [("train", scores), ("validation", self._of("validation_score_"))]
        return [Metric(data, name, sign * float(values[-1]), is_loss) for data, values in parts if len(values)]

    def _of(self, name: str) -> Any:
        return getattr(self.model, name, ())


def _fitting(original: Any, sessions: Callable[[], Optional[Sessions]]) -> Any:
    """Of fit()."""

    def fit(self: Any, *args: Any, **kwargs: Any) -> Any:
        current = sessions()
        if current is None or getattr(_inside, "iterations", None) is not None:
            return original(self, *args, **kwargs)
        iterations = _inside.iterations = _Iterations(current, self)
        try:
            result = original(self, *args, **kwargs)
            iterations.iteration_ends()
            return result
        except BaseException as error:
            if iterations.session is not None:
                iterations.session.fails(error)
            raise
        finally:
            _inside.iterations = None
            if iterations.session is not None:
                current.end(iterations.session)

    return fit


def _computing_gradients(original: Any) -> Any:
    """Of a loss's gradient() and gradient_hessian(); scikit-learn names all arguments."""

    def compute(self: Any, *args: Any, **kwargs: Any) -> Any:
        iterations = getattr(_inside, "iterations", None)
        if iterations is not None and self is getattr(iterations.model, "_loss", None) and not args:
            iterations.iteration_begins(kwargs.get("y_true"), kwargs.get("raw_prediction"), kwargs.get("sample_weight"))
        return original(self, *args, **kwargs)

    return compute
