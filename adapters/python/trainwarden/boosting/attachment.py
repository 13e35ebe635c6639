"""Attachment: what attach() and detach() of the adapters of boosted trees share."""

from __future__ import annotations

import inspect
import os
from typing import Any, Callable, Optional

from .. import faults
from .._opening import run_folder
from .session import Session
from .sessions import Sessions

# Puts callbacks of ours into the arguments of a call. None: the training is left alone.
Prepare = Callable[[Sessions, dict[str, Any]], Optional[Session]]


class Attachment:
    """Of one framework to this process. `sessions` is None while nothing is captured."""

    def __init__(self) -> None:
        self.sessions: Optional[Sessions] = None
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(after_in_child=self._forget_in_child)

    def begin(self, run_dir: Optional[str]) -> bool:
        """False: it had begun before."""
        if self.sessions is not None:
            return False
        self.sessions = Sessions(run_folder(run_dir))
        faults.on_too_many(self.end)
        return True

    def end(self) -> None:
        sessions, self.sessions = self.sessions, None
        if sessions is not None:
            sessions.close()

    def following(self, prepare: Prepare, original: Callable[..., Any]) -> Callable[..., Any]:
        """In the place of a framework's train() or cv()."""
        signature = inspect.signature(original)

        def train(*args: Any, **kwargs: Any) -> Any:
            sessions = self.sessions
            followed = None if sessions is None else _follow(sessions, prepare, signature, args, kwargs)
            if sessions is None or followed is None:
                return original(*args, **kwargs)
            session, call = followed
            with sessions.following(session):
                return original(*call.args, **call.kwargs)

        return train

    def _forget_in_child(self) -> None:
        """A forked child may train, too: joblib's do. The run that is open here is its parent's."""
        if self.sessions is not None:
            self.sessions.start_anew()


@faults.guarded("follow a training of boosted trees")
def _follow(
    sessions: Sessions, prepare: Prepare, signature: inspect.Signature, args: Any, kwargs: Any
) -> Optional[tuple[Session, inspect.BoundArguments]]:
    try:
        call = signature.bind(*args, **kwargs)
    except TypeError:
        return None  # the framework says what is wrong with the call
    session = prepare(sessions, call.arguments)
    return None if session is None else (session, call)
