"""write_down(): that a rule of smdebug's has fired, into the run that it judges, so that actions can follow."""

from __future__ import annotations

import trainwarden
from trainwarden import rules
from trainwarden.rules import StepWindow, Verdict


def write_down(run: trainwarden.Trial, rule_name: str, step: int | None, words: str, *, on_fire: str = "report") -> None:
    """A verdict of the rule at the global step, by default the last one, into a journal of the run.

    The engine that judges with the rule records it as well; the same verdict is reported once.
    """
    judged = run.last_complete_step if step is None else step
    rules.run(run.path, _Fired(rule_name, judged, words), follow=False, on_fire=on_fire)


class _Fired(rules.Rule):
    """Fires at the step at which the rule of smdebug's did."""

    def __init__(self, name: str, step: int, words: str):
        self.name = name
        self._step = step
        self._words = words

    def evaluate(self, window: StepWindow) -> Verdict:
        if window.global_step != self._step:
            return Verdict.not_applicable("another step")
        return Verdict.fired(self._words)
