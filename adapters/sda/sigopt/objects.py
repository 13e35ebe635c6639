"""What the client hands out: experiments, suggestions, observations."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from typing import Any, Generic, Optional, TypeVar

from trainwarden.tuning import Study, TrialRecord


class Assignments(dict[str, Any]):
    """The value of each parameter."""

    def to_json(self) -> dict[str, Any]:
        return dict(self)


class _Plain:
    def to_json(self) -> dict[str, Any]:
        return asdict(self)  # type: ignore[call-overload, no-any-return]


@dataclass(frozen=True)
class MetricValue(_Plain):
    """The value of a metric. `value_stddev` is always None."""

    name: str
    value: float
    value_stddev: Optional[float] = None


@dataclass(frozen=True)
class Suggestion(_Plain):
    """What is to be tried. `state` is "open" until its observation is there, then "closed"."""

    id: str
    experiment: str
    assignments: Assignments
    state: str
    created: int


@dataclass(frozen=True)
class Observation(_Plain):
    """What came of it. `value` is that of the metric where there is one to optimize. `created`: seconds since 1970."""

    id: str
    experiment: str
    suggestion: str
    assignments: Assignments
    failed: bool
    value: Optional[float]
    values: list[MetricValue]
    created: int


@dataclass(frozen=True)
class BestAssignments(_Plain):
    """An observation that no other one is better than in everything."""

    id: str
    assignments: Assignments
    value: Optional[float]
    values: list[MetricValue]


@dataclass(frozen=True)
class Metric(_Plain):
    """What is measured. `strategy` is "optimize", "constraint" or "store"."""

    name: str
    objective: str
    strategy: str
    threshold: Optional[float]


@dataclass(frozen=True)
class Progress(_Plain):
    """How far an experiment is. `observation_budget_consumed` counts observations, too."""

    observation_count: int
    observation_budget_consumed: int
    last_observation: Optional[Observation]


@dataclass(frozen=True)
class Experiment(_Plain):
    """An experiment as it stood when it was asked for.

    Attributes:
        id: its study's name.
        state: "active", or "deleted" after delete().
        target_met: whether an observation meets all thresholds; None: there are none. Ours: SigOpt has no such field.
        sentence: what was found against what was asked for, for people. Ours, too.
    """

    id: str
    name: str
    project: Optional[str]
    parameters: list[dict[str, Any]]
    metrics: list[Metric]
    observation_budget: Optional[int]
    parallel_bandwidth: int
    progress: Progress
    state: str
    metadata: dict[str, Any]
    target_met: Optional[bool]
    sentence: str
    conditionals: list[dict[str, Any]] = field(default_factory=list)
    linear_constraints: list[dict[str, Any]] = field(default_factory=list)


Item = TypeVar("Item")


class Pagination(Generic[Item]):
    """A list, on one page."""

    def __init__(self, data: list[Item]):
        self.data, self.count = data, len(data)

    def iterate_pages(self) -> Iterator[Item]:
        return iter(self.data)


def suggestion_of(study: Study, trial: TrialRecord) -> Suggestion:
    """Of a trial."""
    state = "open" if trial.state in ("running", "waiting") else "closed"
    return Suggestion(str(trial.number), study.name, Assignments(trial.params), state,
    _seconds(trial.suggested_unix_ns))


def observation_of(study: Study, trial: TrialRecord) -> Observation:
    """Of a trial that has ended."""
    values = values_of(trial)
    return Observation(
        id=str(trial.number),
        experiment=study.name,
        suggestion=str(trial.number),
        assignments=Assignments(trial.params),
        failed=trial.state == "failed",
        value=_value(study, trial),
        values=values,
        created=_seconds(trial.ended_unix_ns),
    )


def best_of(study: Study, trial: TrialRecord) -> BestAssignments:
    """Of one of the front."""
    return BestAssignments(str(trial.number), Assignments(trial.params), _value(study, trial), values_of(trial))


def values_of(trial: TrialRecord) -> list[MetricValue]:
    """The metrics of a trial."""
    return [MetricValue(name, value) for name, value in trial.metrics.items()]


def _value(study: Study, trial: TrialRecord) -> Optional[float]:
    names = study.objectives
    return trial.metrics.get(names[0]) if len(names) == 1 else None


def _seconds(unix_ns: int) -> int:
    return unix_ns // 1_000_000_000
