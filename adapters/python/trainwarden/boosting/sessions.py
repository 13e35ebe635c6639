"""Sessions: the trainings of this process, one after the other, a run for each."""

from __future__ import annotations

import threading
import weakref
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Callable, Optional, Protocol, TypeVar, cast

from .. import faults
from .session import Session
from .training import Training

# A search over parameters trains hundreds of models; a run for each of them would be a heap, not a help.
MAX_RUNS = 50
_taken: set[str] = set()  # the folders of this process's runs, also of those of another framework


class Followed(Protocol):
    """A training that is followed."""

    def fails(self, error: BaseException) -> None:
        """It has raised."""

    def close(self) -> None:
        """It has ended."""


_Followed = TypeVar("_Followed", bound=Followed)


class Sessions:
    """Threads: trainings of other threads, while one is followed, are left alone."""

    def __init__(self, run_dir: Optional[str]) -> None:
        self._run_dir = run_dir
        self._runs = 0
        self._lock = threading.RLock()  # with too many faults close() is called from within
        self._session: Optional[Followed] = None
        self._own: Optional[weakref.ref[Any]] = None  # the booster of a loop of the program's own
        self._inside = threading.local()  # .depth: calls of train() within each other

    def begin(self, training: Training) -> Optional[Session]:
        """A session for a training that begins; None when it is left alone."""
        with self._lock:
            if self._depth() > 0 or (self._session is not None and self._own is None):
                return None
            self._end()
            return self._start(training)

    def begin_other(self, model: Any, make: Callable[[Optional[str]], _Followed]) -> Optional[_Followed]:
        """As begin(), with a session of another kind, which `make` makes for a folder."""
        with self._lock:
            if self._depth() > 0 or (self._session is not None and self._own is None):
                return None
            self._end()
            return self._start_other(make)

    def going_on(self, model: Any, make: Callable[[Optional[str]], _Followed]) -> Optional[_Followed]:
        """The same, for one of the calls by which a program trains a model bit by bit: its session stays, and is that
        of the next call, until another training begins."""
        with self._lock:
            if self._depth() > 0:
                return None
            if self._session is not None and self._own is not None and self._own() is model:
                return cast(_Followed, self._session)
            session = self.begin_other(model, make)
            self._own = None if session is None else weakref.ref(model)
            return session

    @contextmanager
    def following(self, session: Followed) -> Iterator[None]:
        """While train() runs; its session ends with it, however that is, unless it is to stay."""
        self._inside.depth = self._depth() + 1
        try:
            yield
        except BaseException as error:
            session.fails(error)
            raise
        finally:
            self._inside.depth -= 1
            with self._lock:
                if self._own is None:
                    self.end(session)

    @faults.guarded("follow a boosting round")
    def updated(self, booster: Any, training: Training) -> None:
        """A booster was updated. Outside of train() that is a round of the first booster that is updated so."""
        if self._depth() > 0:
            return
        with self._lock:
            if self._session is None:
                if self._start(training) is None:
                    return
                self._own = weakref.ref(booster)
            session = self._session
            if self._own is not None and self._own() is booster and isinstance(session, Session):
                session.own_round(booster, training)

    def end(self, session: Followed) -> None:
        """The training of this session has ended."""
        with self._lock:
            if self._session is session:
                self._end()

    def about_to_replace(self, model: Any) -> None:
        """The framework is about to empty a model that it has trained: a round that is open is the last."""
        session = self._session
        if isinstance(session, Session) and session.is_of(model):
            session.training_ends(model)

    def start_anew(self) -> None:
        """In a forked child: what is open belongs to the parent."""
        self._lock = threading.RLock()
        self._session = self._own = None

    def close(self) -> None:
        with self._lock:
            self._end()

    def _depth(self) -> int:
        return getattr(self._inside, "depth", 0)

    def _start(self, training: Training) -> Optional[Session]:
        return self._start_other(lambda folder: Session(folder, training))

    def _start_other(self, make: Callable[[Optional[str]], _Followed]) -> Optional[_Followed]:
        if self._runs == MAX_RUNS:
            faults.say(f"{MAX_RUNS} trainings of this process were captured; those behind them are not")
        self._runs += 1
        if self._runs > MAX_RUNS:
            return None
        session = make(self._free_folder())
        self._session = session
        return session

    def _free_folder(self) -> Optional[str]:
        """RUN_DIR, RUN_DIR-2, ...; None: the environment has the word."""
        if self._run_dir is None:
            return None
        number = self._runs
        while (folder := self._numbered(number)) in _taken:
            number += 1
        _taken.add(folder)
        return folder

    def _numbered(self, number: int) -> str:
        folder = self._run_dir or ""
        return folder if number == 1 else f"{folder.rstrip('/')}-{number}"

    def _end(self) -> None:
        session, self._session, self._own = self._session, None, None
        if session is not None:
            session.close()
