"""Attach: the one session of this process, which captures everything that it trains."""

from __future__ import annotations

import os
from typing import Optional

from .._opening import run_folder
from .._places import is_in_bucket
from .. import faults
from . import interception, resuming
from .loggers import watch_loggers
from .session import Session

_session: Optional[Session] = None


def attach(run_dir: Optional[str] = None) -> None:
    """Captures everything that this process trains from now on. A second call does nothing.

    Arguments:
        run_dir: the run's folder; by default the one that TRAINWARDEN_RUN_DIR or the configuration names.
    """
    if _session is None:
        folder = run_folder(run_dir)
        resuming.keep_in(None if folder is None or is_in_bucket(folder) else folder)
        interception.switch_on()
        watch_loggers()
        faults.on_too_many(detach)
        _begin(folder)


def is_attached() -> bool:
    return _session is not None


def _begin(run_dir: Optional[str]) -> None:
    global _session
    _session = Session(run_dir, detach)
    interception.add_listener(_session)


def detach() -> None:
    """Captures no more in this process, and ends the run."""
    global _session
    session, _session = _session, None
    if session is not None:
        interception.remove_listener(session)
        session.close()


def _start_anew_in_child() -> None:
    """A forked child has a session of its own, in case it trains; the hook of its parent is off here."""
    if _session is not None:
        interception.remove_listener(_session)
        _begin(_session.run_dir)


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_start_anew_in_child)
