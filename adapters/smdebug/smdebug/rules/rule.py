"""Rule: judges a run, a global step at a time."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from ..analysis.utils import no_refresh
from ..core.logger import get_logger
from ..exceptions import RuleEvaluationConditionMet, SMDebugTypeError
from .action import Actions
from .req_tensors import RequiredTensors

if TYPE_CHECKING:
    from trainwarden import rules

    from ..trials.trial import Trial


class Rule(ABC):
    """A subclass says in invoke_at_step() whether its condition is met.

        class GradientsAreSmall(Rule):
            def __init__(self, base_trial, threshold=1e-7):
                super().__init__(base_trial)
                self.threshold = float(threshold)

            def invoke_at_step(self, step):
                names = self.base_trial.tensor_names(step=step, collection="gradients")
                means = (self.base_trial.tensor(name).reduction_value(step, "mean", abs=True) for name in names)
                return any(mean < self.threshold for mean in means)

    invoke_rule() runs it over a run, `smdebug.rules.rule_invoker` from the command line, and so does the engine of
    Trainwarden: trainwarden.rules.run(folder, rule).

    Attributes:
        base_trial, other_trials, trials: what it judges, and what it compares that with; all of them.
        req_tensors: what set_required_tensors() asks for.
        rule_name: the name of the class.
        report: {"RuleTriggered": 0, "Violations": 0, "Details": {}, "Datapoints": 0, "RuleParameters": ""}, for the
            rule to fill.
        logger: where it may speak.
    """

    @classmethod
    def for_engine(cls, run: str, **arguments: Any) -> rules.Rule:
        """The rule for a run's folder as the engine of Trainwarden judges with it: `--rule my_rules.py:MyRule`."""
        from ..trials import create_trial
        from .engine import EngineRule

        return EngineRule(cls(base_trial=create_trial(run), **arguments))

    def __init__(self, base_trial: Trial, action_str: str | None = None, other_trials: Iterable[Trial] | None = None):
        if action_str is not None and not isinstance(action_str, str):
            raise SMDebugTypeError(f"expected text as action_str, found {action_str!r}; name it: other_trials=...")
        self.base_trial = base_trial
        self.other_trials = other_trials if other_trials is None else list(other_trials)
        self.trials = [base_trial, *(self.other_trials or ())]
        self.req_tensors = RequiredTensors(base_trial, self.other_trials)
        self.logger = get_logger()
        self.rule_name = type(self).__name__
        self._actions = Actions(action_str, self.rule_name, base_trial.source)
        self.report: dict[str, Any] = {
            "RuleTriggered": 0,
            "Violations": 0,
            "Details": {},
            "Datapoints": 0,
            "RuleParameters": "",
        }

    def set_required_tensors(self, step: int) -> None:
        """Asks in req_tensors for what the global step needs. Nothing, unless a subclass does."""

    @abstractmethod
    def invoke_at_step(self, step: int) -> bool:
        """Is the condition met at this global step?"""

    def invoke(self, step: int) -> None:
        """Judges one global step, and waits for it first.

        Raises:
            RuleEvaluationConditionMet: the condition is met; its actions were run.
            StepUnavailable, TensorUnavailable, TensorUnavailableForStep: it cannot be judged at this step.
            NoMoreData: the training has ended before this step.
        """
        self.base_trial.wait_for_steps([step])
        with no_refresh(self.trials):  # all of one judgement sees the same steps
            self.req_tensors.clear()
            self.set_required_tensors(step)
            self.req_tensors.fetch()
            is_met = self.invoke_at_step(step)
        if is_met:
            self._actions.invoke(f"at step {step}", step)
            raise RuleEvaluationConditionMet(self.rule_name, step)

    def end_actions(self) -> None:
        """For who has judged with the rule: sends what its actions could not send meanwhile."""
        self._actions.end()

    def __call__(self) -> rules.Rule:
        """The rule as one of trainwarden's, so that trainwarden.rules.run() takes it."""
        from .engine import EngineRule  # here, as who only judges with invoke_rule() needs no engine

        return EngineRule(self)
