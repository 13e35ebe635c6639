"""What is known of a study and its trials, as plain data."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Optional, Union

from .optuna_record import OptunaRecordNames
from .trial_states import TrialState

Value = Union[bool, int, float, str]

_NOT_FINITE = ("NaN", "Infinity", "-Infinity")  # as the program's JSON writes them


@dataclass(frozen=True)
class TrialRecord(OptunaRecordNames):
    """A trial as it stood when it was asked for.

    Attributes:
        number: from 0, in the order of suggestions.
        state: a TrialState: equal to "waiting", "running", "paused", "complete", "pruned" or "failed".
        params: the value of each parameter that exists in it.
        metrics: the final value of each metric that was told.
        series: of each metric that was reported, its (step, value) in order.
        sampler: who suggested it; "user" of values that somebody named.
        worker: who runs it or ran it, for people.
        job: the job by which it runs; empty where it runs by none.
        attempts: how often it was begun.
        suggested_unix_ns, started_unix_ns, ended_unix_ns: nanoseconds since 1970; 0: not yet.
        seconds: that it took.
        why: why it ended as it did, for people; empty where there is nothing to say.
        objectives: the names of the study's metrics to optimize.
        attributes: what its program has kept with it.
        fingerprint: of its code and data; empty where nobody said.
        same_as: it did not run, since this trial, (study, number), had the same values; an empty study is this one.
        by_verdict: a verdict on its run ended it.
    """

    number: int
    state: TrialState
    params: dict[str, Value]
    metrics: dict[str, float]
    series: dict[str, list[tuple[int, float]]]
    sampler: str
    worker: str
    job: str
    attempts: int
    suggested_unix_ns: int
    started_unix_ns: int
    ended_unix_ns: int
    seconds: float
    why: str
    objectives: tuple[str, ...] = ()
    attributes: dict[str, Any] = field(default_factory=dict)
    fingerprint: str = ""
    same_as: Optional[tuple[str, int]] = None
    by_verdict: bool = False


@dataclass(frozen=True)
class Outcome:
    """What was found against what was asked for.

    Attributes:
        sentence: that, for people.
        has_target: whether a metric that counts has a threshold.
        is_met: whether a trial meets all thresholds.
        best: the number of the best trial, of several objectives one of the front; None: no trial is complete.
        is_feasible: whether `best` keeps to the constraints.
        front: the numbers of the trials that no other one is better than in everything.
    """

    sentence: str
    has_target: bool
    is_met: bool
    best: Optional[int]
    is_feasible: bool
    front: list[int]


def record_of(answer: Mapping[str, Any], objectives: Sequence[str] = ()) -> TrialRecord:
    """Of a trial in the program's JSON. `objectives`: the names of the study's metrics to optimize."""
    return TrialRecord(
        number=answer["number"],
        state=TrialState(answer["state"]),
        params={**answer.get("wished", {}), **answer["values"]},
        metrics={name: number_of(value) for name, value in answer["metrics"].items()},
        series={
            name: [(point["step"], number_of(point["value"])) for point in points]
            for name, points in answer["series"].items()
        },
        sampler=answer["sampler"],
        worker=answer["worker"],
        job=answer["job"],
        attempts=answer["attempts"],
        suggested_unix_ns=answer["suggested_unix_ns"],
        started_unix_ns=answer["started_unix_ns"],
        ended_unix_ns=answer["ended_unix_ns"],
        seconds=number_of(answer["seconds"]),
        why=answer["why"],
        objectives=tuple(objectives),
        attributes=dict(answer.get("attributes", {})),
        fingerprint=answer["fingerprint"],
        same_as=(answer["same_as"]["study"], answer["same_as"]["trial"]) if answer["same_as"] else None,
        by_verdict=answer["by_verdict"],
    )


def outcome_of(answer: Mapping[str, Any]) -> Outcome:
    """Of `outcome` in the program's JSON."""
    return Outcome(
        sentence=answer["sentence"],
        has_target=answer["has_target"],
        is_met=answer["is_met"],
        best=answer["best"],
        is_feasible=answer["is_feasible"],
        front=list(answer["front"]),
    )


def number_of(value: Union[float, str]) -> float:
    """A number of the program's JSON, which has texts for those that are not finite."""
    assert not isinstance(value, str) or value in _NOT_FINITE
    return float(value)
