"""Rules judge a training, step by step.

    from trainwarden import rules

    class LossIsFinite(rules.Rule):
        def evaluate(self, window):
            loss = window.scalar("loss")
            if loss == loss:
                return rules.Verdict.ok()
            return rules.Verdict.fired(f"the loss is {loss}", advice="lower the learning rate")

    @rules.rule
    def weights_stay_small(window, limit=100.0):
        return window.statistics("conv1.weight").abs_max <= limit   # a Verdict, or a bool: does the rule hold?

    mine = [LossIsFinite(), weights_stay_small(limit=10.0)]
    report = rules.run("runs/first", [*mine, "VanishingGradient:threshold=1e-6"])
    for status in report.statuses:
        print(status.rule_id, status.status.value, status.details)
"""

from __future__ import annotations

import functools
import inspect
import os
import sys
import time
import traceback
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from datetime import datetime, timezone
from typing import Any, Union, overload

import numpy as np

from . import _core
from ._core import Statistics
from .arrays import Array
from .errors import NotFound, OutOfRange
from .options import Collection, Mode
from .trial import Trial, open as open_trial
from .verdicts import Evidence, Outcome, RuleState, Severity, Verdict

__all__ = [
    "Answer",
    "Evidence",
    "Outcome",
    "Report",
    "Rule",
    "RuleDescription",
    "RuleParameter",
    "RuleState",
    "RuleStatus",
    "Severity",
    "StepVerdict",
    "StepWindow",
    "Verdict",
    "available",
    "rule",
    "rule_job_summary",
    "run",
]

_POLL_INTERVAL_S = 0.005


class StepWindow:
    """The step that is judged, and the trial up to it. In a live run the trial may already have later steps."""

    def __init__(self, trial: Trial, global_step: int):
        self.trial = trial
        self.global_step = global_step

    @property
    def mode(self) -> Mode:
        return self.trial.mode_of(self.global_step) or Mode.GLOBAL

    @property
    def mode_step(self) -> int:
        step = self.trial.mode_step_of(self.global_step)
        return self.global_step if step is None else step

    def tensor_names(self, include: str | Iterable[str] = (), *, collection: str = "") -> list[str]:
        """Of the tensors that exist at this step."""
        return self.trial.tensor_names(include, collection=collection, step=self.global_step)

    def value(self, tensor: str, worker: str = "") -> Array:
        return self.trial.value(tensor, self.global_step, worker=worker)

    def statistics(self, tensor: str, worker: str = "") -> Statistics:
        return self.trial.statistics(tensor, self.global_step, worker=worker)

    def scalar(self, tensor: str, worker: str = "") -> float:
        return self.trial.scalar(tensor, self.global_step, worker=worker)


Answer = Union[Verdict, bool, np.bool_]
Needs = Iterable[Union[str, Collection]]


class Rule:
    """Judges a run. A subclass implements evaluate(), and keeps its state between steps in the object.

    `name` is its name in verdicts and in the run's files (by default that of the class); `parameters` are recorded
    with them. A rule object judges one run.
    """

    name: str = ""

    @property
    def parameters(self) -> dict[str, str]:
        return {}

    def needs(self) -> Needs:
        """What `trainwarden run` must capture for this rule: collections by name, of which it needs statistics at every
        step, or Collection objects with the interval (`save`, a number) and the form (`keep`)."""
        return ()

    def evaluate(self, window: StepWindow) -> Answer:
        """Judges one step; called for each complete step, rising. True is short for Verdict.ok(), False for a verdict
        that fired.

        When it reads a tensor that does not exist (NotFound, OutOfRange), the step is not applicable. Any other
        exception becomes an error verdict: the rule is not evaluated again, and the other rules continue.
        """
        raise NotImplementedError(f"{type(self).__name__} has no evaluate()")


class _FunctionRule(Rule):
    def __init__(self, function: Callable[..., Answer], arguments: dict[str, Any], needs: Needs):
        self.name = function.__name__
        self._function = function
        self._arguments = arguments
        self._needs = tuple(needs)

    @property
    def parameters(self) -> dict[str, str]:
        return {name: str(value) for name, value in self._arguments.items()}

    def needs(self) -> Needs:
        return self._needs

    def evaluate(self, window: StepWindow) -> Answer:
        return self._function(window, **self._arguments)


@overload
def rule(function: Callable[..., Answer], *, needs: Needs = ()) -> Callable[..., Rule]: ...


@overload
def rule(*, needs: Needs = ()) -> Callable[[Callable[..., Answer]], Callable[..., Rule]]: ...


def rule(function: Callable[..., Answer] | None = None, *, needs: Needs = ()) -> Any:
    """Makes a rule from a function `f(window, ...)`: calling the result with its other arguments returns the rule.

    As `@rule` or, with what must be captured for it (see Rule.needs), as `@rule(needs=["gradients"])`.
    """
    if function is None:
        return functools.partial(rule, needs=needs)
    judge = function
    signature = inspect.signature(judge)

    @functools.wraps(judge)
    def make(**arguments: Any) -> Rule:
        bound = signature.bind(None, **arguments)
        bound.apply_defaults()
        named = dict(list(bound.arguments.items())[1:])
        return _FunctionRule(judge, named, needs)

    make.makes_rule = True  # type: ignore[attr-defined]  # by this rule_host finds it in a file
    return make


@dataclass(frozen=True)
class RuleParameter:
    name: str
    default: str  # as text; "": not set
    description: str


@dataclass(frozen=True)
class RuleDescription:
    name: str
    summary: str
    parameters: tuple[RuleParameter, ...]


def available() -> list[RuleDescription]:
    """The built-in rules. "Name:parameter=value,parameter=value" selects one."""
    return [
        RuleDescription(name, summary, tuple(RuleParameter(*parameter) for parameter in parameters))
        for name, summary, parameters in _core.builtin_rules()
    ]


def rule_job_summary(run: str | os.PathLike[str]) -> list[dict[str, Any]]:
    """The statuses of the rules that have judged a run, in the form of SageMaker's rule_job_summary().

    Each rule is a dict of RuleConfigurationName, RuleEvaluationJobArn, RuleEvaluationStatus, StatusDetails (missing
    while the rule is in progress) and LastModifiedTime, a datetime in UTC. `Status` is Trainwarden's own value:
    NotApplicable where the six values of the original have only Error.

    Raises:
        FileNotFoundError: there is no run.
    """
    run_dir = os.fspath(open_trial(run).path)
    summary = []
    for name, arn, evaluation_status, details, unix_ns, status in _core.rule_job_summary(run_dir):
        rule: dict[str, Any] = {
            "RuleConfigurationName": name,
            "RuleEvaluationJobArn": arn,
            "RuleEvaluationStatus": evaluation_status,
        }
        if details is not None:
            rule["StatusDetails"] = details
        rule["LastModifiedTime"] = datetime.fromtimestamp(unix_ns // 1000 / 1_000_000, timezone.utc)
        rule["Status"] = status
        summary.append(rule)
    return summary


@dataclass(frozen=True)
class StepVerdict:
    """A verdict of one rule on one step."""

    rule_id: str  # the rule's name; with "-2", "-3" after it when there are several of a name
    global_step: int
    mode: Mode
    mode_step: int
    unix_ns: int  # when it was judged
    verdict: Verdict


@dataclass(frozen=True)
class RuleStatus:
    """The status of a rule, with an explanation in `details`; `outcomes` counts steps."""

    rule_id: str
    status: RuleState
    details: str
    outcomes: dict[Outcome, int]


@dataclass
class Report:
    """The result of judging a run."""

    statuses: list[RuleStatus] = field(default_factory=list)  # in the order of the rules
    verdicts: list[StepVerdict] = field(default_factory=list)  # that fired (repeats are folded) or failed, as they came
    journal: str = ""  # of the run's folder: "watch-0"; "" when none was written
    run_ended: bool = False  # and every step was judged
    stop_requested: bool = False  # the training was asked to stop
    last_judged_step: int = -1

    @property
    def fired(self) -> bool:
        return any(status.status is RuleState.ISSUES_FOUND for status in self.statuses)


def run(
    run: Trial | str | os.PathLike[str],
    rules: Rule | Callable[..., Rule] | str | Iterable[Rule | Callable[..., Rule] | str],
    *,
    follow: bool = True,
    keep_going: bool = False,
    on_fire: str = "report",
    write_journal: bool = True,
    on_verdict: Callable[[StepVerdict], object] | None = None,
) -> Report:
    """Judges a run, live or finished, with the engine of `trainwarden watch`.

    Returns when the run has ended and was judged, or when no rule has anything left to judge. Ctrl-C ends it.

    Arguments:
        run: a trial, or the run's folder.
        rules: a rule or several: objects, functions decorated with `rule`, or texts as on the command line.
        follow: wait for further steps of a live run; False: judge the existing steps.
        keep_going: continue with a rule that has fired.
        on_fire: "stop" also asks the training to stop, and waits up to 30 s for its answer.
        write_journal: write verdicts into the run's folder.
        on_verdict: called with each verdict that fired or failed; an exception from it ends the judging.

    Raises:
        ValueError: a rule's text names no rule, or a wrong parameter; the message names the nearest known one.
        FileNotFoundError: there is no run.
    """
    if on_fire not in ("report", "stop"):
        raise ValueError(f'expected on_fire "report" or "stop", found "{on_fire}"')
    trial = run if isinstance(run, Trial) else open_trial(run)
    verdicts: list[StepVerdict] = []

    def take(watched: _core.WatchVerdict) -> None:
        verdicts.append(_step_verdict(watched))
        if on_verdict is not None:
            on_verdict(verdicts[-1])

    watch = _core.Watch(trial._core)
    for wanted in [rules] if isinstance(rules, (Rule, str)) or callable(rules) else rules:
        _add(watch, trial, wanted)
    watch.start(keep_going, write_journal, on_fire == "stop", take)
    try:
        while watch.poll() and follow:
            time.sleep(_POLL_INTERVAL_S)
    finally:
        watch.finish()
    return _report(watch, verdicts)


def _add(watch: _core.Watch, trial: Trial, wanted: Rule | Callable[..., Rule] | str) -> None:
    if isinstance(wanted, str):
        os.environ.setdefault("TRAINWARDEN_PYTHON", sys.executable)  # what runs a rule in a file of its own
        watch.add_builtin(wanted)
        return
    found = wanted if isinstance(wanted, Rule) else wanted() if callable(wanted) else None
    if not isinstance(found, Rule):
        raise TypeError(f"expected a Rule, a function decorated with rule, or a text, found {type(wanted).__name__}")
    rule: Rule = found
    watch.add_python(_name_of(rule), rule.parameters, lambda step: _judge(rule, trial, step))


def _name_of(rule: Rule) -> str:
    return rule.name or type(rule).__name__


def judge_step(rule: Rule, trial: Trial, global_step: int) -> Verdict:
    """The rule's verdict; an error verdict when it raises, or returns something else."""
    try:
        answer = rule.evaluate(StepWindow(trial, global_step))
    except (NotFound, OutOfRange) as missing:
        answer = Verdict.not_applicable(str(missing))
    except Exception as error:
        answer = Verdict.error(_words_of(error))
    if isinstance(answer, (bool, np.bool_)):
        return Verdict.ok() if answer else Verdict.fired(f"{_name_of(rule)} does not hold")
    if not isinstance(answer, Verdict):
        return Verdict.error(f"evaluate() gave {answer!r}; expected a Verdict or a bool")
    return answer


def _judge(rule: Rule, trial: Trial, global_step: int) -> _core.Verdict:
    answer = judge_step(rule, trial, global_step)
    evidence = [(e.tensor, e.quantity, e.value, e.threshold, e.global_step, e.worker) for e in answer.evidence]
    return _core.Verdict(answer.outcome, answer.severity, answer.message, answer.advice, evidence, answer.confidence)


def _words_of(error: Exception) -> str:
    """As in: ValueError: what it says (rule.py, line 12)."""
    words = "".join(traceback.format_exception_only(type(error), error)).strip()
    frames = traceback.extract_tb(error.__traceback__)
    return f"{words} ({os.path.basename(frames[-1].filename)}, line {frames[-1].lineno})"


def _step_verdict(watched: _core.WatchVerdict) -> StepVerdict:
    core = watched.verdict
    verdict = Verdict(
        Outcome(core.outcome),
        Severity(core.severity),
        core.message,
        core.advice,
        tuple(Evidence(*evidence) for evidence in core.evidence),
        core.confidence,
    )
    return StepVerdict(watched.rule_id, watched.global_step, Mode(watched.mode), watched.mode_step, watched.unix_ns, verdict)


def _report(watch: _core.Watch, verdicts: list[StepVerdict]) -> Report:
    statuses = [
        RuleStatus(s.rule_id, RuleState(s.status), s.details, dict(zip(Outcome, s.outcomes))) for s in watch.statuses
    ]
    return Report(statuses, verdicts, watch.journal, watch.run_ended, watch.stop_requested, watch.last_judged_step)
