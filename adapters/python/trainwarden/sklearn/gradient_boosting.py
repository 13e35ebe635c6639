"""Gradient boosting: GradientBoostingClassifier and GradientBoostingRegressor, followed by a monitor of ours. A step is
a stage."""

from __future__ import annotations

import inspect
import threading
from typing import Any, Callable, Optional

import numpy as np
from sklearn.ensemble import _gb as boosting

from .. import faults
from .._replacing import replace
from ..boosting.session import Session
from ..boosting.sessions import Sessions
from ..boosting.training import Column, Metric, parts_of_whole
from .boosted_training import BoostedTraining
from .trees import columns_of, of_decision_tree

_inside = threading.local()  # .stages: those that are fitted in this thread


def follow(sessions: Callable[[], Optional[Sessions]]) -> None:
    kind = boosting.BaseGradientBoosting
    signature = inspect.signature(kind._fit_stages)
    replace(kind, "_fit_stages", lambda original: _fitting(original, signature, sessions))
    _follow_losses()


def _follow_losses() -> None:
    """The loss of what is held out is computed behind the monitor, and kept nowhere. scikit-learn has this module since
    1.0, and uses it here since 1.4."""
    from sklearn._loss.loss import BaseLoss

    replace(BaseLoss, "__call__", _computing_loss)


class GradientBoostingTraining(BoostedTraining):
    importance_kinds: tuple[str, ...] = ("gain",)

    def __init__(self, first_stage: int) -> None:
        super().__init__(first_stage)
        self.stage = 0
        self._sums: Any = None  # of importances, by feature
        self._summed = 0  # trees that have splits
        self._stages_summed = 0

    def rounds_to_come(self, model: Any) -> Optional[int]:
        return int(model.n_estimators) - self._first_round

    def importances(self, model: Any, features: list[str]) -> dict[str, float]:
        """As feature_importances_ has them of the stages so far: of the trees that have a split, the mean."""
        for stage in model.estimators_[self._stages_summed : self.stage + 1]:
            for tree in (each.tree_ for each in stage if each.tree_.node_count > 1):
                importances = tree.compute_feature_importances(normalize=False)
                self._sums = importances if self._sums is None else self._sums + importances
        self._stages_summed = self.stage + 1
        sums = np.zeros(len(features)) if self._sums is None else self._sums
        return parts_of_whole(dict(zip(features, map(float, sums))), features, "gain")

    def last_trees(self, model: Any, most: Optional[int] = None) -> Optional[dict[str, Column]]:
        if most is not None and sum(each.tree_.node_count for each in model.estimators_[self.stage]) > most:
            return None
        trees = [of_decision_tree(each.tree_) for each in model.estimators_[self.stage]]
        return columns_of(trees, self.stage * len(trees), self.feature_names(model))


class _Stages:
    """Of one fit()."""

    def __init__(self, session: Session, training: GradientBoostingTraining, model: Any) -> None:
        self.session = session
        self._training = training
        self._model = model
        self._held_out: Any = None  # what is right for those rows
        self._factor = 1.0

    @faults.guarded("capture a stage of boosting")
    def stage_ends(self, stage: int, model: Any, known: dict[str, Any]) -> bool:
        """True: somebody wants the training to stop."""
        training = self._training
        is_to_stop = self.session.round_begins()  # it ends the one before
        training.stage, training.raw, training.right = stage, known["raw_predictions"], known["y"]
        self._held_out, self._factor = known.get("y_val"), float(known.get("factor", 1.0))
        metrics = [Metric("train", "loss", float(model.train_score_[stage]), True)]
        if known.get("do_oob"):
            metrics.append(Metric("oob", "loss", float(model.oob_scores_[stage]), True))
        self.session.round_ends(model, metrics)
        return is_to_stop

    @faults.guarded("capture a loss of boosting")
    def loss_computed(self, right: Any, value: Any) -> None:
        if self._held_out is not None and right is self._held_out:
            self._held_out = None
            self.session.round_ends(self._model, [Metric("validation", "loss", self._factor * float(value), True)])


def _fitting(original: Any, signature: inspect.Signature, sessions: Callable[[], Optional[Sessions]]) -> Any:
    """Of _fit_stages()."""

    def _fit_stages(self: Any, *args: Any, **kwargs: Any) -> Any:
        current = sessions()
        followed = None if current is None else _begin(current, self, signature, args, kwargs)
        if current is None or followed is None:
            return original(self, *args, **kwargs)
        stages, call = followed
        before, _inside.stages = getattr(_inside, "stages", None), stages
        try:
            with current.following(stages.session):
                result = original(*call.args, **call.kwargs)
                stages.session.training_ends(self)
                return result
        finally:
            _inside.stages = before

    return _fit_stages


@faults.guarded("follow a training of boosted trees")
def _begin(
    sessions: Sessions, model: Any, signature: inspect.Signature, args: Any, kwargs: Any
) -> Optional[tuple[_Stages, inspect.BoundArguments]]:
    call = signature.bind(model, *args, **kwargs)
    training = GradientBoostingTraining(int(call.arguments.get("begin_at_stage", 0)))
    session = sessions.begin(training)
    if session is None:
        return None
    session.training_begins(model)
    stages = _Stages(session, training, model)
    theirs = call.arguments.get("monitor")

    def monitor(stage: int, model: Any, known: dict[str, Any]) -> Any:
        is_to_stop = stages.stage_ends(stage, model, known)
        return (False if theirs is None else theirs(stage, model, known)) or bool(is_to_stop)

    call.arguments["monitor"] = monitor
    return stages, call


def _computing_loss(original: Any) -> Any:
    """Of a loss's __call__()."""

    def __call__(self: Any, *args: Any, **kwargs: Any) -> Any:
        value = original(self, *args, **kwargs)
        stages = getattr(_inside, "stages", None)
        if stages is not None:
            stages.loss_computed(args[0] if args else kwargs.get("y_true"), value)
        return value

    return __call__
