"""A trial that this program runs."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from types import TracebackType
from typing import Any, Optional, SupportsFloat, overload

from .. import errors
from ._calls import Calls, number
from .asked_values import AskedValues, Choice, real_range, whole_range
from .optuna_trial import OptunaTrialNames
from .records import TrialRecord, record_of
from .trial_states import TrialState

FrozenTrial = TrialRecord  # as Optuna calls it

__all__ = ["FrozenTrial", "StudyEnded", "Trial", "TrialPruned", "TrialState", "reason_of"]

_logger = logging.getLogger("trainwarden")

_LEFT = "its block ended without finish()"


class StudyEnded(errors.FailedPrecondition):
    """The study gives no more trials; the message says why."""


class TrialPruned(Exception):
    """An objective raises it to end its trial early: the trial is pruned, not failed, and the search goes on."""


class Trial(OptunaTrialNames):
    """A trial that this program is to run, from Study.ask().

        with study.ask() as trial:
            trial.finish(accuracy=train(**trial.params))

    An exception in the block makes the trial failed, with the exception's text as the reason, and goes on;
    TrialPruned makes it pruned. A block that ends without finish() makes it failed, too. One thread at a time.

    Attributes:
        number: in the study, from 0.
        params: the value of each parameter that exists in it; of an open study, of each that was asked for.
        user_attrs: what set_user_attr() has said.
        prune_reason: why the study's pruner would end it, by what was reported so far; empty: it goes on.
    """

    def __init__(
        self,
        calls: Calls,
        answer: dict[str, Any],
        spec: dict[str, Any],
        lease_s: float,
        *,
        known: Optional[dict[str, Any]] = None,
    ):
        """`known`: the ranges that trials of this study have asked for in this process; None: it is run elsewhere."""
        record = record_of(answer)
        self.number = record.number
        self.user_attrs: dict[str, Any] = {}
        self.prune_reason = ""
        self._objectives = [name for name, metric in spec["metrics"].items() if metric["strategy"] == "optimize"]
        self._asked = AskedValues(calls, self.number, dict(answer["values"]), spec, {} if known is None else known)
        self._runs_here = known is not None
        self._calls, self._lease_s, self._is_over = calls, lease_s, False
        self._steps: set[int] = set()

    @property
    def params(self) -> dict[str, Any]:
        return self._asked.params

    def __repr__(self) -> str:
        return f"Trial({self.number}, {self.params})"

    @overload
    def report(self, /, step: int, **metrics: SupportsFloat) -> None: ...
    @overload
    def report(self, /, value: SupportsFloat, step: int) -> None: ...
    def report(self, /, *words: Any, **metrics: Any) -> None:
        """Says how far it is: metrics of a step, report(step, name=value), or of the only objective, report(value,
        step). Steps rise. It is a sign of life, too, where it was asked for with a lease.

        InvalidArgument for what is no number, FailedPrecondition for a metric that the study does not have, a step
        that does not follow, and a trial that has ended.
        """
        if len(words) == 2 and not metrics:
            return self._report_objective(words[0], words[1])
        if len(words) == 1 and "step" in metrics and "value" not in metrics:
            return self._report_objective(words[0], metrics["step"])
        if len(words) + ("step" in metrics) != 1:
            raise errors.InvalidArgument("report: expected (step, name=value) or (value, step)")
        step = words[0] if words else metrics.pop("step")
        self.prune_reason = self._calls.report(self.number, step, metrics, self._lease_s)

    def _report_objective(self, value: SupportsFloat, step: int) -> None:
        if len(self._objectives) != 1:
            raise errors.InvalidArgument(
                f"report(value, step): the study has several objectives, expected report(step, {self._objectives[0]}=value)"
            )
        if step in self._steps:
            _logger.warning("trial %d has reported step %d already: this value is left out", self.number, step)
            return
        self._steps.add(step)
        name = self._objectives[0]
        self.prune_reason = self._calls.report(self.number, step, {name: number(name, value)}, self._lease_s)

    def set_user_attr(self, key: str, value: Any) -> None:
        """Keeps `value`, of what JSON has, with the trial; it is written when the trial ends."""
        if not key or "=" in key:
            raise errors.InvalidArgument(f"expected a name without =, found {key!r}")
        self.user_attrs[key] = value

    def should_prune(self) -> bool:
        """Whether the study's pruner would end it by what was reported so far. Nothing ends by itself: raise
        TrialPruned, or call prune()."""
        return bool(self.prune_reason)

    def finish(self, /, **metrics: SupportsFloat) -> None:
        """Ends it with its metrics. NaN of a metric that counts makes it failed, which is logged; infinities count.

        Said again with the same numbers, nothing happens. InvalidArgument for what is no number, FailedPrecondition
        for a metric that the study does not have, one that is missing, and a trial that has ended otherwise.
        """
        self._tell(metrics)

    def fail(self, why: str = "") -> None:
        """Ends it as failed. FailedPrecondition when it has ended otherwise."""
        self._tell({}, "--failed", why=why)

    def prune(self, why: str = "") -> None:
        """Ends it early, as pruned: its curve is kept. Without `why` the reason is the pruner's. FailedPrecondition
        when it has ended otherwise."""
        self._tell({}, "--pruned", why=why or self.prune_reason)

    def _tell(self, metrics: Mapping[str, SupportsFloat], *options: str, why: str = "") -> None:
        unused = self._asked.unused if self._runs_here else []
        notes = self._calls.note_words(unused, self.user_attrs)
        self._calls.tell(self.number, metrics, *options, *notes, why=why)
        self._is_over = True

    def record(self) -> TrialRecord:
        """Where it stands."""
        return record_of(self._calls.show_trial(self.number), self._objectives)

    def suggest_float(
        self, name: str, low: float, high: float, *, step: Optional[float] = None, log: bool = False
    ) -> float:
        """The value of a parameter, as objectives for Optuna ask for it. An open study need not know it.

        InvalidArgument when a study that is not open does not declare it, declares it otherwise, or it does not exist
        in this trial; FailedPrecondition where the name was asked for as another kind of parameter.
        """
        return float(self._asked.number(name, real_range(low, high, step, log)))

    def suggest_int(self, name: str, low: int, high: int, *, step: int = 1, log: bool = False) -> int:
        """The same of a whole number. In a range with `log`, `step` is 1."""
        return int(self._asked.number(name, whole_range(low, high, step, log)))

    def suggest_categorical(self, name: str, choices: Sequence[Choice]) -> Any:
        """The same of a choice; where the study declares it, the order of choices makes no difference."""
        return self._asked.choice(name, choices)

    def __enter__(self) -> Trial:
        return self

    def __exit__(
        self, kind: Optional[type[BaseException]], error: Optional[BaseException], trace: Optional[TracebackType]
    ) -> None:
        if self._is_over:
            return
        if error is None:
            self.fail(_LEFT)
        elif isinstance(error, TrialPruned):
            self.prune(str(error))
        else:
            self._fail_by(error)

    def _fail_by(self, error: BaseException) -> None:
        """That `error` goes on matters more than that the program can be told of it."""
        try:
            self.fail(reason_of(error))
        except errors.Error as second:
            error.__context__ = error.__context__ or second


def reason_of(error: BaseException) -> str:
    """As a traceback ends: "ValueError: too large"."""
    text = str(error)
    return f"{type(error).__name__}: {text}" if text else type(error).__name__

