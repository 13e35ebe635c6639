"""Runs an objective with the trials of a study, one after the other or side by side."""

from __future__ import annotations

from collections.abc import Mapping
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from typing import Callable, Optional, SupportsFloat, Union

from .. import errors
from ._calls import number
from .trial import StudyEnded, Trial, TrialPruned

Objective = Callable[[Trial], Union[SupportsFloat, Mapping[str, SupportsFloat]]]


class Optimization:
    """One call of Study.optimize()."""

    def __init__(
        self,
        ask: Callable[[], Trial],
        objective: Objective,
        metrics: list[str],
        catch: tuple[type[Exception], ...],
    ):
        """`metrics`: the names of those to optimize."""
        self._ask, self._objective, self._metrics, self._catch = ask, objective, metrics, catch

    def run(self, n_trials: Optional[int]) -> None:
        """One after the other."""
        started = 0
        while n_trials is None or started < n_trials:
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
                trial.finish(**self._result(self._objective(trial)))
        except TrialPruned:
            pass
        except self._catch:
            pass

    def _result(self, returned: object) -> dict[str, float]:
        if isinstance(returned, Mapping):
            return {str(name): number(str(name), value) for name, value in returned.items()}
        if len(self._metrics) != 1:
            names = ", ".join(self._metrics)
            raise errors.InvalidArgument(
                f"expected the objective to return a dict with {names}, found {type(returned).__name__}"
            )
        return {self._metrics[0]: number("the objective's result", returned)}
