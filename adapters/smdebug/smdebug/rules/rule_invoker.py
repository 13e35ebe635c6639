"""invoke_rule(): runs a rule over the steps of its base trial. As a program: see command_line.py."""

from __future__ import annotations

import bisect
import sys
from typing import TYPE_CHECKING

from ..core.logger import get_logger
from ..exceptions import (
    NoMoreProfilerData,
    RuleEvaluationConditionMet,
    StepUnavailable,
    TensorUnavailable,
    TensorUnavailableForStep,
)

if TYPE_CHECKING:
    from ..trials.trial import Trial
    from .rule import Rule


def invoke_rule(
    rule_obj: Rule, start_step: int | None = 0, end_step: int | None = None, raise_eval_cond: bool = False
) -> None:
    """Judges each saved global step from start_step up to end_step, which is not included, and waits for those to come.

    When the rule fires it continues with the next step, unless the rule has reported that it ended.

    Arguments:
        end_step: None judges to the end of the training.
        raise_eval_cond: let the exception of a rule that fires out.

    Raises:
        NoMoreData: the training has ended before end_step; always, when that is None.
        RuleEvaluationConditionMet: the rule fired, and raise_eval_cond is True.
    """
    logger, name = get_logger(), type(rule_obj).__name__
    saved = _SavedSteps(rule_obj.base_trial)
    logger.info("began to judge with rule %s at step %s", name, start_step or 0)
    step = saved.first_from(start_step or 0)
    while end_step is None or step < end_step:
        try:
            rule_obj.invoke(step)
        except (TensorUnavailableForStep, StepUnavailable, TensorUnavailable) as missing:
            logger.debug("%s", missing)
        except RuleEvaluationConditionMet as met:
            if raise_eval_cond:
                raise
            logger.debug("%s", met)
            if met.end_of_rule:
                break
        except NoMoreProfilerData as ended:
            logger.info("rule %s: %s", name, ended)
            break
        step = saved.first_from(step + 1)
    logger.info("ended to judge with rule %s before step %s", name, step)


class _SavedSteps:
    """Finds the next step that there is, so that those that were not saved cost nothing."""

    def __init__(self, trial: Trial):
        self._trial = trial
        self._steps: list[int] = []

    def first_from(self, step: int) -> int:
        """The first saved step from here on; the step itself when none is there yet, and whoever asks for it waits."""
        if not self._steps or self._steps[-1] < step:
            self._steps = self._trial.steps()
        at = bisect.bisect_left(self._steps, step)
        return self._steps[at] if at < len(self._steps) else step


if __name__ == "__main__":
    from .command_line import main

    sys.exit(main())
