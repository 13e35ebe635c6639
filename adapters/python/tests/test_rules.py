"""Rules in Python: judged by the same engine as on the command line."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import trainwarden as tw
from trainwarden import rules
from trainwarden.rules import Evidence, Outcome, RuleState, Severity, StepWindow, Verdict


@pytest.fixture
def finished(run_dir: Path) -> Path:
    with tw.Hook(run_dir) as hook:
        hook.set_mode("train")
        for step in range(6):
            hook.save_scalar("loss", float(step))
            hook.step()
    return run_dir


class Above(rules.Rule):
    """Fires while the loss is above a limit."""

    def __init__(self, limit: float):
        self.limit = limit
        self.seen: list[int] = []

    @property
    def parameters(self) -> dict[str, str]:
        return {"limit": str(self.limit)}

    def evaluate(self, window: StepWindow) -> Verdict:
        self.seen.append(window.global_step)
        loss = window.scalar("loss")
        if loss <= self.limit:
            return Verdict.ok()
        evidence = Evidence("loss", "value", loss, self.limit, window.global_step)
        return Verdict.fired(f"the loss is {loss}", advice="stop", evidence=[evidence], severity=Severity.ERROR)


@rules.rule
def broken(window: StepWindow, at: int = 2) -> bool:
    if window.global_step == at:
        raise ZeroDivisionError("by my own hand")
    return True


def test_a_rule_as_a_class(finished: Path) -> None:
    rule = Above(limit=3)
    report = rules.run(finished, rule)
    assert rule.seen == [0, 1, 2, 3, 4]  # it is judged no more once it has fired
    (status,) = report.statuses
    assert (status.rule_id, status.status) == ("Above", RuleState.ISSUES_FOUND)
    assert status.outcomes[Outcome.OK] == 4 and status.outcomes[Outcome.FIRED] == 1
    (told,) = report.verdicts
    assert (told.global_step, told.mode, told.mode_step) == (4, tw.Mode.TRAIN, 4)
    assert told.verdict == Verdict(
        Outcome.FIRED, Severity.ERROR, "the loss is 4.0", "stop", (Evidence("loss", "value", 4.0, 3.0, 4),)
    )
    assert report.fired and report.journal == "watch-0"


def test_keep_going_folds_repeats(finished: Path) -> None:
    rule = Above(limit=1)
    report = rules.run(finished, [rule], keep_going=True)
    assert rule.seen == list(range(6)) and len(report.verdicts) == 1
    assert report.statuses[0].outcomes[Outcome.FIRED] == 4 and report.run_ended


def test_a_rule_that_raises_is_parked_and_the_others_go_on(finished: Path) -> None:
    report = rules.run(finished, [broken(at=1), Above(limit=3), broken])
    first, above, second = report.statuses
    assert first.rule_id == "broken" and first.status is RuleState.ERROR
    assert "ZeroDivisionError: by my own hand (test_rules.py, line " in first.details
    assert above.status is RuleState.ISSUES_FOUND
    assert second.rule_id == "broken-2" and second.outcomes[Outcome.OK] == 2


def test_what_is_not_there_is_not_applicable(finished: Path) -> None:
    @rules.rule
    def of_a_tensor(window: StepWindow) -> Verdict:
        window.value("weight")
        return Verdict.ok()

    (status,) = rules.run(finished, of_a_tensor).statuses
    assert status.status is RuleState.NOT_APPLICABLE and 'no tensor "weight"' in status.details
    assert status.outcomes[Outcome.NOT_APPLICABLE] == 6


@pytest.mark.parametrize(
    ("answer", "state"),
    [
        (True, RuleState.NO_ISSUES_FOUND),
        (Verdict.insufficient_data("too few"), RuleState.NOT_APPLICABLE),
        (Verdict.error("no"), RuleState.ERROR),
        (False, RuleState.ISSUES_FOUND),
        (np.bool_(True), RuleState.NO_ISSUES_FOUND),
        (1, RuleState.ERROR),
        (None, RuleState.ERROR),
    ],
)
def test_answers(finished: Path, answer: rules.Answer, state: RuleState) -> None:
    @rules.rule
    def answers(window: StepWindow) -> rules.Answer:
        return answer

    (status,) = rules.run(finished, answers).statuses
    assert status.status is state
    assert answer is not False or status.details == "fired at step 0 (train 0): answers does not hold"


def test_the_window(finished: Path) -> None:
    @rules.rule
    def looks(window: StepWindow) -> bool:
        assert (window.mode, window.mode_step) == (tw.Mode.TRAIN, window.global_step)
        assert window.tensor_names() == ["loss"] and window.tensor_names("x") == []
        assert window.statistics("loss").max == window.scalar("loss")
        before = max(window.global_step - 1, 0)
        return window.trial.scalar("loss", before) == before

    assert rules.run(finished, looks).statuses[0].status is RuleState.NO_ISSUES_FOUND


def test_built_in_rules(finished: Path) -> None:
    assert "ExplodingTensor" in [rule.name for rule in rules.available()]
    exploding = rules.available()[0]
    assert exploding.summary and exploding.parameters[0].name == "collection_names"
    report = rules.run(tw.open(finished), ["exploding_tensor:only_nan=true", Above(limit=9)])
    assert [status.status for status in report.statuses] == [RuleState.NO_ISSUES_FOUND] * 2
    with pytest.raises(ValueError, match='did you mean "ExplodingTensor"'):
        rules.run(finished, "ExplodingTensr")
    with pytest.raises(ValueError, match="has no parameter"):
        rules.run(finished, "ExplodingTensor:bogus=1")
    with pytest.raises(TypeError, match="expected a Rule"):
        rules.run(finished, [3])  # type: ignore[list-item]
    with pytest.raises(ValueError, match='"report" or "stop"'):
        rules.run(finished, Above(1), on_fire="explode")
    with pytest.raises(FileNotFoundError):
        rules.run(finished / "none", Above(1))
    with pytest.raises(TypeError, match="bogus"):
        broken(bogus=1)


def test_the_journal_is_written_when_it_is_wanted(finished: Path) -> None:
    report = rules.run(finished, Above(limit=3), write_journal=False)
    assert report.journal == "" and not (finished / "journal" / "watch-0").exists()
    rules.run(finished, Above(limit=3))
    written = b"".join(file.read_bytes() for file in (finished / "journal" / "watch-0").glob("*.tw"))
    assert b"the loss is 4.0" in written and b'"limit":"3"' in written.replace(b" ", b"")


def test_a_live_run_is_followed_to_its_end(run_dir: Path) -> None:
    fired = threading.Event()
    hook = tw.Hook(run_dir)
    hook.save_scalar("loss", 0.0)
    hook.step()
    hook.flush()
    reports: list[rules.Report] = []
    judge = threading.Thread(
        target=lambda: reports.append(
            rules.run(run_dir, Above(limit=2), keep_going=True, on_verdict=lambda verdict: fired.set())
        )
    )
    judge.start()
    for step in range(1, 5):
        hook.save_scalar("loss", float(step))
        hook.step()
    assert fired.wait(60)  # while the run goes on
    hook.close()
    judge.join(60)
    assert reports[0].run_ended and reports[0].last_judged_step == 4


def test_not_following_judges_what_is_there(run_dir: Path) -> None:
    with tw.Hook(run_dir) as hook:
        hook.save_scalar("loss", 0.0)
        hook.step()
        hook.flush()
        report = rules.run(run_dir, Above(limit=2), follow=False)
        assert not report.run_ended and report.statuses[0].status is RuleState.STOPPED


def raising(error: BaseException) -> Callable[..., rules.Rule]:
    @rules.rule
    def raises(window: StepWindow) -> bool:
        raise error

    return raises


def test_ctrl_c_in_a_rule_ends_the_judging(finished: Path) -> None:
    with pytest.raises(KeyboardInterrupt):
        rules.run(finished, raising(KeyboardInterrupt()))


def test_what_a_callback_raises_ends_the_judging(finished: Path) -> None:
    with pytest.raises(RuntimeError, match="enough"):
        rules.run(finished, Above(limit=1), on_verdict=lambda verdict: (_ for _ in ()).throw(RuntimeError("enough")))


def test_the_summary_speaks_as_the_service_did(finished: Path) -> None:
    assert rules.rule_job_summary(finished) == []
    rules.run(finished, [Above(2.5), "ExplodingTensor"])
    above, exploding = rules.rule_job_summary(finished)
    assert above["RuleConfigurationName"] == "Above"
    assert above["RuleEvaluationStatus"] == "IssuesFound"
    assert above["StatusDetails"].startswith(
        "RuleEvaluationConditionMet: Evaluation of the rule Above at step 3 resulted in the condition being met\n"
    )
    assert abs(above["LastModifiedTime"].timestamp() - time.time()) < 600
    assert above["RuleEvaluationJobArn"][-8:] != exploding["RuleEvaluationJobArn"][-8:]
    assert exploding["RuleEvaluationStatus"] == "NoIssuesFound"


def test_a_summary_of_nothing_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        rules.rule_job_summary(tmp_path / "nowhere")


def test_confidence_and_notes_reach_the_report(finished: Path) -> None:
    @rules.rule
    def unsure(window: StepWindow) -> Verdict:
        return Verdict.fired("perhaps", severity=Severity.INFO, confidence=0.25)

    report = rules.run(finished, unsure())
    assert report.verdicts[0].verdict.confidence == 0.25
    assert not report.fired, "a note is no issue"
    assert report.statuses[0].status is RuleState.NO_ISSUES_FOUND
