"""Attach: lightgbm.train, lightgbm.cv, the estimators that call them, and loops of one's own over Booster.update.

They are given callbacks of ours beside the program's own. When a training ends, LightGBM makes its model anew from a
text, without the data: what is to be known of the last round is asked just before that.
"""

from __future__ import annotations

import functools
from typing import Any, Callable, Optional

from lightgbm import basic, engine

from .. import faults
from .._replacing import replace
from ..boosting.attachment import Attachment
from ..boosting.parameters import items_of
from ..boosting.session import Session
from ..boosting.sessions import Sessions
from .callbacks import callbacks_of
from .training import LightGBMTraining

_BOUND_IN = ("lightgbm", "lightgbm.sklearn")  # where programs and estimators take them from

_ROUNDS = 100  # of a call that does not say it

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
        replace(engine, name, functools.partial(_attachment.following, _prepare), _BOUND_IN)
    replace(basic.Booster, "update", _updating)
    replace(basic.Booster, "model_from_string", _emptying)


def detach() -> None:
    """Captures no more in this process, and ends the run that is open."""
    _attachment.end()


def _prepare(sessions: Sessions, given: dict[str, Any]) -> Optional[Session]:
    """Of lightgbm.train or lightgbm.cv."""
    theirs = [] if given.get("callbacks") is None else items_of(given["callbacks"])
    if theirs is None:
        faults.say_once("a training is left alone whose callbacks are in a container of the program's own")
        return None
    rounds = given.get("num_boost_round", _ROUNDS)
    session = sessions.begin(
        LightGBMTraining(given.get("params"), given.get("train_set"), given.get("valid_sets"), rounds)
    )
    if session is not None:
        # In front: LightGBM numbers the program's own from the end.
        given["callbacks"] = [*callbacks_of(session), *theirs]
    return session


def _updating(original: Callable[..., Any]) -> Callable[..., Any]:
    """Of Booster.update."""

    def update(*args: Any, **kwargs: Any) -> Any:
        result = original(*args, **kwargs)
        if _attachment.sessions is not None:
            _attachment.sessions.updated(args[0], LightGBMTraining(args[0].params))
        return result

    return update


def _emptying(original: Callable[..., Any]) -> Callable[..., Any]:
    """Of Booster.model_from_string."""

    def model_from_string(*args: Any, **kwargs: Any) -> Any:
        if _attachment.sessions is not None and args:
            _attachment.sessions.about_to_replace(args[0])
        return original(*args, **kwargs)

    return model_from_string
