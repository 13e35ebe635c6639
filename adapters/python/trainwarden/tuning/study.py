"""A study: what is searched, and what came of it."""

from __future__ import annotations

import importlib
import os
from collections.abc import Mapping, Sequence
from typing import Any, Optional

from .. import errors
from . import _calls
from ._calls import Calls, PathLike
from .importance import Importance, importance_of
from .optimizing import Objective, Optimization
from .records import Outcome, TrialRecord, Value, outcome_of, record_of
from .trial import StudyEnded, Trial

_ENDED = "the study has ended"  # as the program says it


class Study:
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
        return Trial(self._calls, answer, self.spec["parameters"], lease_s)

    def trial(self, number: int) -> Trial:
        """A trial by its number, to report on it and to end it: one that waits, or that ask() gave, also in another
        process. FailedPrecondition when there is none."""
        return Trial(self._calls, self._calls.show_trial(number), self.spec["parameters"], 0)

    def enqueue(self, params: Mapping[str, Value]) -> TrialRecord:
        """Values that are to be tried next: one of each parameter that exists with the others. InvalidArgument or
        FailedPrecondition for values that are none of this space."""
        return record_of(self._calls.enqueue(params))

    def optimize(
        self,
        objective: Objective,
        n_trials: Optional[int] = None,
        n_jobs: int = 1,
        *,
        catch: tuple[type[Exception], ...] = (),
    ) -> None:
        """Runs `objective` with trial after trial, until the study ends or `n_trials` were begun.

        `objective(trial)` returns the metric to optimize, or a dict of metrics; NaN makes the trial failed, and the
        search goes on. It may raise TrialPruned. Whatever else it raises makes the trial failed with its text, and goes
        on from here unless it is one of `catch`; so it is with KeyboardInterrupt. With `n_jobs` so many run at once, in
        threads; after an exception those that run come to their end.
        """
        if n_jobs < 1:
            raise errors.InvalidArgument(f"n_jobs: expected 1 or more, found {n_jobs}")
        run = Optimization(self.ask, objective, self.objectives, catch)
        if n_jobs == 1:
            run.run(n_trials)
        else:
            run.run_many(n_trials, n_jobs)

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
        return record_of(answer["trials"][outcome.best]) if outcome.is_feasible and outcome.best is not None else None

    @property
    def front(self) -> list[TrialRecord]:
        """The trials that no other one is better than in everything."""
        answer = self._calls.show()
        return [record_of(answer["trials"][number]) for number in outcome_of(answer["outcome"]).front]

    def importance(self, metric: Optional[str] = None) -> Importance:
        """How much each parameter mattered for a metric, and how sure that is; without `metric` for the first that is
        optimized. InvalidArgument for one that does not count in this study. Of ten thousand trials it takes a
        second or so."""
        return importance_of(self._calls.importance(metric or ""))

    @property
    def trials(self) -> list[TrialRecord]:
        """All of them, by number."""
        return [record_of(trial) for trial in self._calls.show()["trials"]]

    def to_pandas(self) -> Any:
        """A DataFrame with a row for each trial: number, state, `params_NAME`, `metrics_NAME`, seconds, sampler, why.
        Needs pandas."""
        pandas: Any = importlib.import_module("pandas")
        return pandas.DataFrame([_row(trial) for trial in self.trials])

    def stop(self) -> None:
        """Ends it: no more trials are given, and those that run are failed."""
        self._calls.stop()

    def resume(self) -> None:
        """Goes on with it after stop()."""
        self._calls.resume()


def create_study(
    spec: Optional[Mapping[str, Any]] = None,
    *,
    name: Optional[str] = None,
    parameters: Optional[Mapping[str, Any]] = None,
    metrics: Optional[Mapping[str, Any]] = None,
    constraints: Optional[list[Mapping[str, Any]]] = None,
    budget: Optional[Mapping[str, Any]] = None,
    sampler: Optional[str] = None,
    pruner: Optional[str] = None,
    seed: Optional[int] = None,
    parallel: Optional[int] = None,
    job: Optional[PathLike] = None,
    from_studies: Optional[Sequence[str]] = None,
    folder: Optional[PathLike] = None,
) -> Study:
    """Makes a study and opens it.

    `spec` has the keys of docs/reference/tune.md; arguments take the place of what it says. A path in `job` begins in
    the folder that this process works in. Samplers begin with what the trials of `from_studies`, studies of the same
    folder, have found. `folder` holds the studies: TRAINWARDEN_STUDIES, else ./studies.

    InvalidArgument tells every mistake, one a line. FailedPrecondition when there is a study of this name already.
    """
    said = {"name": name, "parameters": parameters, "metrics": metrics, "constraints": constraints, "budget": budget,
            "sampler": sampler, "pruner": pruner, "seed": seed, "parallel": parallel, "job": job,
            "from": list(from_studies) if from_studies is not None else None}  # fmt: skip
    whole = {**(spec or {}), **{key: value for key, value in said.items() if value is not None}}
    if not whole.get("name"):
        raise errors.InvalidArgument("a study: expected a name")
    if "job" in whole:
        whole["job"] = os.path.abspath(whole["job"])
    return Study(_calls.create(whole, folder), folder)


def _row(trial: TrialRecord) -> dict[str, Any]:
    params = {f"params_{name}": value for name, value in trial.params.items()}
    metrics = {f"metrics_{name}": value for name, value in trial.metrics.items()}
    rest = {"seconds": trial.seconds, "sampler": trial.sampler, "why": trial.why}
    return {"number": trial.number, "state": trial.state, **params, **metrics, **rest}
