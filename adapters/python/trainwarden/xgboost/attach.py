"""Attach: xgboost.train, xgboost.cv, the estimators that call them, and loops of one's own over Booster.update.

They are given one more callback, in front of the program's own: XGBoost asks the callbacks behind one that stops
the training no more.
"""

from __future__ import annotations

import functools
import itertools
from typing import Any, Callable, Optional

from xgboost import core, training

from .._replacing import replace
from ..boosting.attachment import Attachment
from ..boosting.parameters import items_of
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
    theirs = given.get("callbacks")
    if any(map(_captures_itself, items_of(theirs) or ())):
        return None
    rounds = given.get("num_boost_round", _ROUNDS)
    session = sessions.begin(XGBoostTraining(given.get("params"), given["dtrain"], given.get("evals"), rounds))
    if session is not None:
        given["callbacks"] = _in_front(RoundCallback(session), theirs)
    return session


def _captures_itself(callback: Any) -> bool:
    """The hook of smdebug's API. What the program's own callbacks have is not read."""
    return any(vars(kind).get("captures_itself", False) is True for kind in type(callback).__mro__)


def _in_front(ours: Any, theirs: Any) -> Any:
    """Which may be read once, by XGBoost."""
    return [ours] if theirs is None else itertools.chain([ours], theirs)


def _updating(original: Callable[..., Any]) -> Callable[..., Any]:
    """Of Booster.update or Booster.boost."""

    def update(*args: Any, **kwargs: Any) -> Any:
        result = original(*args, **kwargs)
        if _attachment.sessions is not None:
            dtrain = args[1] if len(args) > 1 else kwargs["dtrain"]
            _attachment.sessions.updated(args[0], XGBoostTraining(None, dtrain))
        return result

    return update
