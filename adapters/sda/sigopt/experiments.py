"""Experiments, each a study, with the calls of SigOpt's client."""

from __future__ import annotations

import json
import re
import uuid
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Optional

from trainwarden.tuning import Study, TrialRecord, create_study

from . import wishes
from .exceptions import ApiException, as_api_errors
from .objects import BestAssignments, Experiment, Metric, Observation, Pagination, Progress, Suggestion
from .objects import best_of, observation_of, suggestion_of

_OURS = "sigopt.json"  # beside study.json: what a study has no place for
_STRATEGIES = {"optimize": "optimize", "store": "store", "constrain": "constraint"}
_SAMPLER = "auto"
_MOST_NAME = 40


class Experiments:
    """conn.experiments()."""

    def __init__(self, folder: str):
        self._folder = folder

    def create(
        self,
        *,
        name: str,
        parameters: Sequence[Mapping[str, Any]],
        metrics: Optional[Sequence[Mapping[str, Any]]] = None,
        observation_budget: Optional[int] = None,
        parallel_bandwidth: Optional[int] = None,
        conditionals: Sequence[Mapping[str, Any]] = (),
        linear_constraints: Sequence[Mapping[str, Any]] = (),
        project: Optional[str] = None,
        metadata: Optional[Mapping[str, Any]] = None,
        type: Optional[str] = None,
        **others: Any,
    ) -> Experiment:
        """Makes one. Without metrics there is one, "value", that is maximized.

        `observation_budget` is kept for the loop of the caller, as SigOpt did: suggestions are given after it, too,
        and after a target was met. `type` "random", "grid" or "offline" (which is as without) chooses how it
        searches. ApiException for what is wrong.
        """
        wishes.refuse_unknown("an experiment", others, ("name", "parameters", "metrics", "observation_budget",
                              "parallel_bandwidth", "conditionals", "linear_constraints", "project", "metadata",
                              "type"))  # fmt: skip
        document = {"name": name, "project": project, "metadata": dict(metadata or {}),
                    "observation_budget": observation_budget, "parameters": list(map(dict, parameters)),
                    "conditionals": list(map(dict, conditionals)),
                    "linear_constraints": list(map(dict, linear_constraints))}  # fmt: skip
        with as_api_errors():
            study = create_study(
                name=_study_name(name),
                parameters=wishes.parameters_of(parameters, conditionals),
                metrics=wishes.metrics_of(metrics or [{"name": "value", "objective": "maximize"}]),
                constraints=list(wishes.constraints_of(linear_constraints)),
                sampler=_sampler(type),
                parallel=parallel_bandwidth or 1,
                budget={"stop_at_target": False},
                folder=self._folder,
            )
        (Path(self._folder) / study.name / _OURS).write_text(json.dumps(document), encoding="utf-8")
        return _experiment(study, document)

    def fetch(self, **_: Any) -> Pagination[Experiment]:
        """All of them."""
        folder = Path(self._folder)
        names = sorted(path.parent.name for path in folder.glob(f"*/{_OURS}"))
        return Pagination([OneExperiment(self._folder, name).fetch() for name in names])


class OneExperiment:
    """conn.experiments(id)."""

    def __init__(self, folder: str, id: str):
        self._folder, self._id = folder, id

    def fetch(self) -> Experiment:
        """As it stands. ApiException with status 404 when there is none."""
        study = self._study()
        try:
            document = json.loads((Path(self._folder) / study.name / _OURS).read_text(encoding="utf-8"))
        except FileNotFoundError:  # a study that was made otherwise
            document = {"name": study.name}
        return _experiment(study, document)

    def suggestions(self, id: Any = None) -> _Suggestions:
        return _Suggestions(self._study(), id)

    def observations(self, id: Any = None) -> _Observations:
        return _Observations(self._study(), id)

    def best_assignments(self) -> _BestAssignments:
        return _BestAssignments(self._study())

    def delete(self) -> None:
        """Ends it: no more suggestions are given. What was observed is kept."""
        with as_api_errors():
            self._study().stop()

    def _study(self) -> Study:
        with as_api_errors():
            return Study.open(self._id, self._folder)


class _Suggestions:
    def __init__(self, study: Study, id: Any):
        self._study, self._id = study, id

    def create(self, *, assignments: Optional[Mapping[str, Any]] = None) -> Suggestion:
        """What is to be tried next. With `assignments` that."""
        with as_api_errors():
            if assignments is not None:
                return suggestion_of(self._study, self._study.enqueue(assignments))
            return suggestion_of(self._study, self._study.ask().record())

    def fetch(self, **_: Any) -> Any:
        """All of them, or with an id that one."""
        trials = self._study.trials
        if self._id is not None:
            return suggestion_of(self._study, _numbered(trials, self._id))
        return Pagination([suggestion_of(self._study, trial) for trial in trials])


class _Observations:
    def __init__(self, study: Study, id: Any):
        self._study, self._id = study, id

    def create(
        self,
        *,
        suggestion: Any = None,
        assignments: Optional[Mapping[str, Any]] = None,
        value: Optional[float] = None,
        values: Optional[Sequence[Mapping[str, Any]]] = None,
        failed: bool = False,
        value_stddev: Optional[float] = None,
        metadata: Optional[Mapping[str, Any]] = None,
    ) -> Observation:
        """What came of a suggestion (its id, or the suggestion), or of assignments that somebody tried.

        ApiException where the study refuses it: a metric that it does not have, a suggestion that was observed
        before. NaN makes it a failed one. `value_stddev` and `metadata` are refused: there is no place for them.
        """
        for key, said in (("value_stddev", value_stddev), ("metadata", metadata)):
            if said:
                raise ApiException(f"an observation: {key} is not kept here: leave it out")
        with as_api_errors():
            metrics = {} if failed else self._metrics(value, values)
            if (suggestion is None) == (assignments is None):
                raise ApiException("an observation: expected either a suggestion or assignments")
            if assignments is not None:
                trial = self._study.enqueue(assignments)
            else:
                trial = _numbered(self._study.trials, getattr(suggestion, "id", suggestion))
            tell = self._study.trial(trial.number)
            if failed:
                tell.fail()
            else:
                tell.finish(**metrics)
            return observation_of(self._study, tell.record())

    def fetch(self, **_: Any) -> Any:
        """All of them, or with an id that one."""
        ended = [trial for trial in self._study.trials if trial.state not in ("running", "waiting")]
        if self._id is not None:
            return observation_of(self._study, _numbered(ended, self._id))
        return Pagination([observation_of(self._study, trial) for trial in ended])

    def _metrics(self, value: Optional[float], values: Optional[Sequence[Mapping[str, Any]]]) -> dict[str, float]:
        if (value is None) == (values is None):
            raise ApiException("an observation: expected value or values, or failed=True")
        if values is not None:
            return {each["name"]: each["value"] for each in values}
        assert value is not None
        names = self._study.objectives
        if len(names) != 1:
            raise ApiException(f"an observation: expected values of {', '.join(names)}, found one value")
        return {names[0]: value}


class _BestAssignments:
    def __init__(self, study: Study):
        self._study = study

    def fetch(self) -> Pagination[BestAssignments]:
        """Those that no other ones are better than in everything; empty as long as there are none."""
        best = self._study.best
        if len(self._study.objectives) == 1:
            return Pagination([best_of(self._study, best)] if best else [])
        return Pagination([best_of(self._study, trial) for trial in self._study.front])


def _experiment(study: Study, document: Mapping[str, Any]) -> Experiment:
    ended = [trial for trial in study.trials if trial.state not in ("running", "waiting")]
    last = max(ended, key=lambda trial: trial.ended_unix_ns, default=None)
    outcome = study.outcome
    return Experiment(
        id=study.name,
        name=document["name"],
        project=document.get("project"),
        parameters=document.get("parameters") or [],
        metrics=[_metric(name, metric) for name, metric in study.spec["metrics"].items()],
        observation_budget=document.get("observation_budget"),
        parallel_bandwidth=study.spec["parallel"],
        progress=Progress(len(ended), len(ended), observation_of(study, last) if last else None),
        state="deleted" if study.state.startswith("ended: ") else "active",
        metadata=document.get("metadata") or {},
        target_met=outcome.is_met if outcome.has_target else None,
        sentence=outcome.sentence,
        conditionals=document.get("conditionals") or [],
        linear_constraints=document.get("linear_constraints") or [],
    )


def _metric(name: str, metric: Mapping[str, Any]) -> Metric:
    return Metric(name, metric["goal"], _STRATEGIES[metric["strategy"]], metric.get("threshold"))


def _numbered(trials: Sequence[TrialRecord], id: Any) -> TrialRecord:
    for trial in trials:
        if str(trial.number) == str(id):
            return trial
    raise ApiException(f"there is no suggestion or observation {id!s:.40}", 404)


def _sampler(kind: Optional[str]) -> str:
    known = {None: _SAMPLER, "offline": _SAMPLER, "random": "random", "grid": "grid"}
    if kind not in known:
        raise ApiException(f'an experiment: expected the type offline, random or grid, found "{kind}"')
    return known[kind]


def _study_name(name: str) -> str:
    """A study's name for an experiment that may be called anything, and like others."""
    plain = re.sub(r"[^A-Za-z0-9]+", "-", name)[:_MOST_NAME].strip("-") or "experiment"
    return f"{plain}-{uuid.uuid4().hex[:8]}"
