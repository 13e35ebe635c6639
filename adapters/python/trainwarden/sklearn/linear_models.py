"""Linear models: SGDClassifier, SGDRegressor, and the estimators made of them. Their epochs run in C, where nobody can
look: a step is a call of partial_fit(), or a whole fit()."""

from __future__ import annotations

import functools
import inspect
import threading
import time
from typing import Any, Callable, Optional

from sklearn.linear_model import _stochastic_gradient as linear_models

from .. import faults
from .._replacing import replace
from ..boosting.sessions import Sessions
from .step_session import StepSession
from .sums import mean_loss

_inside = threading.local()  # .fitted: the estimator whose fit() runs in this thread


def follow(sessions: Callable[[], Optional[Sessions]]) -> None:
    for kind in (linear_models.BaseSGDClassifier, linear_models.BaseSGDRegressor):
        replace(kind, "_fit", _fitting)
        signature = inspect.signature(kind._partial_fit)
        replace(kind, "_partial_fit", functools.partial(_training, signature, sessions))


def _fitting(original: Any) -> Any:
    """Of _fit(), which fit() calls, and which calls _partial_fit()."""

    def _fit(self: Any, *args: Any, **kwargs: Any) -> Any:
        before, _inside.fitted = getattr(_inside, "fitted", None), self
        try:
            return original(self, *args, **kwargs)
        finally:
            _inside.fitted = before

    return _fit


def _training(signature: inspect.Signature, sessions: Callable[[], Optional[Sessions]], original: Any) -> Any:
    """Of _partial_fit()."""

    def _partial_fit(self: Any, *args: Any, **kwargs: Any) -> Any:
        current = sessions()
        session = None if current is None else _begin(current, self)
        if current is None or session is None:
            return original(self, *args, **kwargs)
        with current.following(session):
            session.begin_step()
            result = original(self, *args, **kwargs)
            _record(session, self, signature, args, kwargs)
            session.end_step()
            return result

    return _partial_fit


@faults.guarded("follow a training of a linear model")
def _begin(sessions: Sessions, estimator: Any) -> Optional[StepSession]:
    is_whole = getattr(_inside, "fitted", None) is estimator
    begin = sessions.begin_other if is_whole else sessions.going_on
    return begin(estimator, lambda folder: StepSession(folder, estimator))


@faults.guarded("capture a linear model")
def _record(session: StepSession, estimator: Any, signature: inspect.Signature, args: Any, kwargs: Any) -> None:
    session.cannot_veto("a step of a linear model of scikit-learn: it is one call into C")
    session.keep("coef", estimator.coef_, "weights")
    session.keep("intercept", estimator.intercept_, "biases")
    session.keep("epochs", float(estimator.n_iter_), "metrics")
    if not session.wants("loss", "losses"):
        return
    begin = time.perf_counter_ns()
    given = signature.bind(estimator, *args, **kwargs).arguments
    loss = mean_loss(estimator, given["X"], given["y"])
    session.add_cost(time.perf_counter_ns() - begin)
    if loss is not None:
        session.keep("loss", loss, "losses")
