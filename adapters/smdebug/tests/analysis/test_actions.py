"""What follows when a rule of smdebug's fires."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest
import trainwarden

from runs import write_modes
from smdebug.exceptions import NoMoreData, SMDebugValueError
from smdebug.rules import Rule, engine, invoke_rule
from smdebug.rules.action import Actions, MessageAction, StopTrainingAction
from smdebug.trials import create_trial
from smdebug_folder import SmdebugFolder

STOP = '{"name": "StopTraining", "training_job_prefix": "Mnist-"}'


class Fires(Rule):
    def invoke_at_step(self, step: int) -> bool:
        return True


def test_parsing_keeps_the_case_of_what_is_given() -> None:
    actions = Actions(f'[{STOP}, {{"NAME": "Email", "endpoint": "Me@Example.com"}}]', "Rule")._actions
    stop, email = actions
    assert isinstance(stop, StopTrainingAction) and stop.training_job_prefix == "Mnist-"
    assert isinstance(email, MessageAction) and (email.protocol, email.endpoint) == ("email", "Me@Example.com")
    assert Actions(None, "Rule")._actions == Actions("  ", "Rule")._actions == []


@pytest.mark.parametrize(
    "text",
    ['{"name": "webhook"}', '{"name": "stoptraining"}', '{"name": "sms"}', '["email"]', "3", '{"endpoint": "x"}'],
)
def test_what_is_not_known_is_left_out_with_a_word(text: str, log: pytest.LogCaptureFixture) -> None:
    assert Actions(text, "Rule")._actions == []
    assert "left out the action" in log.text and "stoptraining, sms, email" in log.text


def test_what_is_no_json_is_an_error() -> None:
    with pytest.raises(SMDebugValueError, match="expected JSON as the action string, found 'stoptraining'"):
        Actions("stoptraining", "Rule")


def test_a_message_is_not_sent_and_the_log_says_so(run_dir: Path, log: pytest.LogCaptureFixture) -> None:
    write_modes(run_dir)
    rule = Fires(create_trial(run_dir), '{"name": "sms", "endpoint": "+15550100"}')
    with pytest.raises(NoMoreData):
        invoke_rule(rule)
    assert "rule Fires fired at step 0; the sms to +15550100 is not sent" in log.text
    assert "needs the actions of trainwarden" in log.text


@pytest.mark.parametrize("under_the_engine", [False, True])
def test_a_training_is_stopped(run_dir: Path, under_the_engine: bool) -> None:
    stopped = threading.Event()

    def train() -> None:
        with trainwarden.Hook(run_dir) as hook:
            while not stopped.is_set():
                hook.save_scalar("loss", 1.0)
                if hook.step().stop_requested:
                    stopped.set()

    training = threading.Thread(target=train)
    training.start()
    try:
        rule = Fires(create_trial(run_dir), STOP)
        if under_the_engine:
            assert engine.run(rule).fired
        else:
            invoke_rule(rule, end_step=1)
        assert stopped.wait(60)
    finally:
        stopped.set()
        training.join(60)
    assert trainwarden.open(run_dir).state.value == "stopped"
    (request,) = (run_dir / "control").glob("stop-*.json")
    assert request.name == "stop-fires-0.json" and "Fires" in request.read_text()


def test_a_training_that_has_ended_is_not_asked(run_dir: Path, log: pytest.LogCaptureFixture) -> None:
    write_modes(run_dir)
    invoke_rule(Fires(create_trial(run_dir), STOP), end_step=3)
    assert "the training has ended already" in log.text and not list((run_dir / "control").glob("stop-*"))


def test_a_training_under_smdebug_cannot_be_asked(run_dir: Path, log: pytest.LogCaptureFixture) -> None:
    SmdebugFolder(run_dir).step(0)
    invoke_rule(Fires(create_trial(run_dir), STOP), end_step=1)
    assert "was written by smdebug and cannot be asked to stop" in log.text and not (run_dir / "control").exists()
