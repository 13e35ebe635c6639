"""The verdict of a rule on a step, and its status over a run."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import Enum


class Outcome(str, Enum):
    """The answer for one step. Every rule gives one."""

    OK = "ok"
    FIRED = "fired"
    NOT_APPLICABLE = "not_applicable"  # nothing of what the rule judges was captured at this step
    INSUFFICIENT_DATA = "insufficient_data"  # something was, but not enough yet
    ERROR = "error"  # the rule failed


class Severity(str, Enum):
    INFO = "info"
    WARNING = "warning"
    ERROR = "error"


class RuleState(str, Enum):
    """The status of a rule over the whole run."""

    IN_PROGRESS = "InProgress"
    ISSUES_FOUND = "IssuesFound"
    NO_ISSUES_FOUND = "NoIssuesFound"
    STOPPING = "Stopping"
    STOPPED = "Stopped"  # before the run ended
    ERROR = "Error"
    NOT_APPLICABLE = "NotApplicable"


@dataclass(frozen=True)
class Evidence:
    """A number that supports a verdict."""

    tensor: str
    quantity: str  # "abs_mean", "nan_count", ...
    value: float
    threshold: float = 0.0
    global_step: int = 0
    worker: str = ""  # "": the same on all


@dataclass(frozen=True)
class Verdict:
    """A rule's verdict on a step. The message is one sentence with numbers; the advice says what to try next. At most
    20 pieces of evidence are kept, the first ones."""

    outcome: Outcome
    severity: Severity = Severity.WARNING
    message: str = ""
    advice: str = ""
    evidence: tuple[Evidence, ...] = ()
    confidence: float = 1.0  # in [0, 1]: of a verdict that fired, how sure it is that this is a fault

    @classmethod
    def ok(cls) -> Verdict:
        return cls(Outcome.OK)

    @classmethod
    def fired(
        cls,
        message: str,
        *,
        advice: str = "",
        evidence: Iterable[Evidence] = (),
        severity: Severity = Severity.WARNING,
        confidence: float = 1.0,
    ) -> Verdict:
        return cls(Outcome.FIRED, severity, message, advice, tuple(evidence), confidence)

    @classmethod
    def not_applicable(cls, message: str) -> Verdict:
        return cls(Outcome.NOT_APPLICABLE, Severity.INFO, message)

    @classmethod
    def insufficient_data(cls, message: str) -> Verdict:
        return cls(Outcome.INSUFFICIENT_DATA, Severity.INFO, message)

    @classmethod
    def error(cls, message: str) -> Verdict:
        return cls(Outcome.ERROR, Severity.ERROR, message)
