"""Runs an objective with the trials of a study, one after the other or side by side."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from typing import Any, Callable, Optional, SupportsFloat, Union

from .. import errors
from .optuna_study import metrics_of
from .trial import StudyEnded, Trial, TrialPruned

Objective = Callable[[Any], Union[SupportsFloat, Sequence[SupportsFloat], Mapping[str, SupportsFloat]]]


class Optimization:
    """One call of Study.optimize()."""

    def __init__(
        self,
        ask: Callable[[], Trial],
        objective: Objective,
        metrics: list[str],
        catch: tuple[type[Exception], ...],
        timeout_s: Optional[float],
        ended: Callable[[Trial], None],
    ):
        """`metrics`: the names of those to optimize. `ended` is called when a trial has ended."""
        self._ask, self._objective, self._metrics, self._catch = ask, objective, metrics, catch
        self._until = None if timeout_s is None else time.monotonic() + timeout_s
        self._ended, self._is_stopped = ended, False

    def stop(self) -> None:
        """No more trials are begun. From any thread."""
        self._is_stopped = True

    def _is_over(self) -> bool:
        return self._is_stopped or (self._until is not None and time.monotonic() >= self._until)

    def run(self, n_trials: Optional[int]) -> None:
        """One after the other."""
        started = 0
        while not self._is_over() and (n_trials is None or started < n_trials):
            try:
                trial = self._ask()
            except StudyEnded:
                return
            started += 1
            self._try(trial)

    def run_many(self, n_trials: Optional[int], n_jobs: int) -> None:
        """As many as `n_jobs` at once, a thread each. After an exception none is begun, and those that run are
        awaited."""
        running: set[Future[None]] = set()
        started, is_over = 0, False
        with ThreadPoolExecutor(n_jobs, "trainwarden-trial") as threads:
            while not is_over or running:
                is_over = is_over or self._is_over()
                while not is_over and len(running) < n_jobs:
                    trial = self._next(has_others=bool(running))
                    if trial is None:
                        break
                    running.add(threads.submit(self._try, trial))
                    started += 1
                    is_over = n_trials is not None and started >= n_trials
                if not running:
                    return
                done, running = wait(running, return_when=FIRST_COMPLETED)
                for each in done:
                    each.result()

    def _next(self, has_others: bool) -> Optional[Trial]:
        """None: the study ends, or nothing more can be said before the others have ended."""
        try:
            return self._ask()
        except StudyEnded:
            return None
        except errors.FailedPrecondition:
            if has_others:
                return None
            raise

    def _try(self, trial: Trial) -> None:
        try:
            with trial:
                trial.finish(**metrics_of(self._objective(trial), self._metrics))
        except TrialPruned:
            pass
        except self._catch:
            pass
        self._ended(trial)
