"""Rules of smdebug's under the engine of Trainwarden.

    from smdebug.rules import engine

    report = engine.run(MyRule(create_trial("runs/first")))
    print(report.statuses[0].details)
"""

from __future__ import annotations

import os
from collections.abc import Callable

from trainwarden import rules
from trainwarden.rules import Report, StepVerdict, StepWindow, Verdict

from ..exceptions import (
    InsufficientInformationForRuleInvocation,
    NoMoreData,
    RuleEvaluationConditionMet,
    SMDebugValueError,
    StepUnavailable,
    TensorUnavailable,
    TensorUnavailableForStep,
)
from .rule import Rule

_NOT_THERE = (StepUnavailable, TensorUnavailable, TensorUnavailableForStep, InsufficientInformationForRuleInvocation)


class EngineRule(rules.Rule):
    """A rule of smdebug's as the engine knows them. start_step, end_step: the global steps that it judges."""

    def __init__(self, rule: Rule, start_step: int | None = None, end_step: int | None = None):
        self.name = rule.rule_name
        self.rule = rule
        self._start = start_step or 0
        self._end = end_step
        self._has_ended = False

    def evaluate(self, window: StepWindow) -> Verdict:
        step = window.global_step
        self._check_run(window)
        if self._has_ended or step < self._start or (self._end is not None and step >= self._end):
            return Verdict.not_applicable("not a step that the rule was asked to judge")
        try:
            self.rule.invoke(step)
        except RuleEvaluationConditionMet as met:
            self._has_ended = met.end_of_rule
            return Verdict.fired("its condition is met")
        except _NOT_THERE as missing:
            return Verdict.not_applicable(str(missing))
        except NoMoreData as ended:  # of another trial
            return Verdict.insufficient_data(str(ended))
        return Verdict.ok()

    def _check_run(self, window: StepWindow) -> None:
        judged, known = window.trial.path, self.rule.base_trial.path
        if judged != known and os.path.realpath(judged) != os.path.realpath(known):
            raise SMDebugValueError(f"the engine judges {judged}, but the base trial of {self.name} is {known}")


def run(
    rule: Rule,
    *,
    start_step: int | None = None,
    end_step: int | None = None,
    follow: bool = True,
    keep_going: bool = False,
    on_verdict: Callable[[StepVerdict], object] | None = None,
) -> Report:
    """Judges the run of the rule's base trial with the engine of `trainwarden watch`, live or recorded.

    The verdicts go into a journal in the run's folder, unless smdebug wrote the folder. With the action stoptraining
    the training is asked to stop when the rule fires; an email is sent when judging has ended.

    Arguments:
        start_step, end_step: the global steps that are judged, the last not included.
        follow, keep_going, on_verdict: as in trainwarden.rules.run().
    """
    source = rule.base_trial.source
    try:
        return rules.run(
            source.path,
            EngineRule(rule, start_step, end_step),
            follow=follow,
            keep_going=keep_going,
            write_journal=source.recorder == "trainwarden",
            on_verdict=on_verdict,
        )
    finally:
        rule.end_actions()
