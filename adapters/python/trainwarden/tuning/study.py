"""A study: what is searched, and what came of it."""

from __future__ import annotations

import importlib
import weakref
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Optional, Union

from .. import errors
from ._calls import Calls, PathLike
from .importance import Importance, importance_of
from .optimizing import Objective, Optimization
from .optuna_study import OptunaStudyNames
from .records import Outcome, TrialRecord, Value, outcome_of, record_of
from .study_picture import study_html
from .trial import StudyEnded, Trial
from .trial_states import StudyDirection

__all__ = ["Study", "StudyDirection"]

_ENDED = "the study has ended"  # as the program says it


class Study(OptunaStudyNames):
    """A study in a folder of studies. What is asked of it is read anew each time. May be used from many threads and
    processes.

    Attributes:
        name: of the study.
        spec: what is searched: the keys of docs/reference/tune.md, with their defaults.
    """

    def __init__(self, name: str, folder: Optional[PathLike] = None):
        self.name = name
        self._calls = Calls(name, folder)
        self.spec: dict[str, Any] = self._calls.show()["spec"]
        self._known: dict[str, Any] = {}  # what trials have asked for in this process
        self._live: weakref.WeakValueDictionary[int, Trial] = weakref.WeakValueDictionary()
        self._running: list[Optimization] = []

    @classmethod
    def open(cls, name: str, folder: Optional[PathLike] = None) -> Study:
        """The study with this name. `folder` holds the studies: TRAINWARDEN_STUDIES, else ./studies.

        FailedPrecondition when there is none, with the nearest name.
        """
        return cls(name, folder)

    def __repr__(self) -> str:
        return f"Study({self.name!r})"

    def ask(self, *, lease_s: float = 0, worker: str = "") -> Trial:
        """A trial that this program is to run: one that waits or was lost, else a new one.

        With `lease_s`, seconds, it is given to others when it was not heard of for so long; 0: never. `worker` says
        who runs it, for people: this host and process. StudyEnded when there are no more.
        """
        try:
            answer = self._calls.ask(worker, lease_s)
        except errors.FailedPrecondition as error:
            if str(error).startswith(_ENDED):
                raise StudyEnded(str(error)) from None
            raise
        trial = Trial(self._calls, answer, self.spec, lease_s, known=self._known)
        self._live[trial.number] = trial
        return trial

    def trial(self, number: int) -> Trial:
        """A trial by its number, to report on it and to end it: one that waits, or that ask() gave, also in another
        process. FailedPrecondition when there is none."""
        return Trial(self._calls, self._calls.show_trial(number), self.spec, 0)

    def enqueue(self, params: Mapping[str, Value]) -> TrialRecord:
        """Values that are to be tried next: one of each parameter that exists with the others. InvalidArgument or
        FailedPrecondition for values that are none of this space."""
        return record_of(self._calls.enqueue(params), self.objectives)

    def optimize(
        self,
        objective: Objective,
        n_trials: Optional[int] = None,
        n_jobs: int = 1,
        *,
        timeout: Optional[float] = None,
        catch: Union[type[Exception], Sequence[type[Exception]]] = (),
        callbacks: Optional[Sequence[Callable[[Study, TrialRecord], None]]] = None,
    ) -> None:
        """Runs `objective` with trial after trial, until the study ends or `n_trials` were begun.

        `objective(trial)` returns the metric to optimize, or a dict of metrics; NaN makes the trial failed, and the
        search goes on. It may raise TrialPruned. Whatever else it raises makes the trial failed with its text, and goes
        on from here unless it is one of `catch`; so it is with KeyboardInterrupt. With `n_jobs` so many run at once, in
        threads; after an exception those that run come to their end. After `timeout` seconds none is begun. Each of
        `callbacks` is called with the study and the trial's record when a trial has ended.
        """
        if n_jobs < 1:
            raise errors.InvalidArgument(f"n_jobs: expected 1 or more, found {n_jobs}")
        caught = (catch,) if isinstance(catch, type) else tuple(catch)
        run = Optimization(self.ask, objective, self.objectives, caught, timeout, self._notices_to(callbacks or ()))
        self._running.append(run)
        try:
            if n_jobs == 1:
                run.run(n_trials)
            else:
                run.run_many(n_trials, n_jobs)
        finally:
            self._running.remove(run)

    def _notices_to(self, callbacks: Sequence[Callable[[Study, TrialRecord], None]]) -> Callable[[Trial], None]:
        def ended(trial: Trial) -> None:
            if callbacks:
                record = trial.record()
                for callback in callbacks:
                    callback(self, record)

        return ended

    @property
    def objectives(self) -> list[str]:
        """The names of the metrics to optimize."""
        return [name for name, metric in self.spec["metrics"].items() if metric["strategy"] == "optimize"]

    @property
    def state(self) -> str:
        """One of "waiting", "running", or "ended: " and why."""
        return str(self._calls.show()["state"])

    @property
    def outcome(self) -> Outcome:
        """What was found against what was asked for."""
        return outcome_of(self._calls.show()["outcome"])

    @property
    def best(self) -> Optional[TrialRecord]:
        """The best trial that keeps to the constraints, of several objectives one of the front; None where there is
        none."""
        answer = self._calls.show()
        outcome = outcome_of(answer["outcome"])
        if not outcome.is_feasible or outcome.best is None:
            return None
        return record_of(answer["trials"][outcome.best], self.objectives)

    @property
    def front(self) -> list[TrialRecord]:
        """The trials that no other one is better than in everything."""
        answer = self._calls.show()
        return [record_of(answer["trials"][number], self.objectives) for number in outcome_of(answer["outcome"]).front]

    def importance(self, metric: Optional[str] = None) -> Importance:
        """How much each parameter mattered for a metric, and how sure that is; without `metric` for the first that is
        optimized. InvalidArgument for one that does not count in this study. Of ten thousand trials it takes a
        second or so."""
        return importance_of(self._calls.importance(metric or ""))

    @property
    def trials(self) -> list[TrialRecord]:
        """All of them, by number."""
        return [record_of(trial, self.objectives) for trial in self._calls.show()["trials"]]

    def to_pandas(self) -> Any:
        """A DataFrame with a row for each trial: number, state, `params_NAME`, `metrics_NAME`, seconds, sampler, why.
        Needs pandas."""
        pandas: Any = importlib.import_module("pandas")
        return pandas.DataFrame([_row(trial) for trial in self.trials])

    def stop(self) -> None:
        """Ends it: no more trials are given, and those that run are failed. Within optimize(), in an objective or a
        callback, it only ends that call: no trial is begun, those that run come to their end."""
        if not self._running:
            return self._calls.stop()
        for run in self._running:
            run.stop()

    def _repr_html_(self) -> str:
        answer = self._calls.show()
        trials = [record_of(trial, self.objectives) for trial in answer["trials"]]
        return study_html(self.name, answer["outcome"]["sentence"], self.directions, trials)

    def resume(self) -> None:
        """Goes on with it after stop()."""
        self._calls.resume()


def _row(trial: TrialRecord) -> dict[str, Any]:
    params = {f"params_{name}": value for name, value in trial.params.items()}
    metrics = {f"metrics_{name}": value for name, value in trial.metrics.items()}
    rest = {"seconds": trial.seconds, "sampler": trial.sampler, "why": trial.why}
    return {"number": trial.number, "state": trial.state, **params, **metrics, **rest}
