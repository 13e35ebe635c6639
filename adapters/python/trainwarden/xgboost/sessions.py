"""Sessions: the trainings of this process, one after the other, a run for each."""

from __future__ import annotations

import threading
import weakref
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Optional

from .. import faults
from .session import Session

# A search over parameters trains hundreds of models; a run for each of them would be a heap, not a help.
MAX_RUNS = 50


class Sessions:
    """Threads: trainings of other threads, while one is followed, are left alone."""

    def __init__(self, run_dir: Optional[str]) -> None:
        self._run_dir = run_dir
        self._runs = 0
        self._lock = threading.RLock()  # with too many faults close() is called from within
        self._session: Optional[Session] = None
        self._own: Optional[weakref.ref[Any]] = None  # the booster of a loop of the program's own
        self._inside = threading.local()  # .depth: calls of train() within each other

    def begin(self, params: Any, dtrain: Any, evals: Any) -> Optional[Session]:
        """A session for a training that begins; None when it is left alone."""
        with self._lock:
            if self._depth() > 0 or (self._session is not None and self._own is None):
                return None
            self._end()
            return self._start(params, dtrain, evals)

    @contextmanager
    def training(self, session: Session) -> Iterator[None]:
        """While train() runs; its session ends with it, however that is."""
        self._inside.depth = self._depth() + 1
        try:
            yield
        except BaseException as error:
            session.fails(error)
            raise
        finally:
            self._inside.depth -= 1
            with self._lock:
                if self._session is session:
                    self._end()

    @faults.guarded("follow a round of XGBoost")
    def updated(self, booster: Any, dtrain: Any) -> None:
        """A booster was updated. Outside of train() that is a round of the first booster that is updated so."""
        if self._depth() > 0:
            return
        with self._lock:
            if self._session is None:
                if self._start(None, dtrain, None) is None:
                    return
                self._own = weakref.ref(booster)
            if self._own is None or self._own() is not booster or self._session is None:
                return
            self._session.own_round(booster, dtrain)

    def start_anew(self) -> None:
        """In a forked child: what is open belongs to the parent."""
        self._lock = threading.RLock()
        self._session = self._own = None

    def close(self) -> None:
        with self._lock:
            self._end()

    def _depth(self) -> int:
        return getattr(self._inside, "depth", 0)

    def _start(self, params: Any, dtrain: Any, evals: Any) -> Optional[Session]:
        if self._runs == MAX_RUNS:
            faults.say(f"{MAX_RUNS} trainings of this process were captured; those behind them are not")
        self._runs += 1
        if self._runs > MAX_RUNS:
            return None
        folder = self._run_dir
        if folder is not None and self._runs > 1:
            folder = f"{folder.rstrip('/')}-{self._runs}"
        self._session = Session(folder, params, dtrain, evals)
        return self._session

    def _end(self) -> None:
        session, self._session, self._own = self._session, None, None
        if session is not None:
            session.close()
