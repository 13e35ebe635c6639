"""A trial that this program runs."""

from __future__ import annotations

from collections.abc import Sequence
from types import TracebackType
from typing import Any, Optional, SupportsFloat

from .. import errors
from . import declared
from ._calls import Calls
from .records import TrialRecord, Value, record_of

_LEFT = "its block ended without finish()"


class StudyEnded(errors.FailedPrecondition):
    """The study gives no more trials; the message says why."""


class TrialPruned(Exception):
    """An objective raises it to end its trial early: the trial is pruned, not failed, and the search goes on."""


class Trial:
    """A trial that this program is to run, from Study.ask().

        with study.ask() as trial:
            trial.finish(accuracy=train(**trial.params))

    An exception in the block makes the trial failed, with the exception's text as the reason, and goes on;
    TrialPruned makes it pruned. A block that ends without finish() makes it failed, too. One thread at a time.

    Attributes:
        number: in the study, from 0.
        params: the value of each parameter that exists in it.
        prune_reason: why the study's pruner would end it, by what was reported so far; empty: it goes on.
    """

    def __init__(self, calls: Calls, answer: dict[str, Any], spaces: dict[str, dict[str, Any]], lease_s: float):
        record = record_of(answer)
        self.number = record.number
        self.params: dict[str, Value] = record.params
        self.prune_reason = ""
        self._calls, self._spaces, self._lease_s, self._is_over = calls, spaces, lease_s, False

    def __repr__(self) -> str:
        return f"Trial({self.number}, {self.params})"

    def report(self, /, step: int, **metrics: SupportsFloat) -> None:
        """Says how far it is: metrics of a step. Steps rise. It is a sign of life, too, where it was asked for with a
        lease.

        InvalidArgument for what is no number, FailedPrecondition for a metric that the study does not have, a step
        that does not follow, and a trial that has ended.
        """
        self.prune_reason = self._calls.report(self.number, step, metrics, self._lease_s)

    def should_prune(self) -> bool:
        """Whether the study's pruner would end it by what was reported so far. Nothing ends by itself: raise
        TrialPruned, or call prune()."""
        return bool(self.prune_reason)

    def finish(self, /, **metrics: SupportsFloat) -> None:
        """Ends it with its metrics. NaN of a metric that counts makes it failed, which is logged; infinities count.

        Said again with the same numbers, nothing happens. InvalidArgument for what is no number, FailedPrecondition
        for a metric that the study does not have, one that is missing, and a trial that has ended otherwise.
        """
        self._calls.tell(self.number, metrics)
        self._is_over = True

    def fail(self, why: str = "") -> None:
        """Ends it as failed. FailedPrecondition when it has ended otherwise."""
        self._calls.tell(self.number, {}, "--failed", why=why)
        self._is_over = True

    def prune(self, why: str = "") -> None:
        """Ends it early, as pruned: its curve is kept. Without `why` the reason is the pruner's. FailedPrecondition
        when it has ended otherwise."""
        self._calls.tell(self.number, {}, "--pruned", why=why or self.prune_reason)
        self._is_over = True

    def record(self) -> TrialRecord:
        """Where it stands."""
        return record_of(self._calls.show_trial(self.number))

    def suggest_float(
        self, name: str, low: float, high: float, *, step: Optional[float] = None, log: bool = False
    ) -> float:
        """The value of a parameter that the study declares, as objectives for Optuna ask for it.

        InvalidArgument when the study does not declare it, declares it otherwise, or it does not exist in this trial.
        """
        asked = {"kind": "real", "min": low, "max": high, "step": step, "log": log}
        return float(declared.value_of(self.params, self._spaces, name, asked))

    def suggest_int(self, name: str, low: int, high: int, *, step: int = 1, log: bool = False) -> int:
        """The same of a whole number. In a range with `log`, `step` is 1."""
        asked = {"kind": "integer", "min": low, "max": high, "step": None if step == 1 else step, "log": log}
        return int(declared.value_of(self.params, self._spaces, name, asked))

    def suggest_categorical(self, name: str, choices: Sequence[Value]) -> Value:
        """The same of a choice; the order of choices makes no difference."""
        return declared.value_of(self.params, self._spaces, name, {"kind": "choice", "choices": list(choices)})

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

