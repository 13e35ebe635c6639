"""Custom rules: by invoke_rule() and under the engine, on recorded and on live runs."""

from __future__ import annotations

import threading
from pathlib import Path

import numpy as np
import pytest
import trainwarden
from trainwarden import rules
from trainwarden.rules import Outcome, RuleState

from custom_rules import CustomGradientRule, Raises, SumsAreSmall, WeightsDiffer
from runs import weight_at, write_modes
from smdebug.exceptions import (
    NoMoreData,
    RuleEvaluationConditionMet,
    SMDebugTypeError,
    StepUnavailable,
    TensorUnavailable,
)
from smdebug.rules import RequiredTensors, Rule, engine, invoke_rule
from smdebug.trials import Trial, create_trial
from smdebug_folder import SmdebugFolder


@pytest.fixture
def trial(run_dir: Path) -> Trial:
    write_modes(run_dir)
    return create_trial(run_dir)


class Steps(Rule):
    """Fires at some steps, and remembers what it judged."""

    def __init__(self, base_trial: Trial, firing: tuple[int, ...] = (), last: int | None = None, action_str: str = ""):
        super().__init__(base_trial, action_str)
        self.firing, self.last = firing, last
        self.judged: list[int] = []

    def invoke_at_step(self, step: int) -> bool:
        assert not self.base_trial.dynamic_refresh
        self.judged.append(step)
        if step == self.last:
            raise RuleEvaluationConditionMet(self.rule_name, step, end_of_rule=True)
        return step in self.firing


def test_what_a_rule_has(trial: Trial) -> None:
    rule = Steps(trial)
    assert (rule.base_trial, rule.other_trials, rule.trials, rule.rule_name) == (trial, None, [trial], "Steps")
    assert isinstance(rule.req_tensors, RequiredTensors)
    assert rule.report == {"RuleTriggered": 0, "Violations": 0, "Details": {}, "Datapoints": 0, "RuleParameters": ""}
    with pytest.raises(SMDebugTypeError, match="other_trials="):
        Raises(trial, [trial])  # type: ignore[arg-type]


def test_invoke_rule_judges_to_the_end(trial: Trial) -> None:
    rule = Steps(trial, firing=(1, 3))
    with pytest.raises(NoMoreData) as ended:
        invoke_rule(rule)
    assert rule.judged == [0, 1, 2, 3, 4, 5] and ended.value.step == 6 and ended.value.last_step == 5
    assert trial.dynamic_refresh


def test_invoke_rule_between_steps(trial: Trial) -> None:
    rule = Steps(trial)
    invoke_rule(rule, start_step=2, end_step=5)
    assert rule.judged == [2, 3, 4]
    invoke_rule(rule, None, 0)
    assert rule.judged == [2, 3, 4]


def test_invoke_rule_lets_out_what_it_is_asked_to(trial: Trial) -> None:
    with pytest.raises(RuleEvaluationConditionMet) as met:
        invoke_rule(Steps(trial, firing=(3,)), raise_eval_cond=True)
    assert (met.value.rule_name, met.value.step) == ("Steps", 3)
    rule = Steps(trial, last=2)
    invoke_rule(rule)
    assert rule.judged == [0, 1, 2]
    with pytest.raises(ZeroDivisionError, match="by its own hand"):
        invoke_rule(Raises(trial))


def test_invoke_rule_skips_what_was_not_saved(run_dir: Path) -> None:
    """A million steps of which three were saved: no time for the others."""
    folder = SmdebugFolder(run_dir)
    for step in (5, 500_000, 1_000_000):
        folder.step(step)
    folder.end()
    rule = Steps(create_trial(run_dir))
    with pytest.raises(NoMoreData):
        invoke_rule(rule)
    assert rule.judged == [5, 500_000, 1_000_000]


def test_the_sample_of_the_documentation(trial: Trial) -> None:
    """Mean of |-step + 0..5|: 2.5, 5/3 at 1, 1.5 at 3; nothing at 2."""
    judged = CustomGradientRule(trial, threshold="1.6")
    with pytest.raises(RuleEvaluationConditionMet) as met:
        invoke_rule(judged, raise_eval_cond=True)
    assert met.value.step == 3
    assert trial.tensor("gradient/weight").reduction_value(3, "mean", abs=True) == pytest.approx(1.5)


def test_required_tensors(trial: Trial) -> None:
    rule = SumsAreSmall(trial, limit="40")
    with pytest.raises(RuleEvaluationConditionMet) as met:
        invoke_rule(rule, raise_eval_cond=True)  # sums 15, 27, 39: 15, 15, 42
    assert met.value.step == 2 and rule.judged == [0, 1, 2] and rule.report["Datapoints"] == 3
    required = RequiredTensors(trial, None)
    required.add("weight", [0])
    required.add("weight", [2])
    assert list(required.get_names()) == ["weight"] and required.get_tensor_steps("weight") == [0, 2]
    assert [tensor.name for tensor in required.get()] == ["weight"]
    required.clear()
    assert not required.get_names()
    with pytest.raises(TensorUnavailable):
        required.add("no such tensor", [0])
    required.add("weight", [1])
    with pytest.raises(Exception, match="steps that have it: 0, 2, 4"):
        required.fetch()


def test_two_trials(trial: Trial, tmp_path: Path) -> None:
    with trainwarden.Hook(tmp_path / "other", include=["w"], save=1) as hook:
        for step in range(6):
            hook.save_tensor("weight", weight_at(step if step < 4 else 100))
            hook.step()
    other = create_trial(tmp_path / "other")
    with pytest.raises(RuleEvaluationConditionMet) as met:
        invoke_rule(WeightsDiffer(trial, [other]), raise_eval_cond=True)
    assert met.value.step == 4


# Under the engine.


def test_the_engine_takes_a_rule_as_it_is(trial: Trial) -> None:
    rule = Steps(trial, firing=(3,))
    report = rules.run(trial.path, rule)
    (status,) = report.statuses
    assert (status.rule_id, status.status) == ("Steps", RuleState.ISSUES_FOUND)
    assert status.details == "fired at step 3 (train 2): its condition is met"
    assert rule.judged == [0, 1, 2, 3] and report.journal == "watch-0"


def test_the_engine_takes_several(trial: Trial) -> None:
    small = SumsAreSmall(trial, limit="1e9")
    report = rules.run(trial.path, [CustomGradientRule(trial, 1.6), Raises(trial), small, "ExplodingTensor"])
    sample, raising, sums, exploding = report.statuses
    assert sample.status is RuleState.ISSUES_FOUND and "step 3" in sample.details
    assert sample.outcomes[Outcome.NOT_APPLICABLE] == 1  # step 2 has no gradient
    assert raising.status is RuleState.ERROR
    assert "ZeroDivisionError: by its own hand (custom_rules.py, line " in raising.details
    assert sums.rule_id == "SumsAreSmall" and sums.status is RuleState.NO_ISSUES_FOUND
    assert small.name == "a name of its own" and small.judged == [0, 1, 2, 3, 4, 5]
    assert exploding.status is RuleState.NO_ISSUES_FOUND


def test_the_engine_between_steps(trial: Trial) -> None:
    rule = Steps(trial, firing=(1, 4))
    report = engine.run(rule, start_step=2, end_step=5, keep_going=True)
    assert rule.judged == [2, 3, 4] and report.statuses[0].outcomes[Outcome.FIRED] == 1


def test_a_rule_that_has_ended_is_asked_no_more(trial: Trial) -> None:
    rule = Steps(trial, last=2)
    assert engine.run(rule, keep_going=True).fired and rule.judged == [0, 1, 2]


def test_a_rule_of_another_run_is_an_error(trial: Trial, tmp_path: Path) -> None:
    write_modes(tmp_path / "other")
    (status,) = rules.run(tmp_path / "other", Steps(trial)).statuses
    assert status.status is RuleState.ERROR and "the base trial of Steps is" in status.details


def test_a_recorded_run_of_smdebug_under_the_engine(shared_trials: Path) -> None:
    trial = create_trial(shared_trials / "cnn_wgl_every_step")
    rule = CustomGradientRule(trial, threshold="1e-12")
    report = engine.run(rule)
    assert report.run_ended and report.last_judged_step == 5 and report.journal == ""
    fires = CustomGradientRule(trial, threshold="1e9")
    assert engine.run(fires).statuses[0].details.startswith("fired at step 0")


def test_a_live_run_is_judged_while_it_is_written(run_dir: Path) -> None:
    hook = trainwarden.Hook(run_dir, include=["weight"], save=1)
    judged = threading.Event()

    class SeesThree(Steps):
        def invoke_at_step(self, step: int) -> bool:
            super().invoke_at_step(step)
            judged.set()
            return bool(self.base_trial.tensor("weight").value(step).max() >= 8)

    def save(step: int) -> None:
        hook.save_tensor("weight", weight_at(step))
        hook.step()

    save(0)
    hook.flush()
    rule = SeesThree(create_trial(run_dir))
    reports: list[rules.Report] = []
    judge = threading.Thread(target=lambda: reports.append(engine.run(rule)))
    judge.start()
    assert judged.wait(60)
    for step in range(1, 5):
        save(step)
    hook.close()
    judge.join(60)
    assert reports[0].statuses[0].details.startswith("fired at step 3") and rule.judged == [0, 1, 2, 3]


def test_invoke_rule_waits_for_a_live_run(run_dir: Path) -> None:
    hook = trainwarden.Hook(run_dir, include=["weight"], save=5)
    for step in range(6):
        hook.save_tensor("weight", weight_at(step))
        hook.step()
    hook.flush()
    rule = Steps(create_trial(run_dir))
    ended: list[NoMoreData] = []

    def judge() -> None:
        try:
            invoke_rule(rule)
        except NoMoreData as error:
            ended.append(error)

    judging = threading.Thread(target=judge)
    judging.start()
    for step in range(6, 11):
        hook.save_tensor("weight", weight_at(step))
        hook.step()
    hook.close()
    judging.join(60)
    assert rule.judged == [0, 5, 10] and ended[0].last_step == 10


def test_steps_that_cannot_be_judged_do_not_end_it(trial: Trial) -> None:
    class Misses(Steps):
        def invoke_at_step(self, step: int) -> bool:
            super().invoke_at_step(step)
            if step == 1:
                raise StepUnavailable(step, trial.mode(step) or trial.modes()[0])
            self.base_trial.tensor("weight" if step != 2 else "no such tensor").value(step)
            return False

    rule = Misses(trial)
    with pytest.raises(NoMoreData):
        invoke_rule(rule)
    assert rule.judged == [0, 1, 2, 3, 4, 5]
    assert np.isfinite(trial.tensor("weight").value(4)).all()
