"""Attachment: what attach() and detach() of the adapters of boosted trees share."""

from __future__ import annotations

import os
from typing import Optional

from .. import faults
from .._spool import is_in_bucket
from .sessions import Sessions


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
        folder = run_dir or os.environ.get("TRAINWARDEN_RUN_DIR") or None
        self.sessions = Sessions(folder if folder is None or is_in_bucket(folder) else os.path.abspath(folder))
        faults.on_too_many(self.end)
        return True

    def end(self) -> None:
        sessions, self.sessions = self.sessions, None
        if sessions is not None:
            sessions.close()

    def _forget_in_child(self) -> None:
        """A forked child may train, too: joblib's do. The run that is open here is its parent's."""
        if self.sessions is not None:
            self.sessions.start_anew()
