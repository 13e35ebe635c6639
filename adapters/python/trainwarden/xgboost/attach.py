"""Attach: xgboost.train, xgboost.cv, the estimators that call them, and loops of one's own over Booster.update.

They are given one more callback, in front of the program's own: XGBoost asks the callbacks behind one that stops
the training no more.
"""

from __future__ import annotations

import functools
from typing import Any, Callable, Optional

from xgboost import core, training

from .._replacing import replace
from ..boosting.attachment import Attachment
from ..boosting.session import Session
from ..boosting.sessions import Sessions
from .callback import RoundCallback
from .training import XGBoostTraining

_BOUND_IN = ("xgboost", "xgboost.sklearn")  # where programs and estimators take them from

_ROUNDS = 10  # of a call that does not say it

_attachment = Attachment()


def attach(run_dir: Optional[str] = None) -> None:
    """Captures each training of this process from now on. A second call does nothing.

    Arguments:
        run_dir: the folder of the first training's run, by default the one that TRAINWARDEN_RUN_DIR or the
            configuration names. Further trainings of the process get RUN_DIR-2, RUN_DIR-3, ...
    """
    if not _attachment.begin(run_dir):
        return
    for name in ("train", "cv"):
        replace(training, name, functools.partial(_attachment.following, _prepare), _BOUND_IN)
    replace(core.Booster, "update", _updating)
    replace(core.Booster, "boost", _updating)


def detach() -> None:
    """Captures no more in this process, and ends the run that is open."""
    _attachment.end()


def _prepare(sessions: Sessions, given: dict[str, Any]) -> Optional[Session]:
    """Of xgboost.train or xgboost.cv."""
    if any(getattr(each, "captures_itself", False) for each in given.get("callbacks") or []):
        return None  # the hook of smdebug's API
    rounds = given.get("num_boost_round", _ROUNDS)
    session = sessions.begin(XGBoostTraining(given.get("params"), given["dtrain"], given.get("evals"), rounds))
    if session is not None:
        given["callbacks"] = [RoundCallback(session), *(given.get("callbacks") or [])]
    return session


def _updating(original: Callable[..., Any]) -> Callable[..., Any]:
    """Of Booster.update or Booster.boost."""

    def update(self: Any, dtrain: Any, *args: Any, **kwargs: Any) -> Any:
        result = original(self, dtrain, *args, **kwargs)
        if _attachment.sessions is not None:
            _attachment.sessions.updated(self, XGBoostTraining(None, dtrain))
        return result

    return update
