"""Attach: xgboost.train, xgboost.cv, the estimators that call them, and loops of one's own over Booster.update.

They are given one more callback, in front of the program's own: XGBoost asks the callbacks behind one that stops
the training no more.
"""

from __future__ import annotations

import functools
import inspect
import os
import sys
from typing import Any, Optional

from xgboost import core, training

from .. import faults
from .._spool import is_in_bucket
from .callback import RoundCallback
from .session import Session
from .sessions import Sessions

_ORIGINAL = "_trainwarden_original"  # of a function that stands in for one of XGBoost's
_REBOUND = ("xgboost", "xgboost.training", "xgboost.sklearn")  # where programs and estimators take them from

_sessions: Optional[Sessions] = None


def attach(run_dir: Optional[str] = None) -> None:
    """Captures each training of this process from now on. A second call does nothing.

    Arguments:
        run_dir: the folder of the first training's run, by default the one that TRAINWARDEN_RUN_DIR or the
            configuration names. Further trainings of the process get RUN_DIR-2, RUN_DIR-3, ...
    """
    global _sessions
    if _sessions is not None:
        return
    folder = run_dir or os.environ.get("TRAINWARDEN_RUN_DIR") or None
    _sessions = Sessions(folder if folder is None or is_in_bucket(folder) else os.path.abspath(folder))
    faults.on_too_many(detach)
    _replace("train")
    _replace("cv")
    _replace_update("update")
    _replace_update("boost")


def detach() -> None:
    """Captures no more in this process, and ends the run that is open."""
    global _sessions
    sessions, _sessions = _sessions, None
    if sessions is not None:
        sessions.close()


def _replace(name: str) -> None:
    """xgboost.train or xgboost.cv."""
    original = getattr(training, name)
    if hasattr(original, _ORIGINAL):
        return
    signature = inspect.signature(original)

    @functools.wraps(original)
    def train(*args: Any, **kwargs: Any) -> Any:
        sessions = _sessions
        followed = None if sessions is None else _follow(sessions, signature, args, kwargs)
        if sessions is None or followed is None:
            return original(*args, **kwargs)
        session, call = followed
        with sessions.training(session):
            return original(*call.args, **call.kwargs)

    setattr(train, _ORIGINAL, original)
    for place in _REBOUND:
        module = sys.modules.get(place)
        if getattr(module, name, None) is original:
            setattr(module, name, train)


@faults.guarded("follow a training of XGBoost")
def _follow(
    sessions: Sessions, signature: inspect.Signature, args: Any, kwargs: Any
) -> Optional[tuple[Session, inspect.BoundArguments]]:
    """A session, and the call of train() with its callback in it; None for a training that is left alone."""
    try:
        call = signature.bind(*args, **kwargs)
    except TypeError:
        return None  # XGBoost says what is wrong with the call
    given = call.arguments
    if any(getattr(each, "captures_itself", False) for each in given.get("callbacks") or []):
        return None  # the hook of smdebug's API
    session = sessions.begin(given.get("params"), given["dtrain"], given.get("evals"))
    if session is None:
        return None
    given["callbacks"] = [RoundCallback(session), *(given.get("callbacks") or [])]
    return session, call


def _replace_update(name: str) -> None:
    original = getattr(core.Booster, name)
    if hasattr(original, _ORIGINAL):
        return

    @functools.wraps(original)
    def update(self: Any, dtrain: Any, *args: Any, **kwargs: Any) -> Any:
        result = original(self, dtrain, *args, **kwargs)
        if _sessions is not None:
            _sessions.updated(self, dtrain)
        return result

    setattr(update, _ORIGINAL, original)
    setattr(core.Booster, name, update)


def _forget_in_child() -> None:
    """A forked child may train, too: joblib's do. The run that is open here is its parent's."""
    if _sessions is not None:
        _sessions.start_anew()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_in_child)
