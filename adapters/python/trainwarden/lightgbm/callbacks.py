"""The callbacks that LightGBM calls in each boosting round: before it, and behind it as the first and as the last.

A callback that ends the training, as that of early stopping, keeps those behind it from being called: so the round is
taken down by the first, and its step ends with the last, or with the training.
"""

from __future__ import annotations

from typing import Any

from lightgbm.callback import EarlyStopException

from ..boosting.session import Session
from .training import metrics_of

_FIRST, _LAST = float("-inf"), float("inf")


class _BeforeRound:
    before_iteration = True
    order = _FIRST

    def __init__(self, session: Session) -> None:
        self._session = session

    def __call__(self, env: Any) -> None:
        if env.iteration == env.begin_iteration:
            self._session.training_begins(env.model)


class _RoundEnds:
    before_iteration = False
    order = _FIRST

    def __init__(self, session: Session) -> None:
        self._session = session

    def __call__(self, env: Any) -> None:
        self._session.round_ends(env.model, metrics_of(env.evaluation_result_list or ()))


class _RoundIsOver:
    before_iteration = False
    order = _LAST

    def __init__(self, session: Session) -> None:
        self._session = session

    def __call__(self, env: Any) -> None:
        if self._session.round_is_over(is_last=env.iteration + 1 == env.end_iteration):
            raise EarlyStopException(env.iteration, env.evaluation_result_list)


def callbacks_of(session: Session) -> list[Any]:
    return [_BeforeRound(session), _RoundEnds(session), _RoundIsOver(session)]
