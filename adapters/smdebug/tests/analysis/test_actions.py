"""What follows when a rule of smdebug's fires."""

from __future__ import annotations

import atexit
import json
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

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


def test_without_a_gateway_a_text_message_is_not_sent_and_the_log_says_what_to_do(
    run_dir: Path, log: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("TRAINWARDEN_SMS_URL", raising=False)
    write_modes(run_dir)
    rule = Fires(create_trial(run_dir), '{"name": "sms", "endpoint": "+15550100"}')
    with pytest.raises(NoMoreData):
        invoke_rule(rule)
    assert "rule Fires fired at step 0; the sms to +15550100 is not sent" in log.text
    assert "set TRAINWARDEN_SMS_URL" in log.text


@pytest.fixture
def gateway(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A server that takes everything, and the file in which it keeps that."""
    record = tmp_path / "posts.jsonl"
    program = Path(__file__).resolve().parents[4] / "tests" / "servers" / "http_server.py"
    process = subprocess.Popen([sys.executable, program, "--record", record], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    port = process.stdout.readline().removeprefix("port ").strip()
    monkeypatch.setenv("TRAINWARDEN_SMS_URL", f"http://127.0.0.1:{port}/ok")
    monkeypatch.setenv("TRAINWARDEN_SMS_TOKEN", "hidden")
    yield record
    process.kill()
    process.wait()


def test_a_text_message_goes_through_the_gateway(
    run_dir: Path, gateway: Path, log: pytest.LogCaptureFixture
) -> None:
    write_modes(run_dir)
    invoke_rule(Fires(create_trial(run_dir), '{"name": "sms", "endpoint": "+15550100"}'), end_step=3)
    (post,) = [json.loads(line) for line in gateway.read_text().splitlines()]
    assert post["headers"]["authorization"] == "Bearer hidden"
    assert post["body"].startswith("To=%2B15550100&") and "Fires" in post["body"]
    assert "hidden" not in log.text


EMAIL = '{"name": "email", "endpoint": "Me@Example.com"}'


class MailServer:
    """A real one, on this machine, which keeps what it gets in a file."""

    def __init__(self, record: Path):
        program = Path(__file__).resolve().parents[4] / "tests" / "servers" / "smtp_server.py"
        self._record = record
        self._process = subprocess.Popen(
            [sys.executable, program, "--record", record], stdout=subprocess.PIPE, text=True
        )
        assert self._process.stdout is not None
        self.port = self._process.stdout.readline().removeprefix("port ").strip()

    def mails(self) -> list[dict[str, Any]]:
        text = self._record.read_text() if self._record.exists() else ""
        return [json.loads(line) for line in text.splitlines()]

    def stop(self) -> None:
        self._process.kill()
        self._process.wait()


@pytest.fixture
def mail_server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[MailServer]:
    pytest.importorskip("aiosmtpd")
    server = MailServer(tmp_path / "mails.jsonl")
    settings = {"HOST": "127.0.0.1", "PORT": server.port, "SECURITY": "none", "FROM": "warden@example.com"}
    for name, value in settings.items():
        monkeypatch.setenv(f"TRAINWARDEN_SMTP_{name}", value)
    yield server
    server.stop()


@pytest.mark.parametrize("under_the_engine", [False, True])
def test_an_email_is_sent_once_an_hour(run_dir: Path, mail_server: MailServer, under_the_engine: bool) -> None:
    write_modes(run_dir)
    rule = Fires(create_trial(run_dir), EMAIL)
    if under_the_engine:
        assert engine.run(rule).fired
    else:
        invoke_rule(rule, end_step=3)
    (mail,) = mail_server.mails()
    assert mail["to"] == ["Me@Example.com"] and mail["from"] == "warden@example.com"
    assert "Fires" in mail["message"]


def test_an_email_that_cannot_be_sent_waits(
    run_dir: Path, log: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("TRAINWARDEN_SMTP_HOST", raising=False)
    write_modes(run_dir)
    rule = Fires(create_trial(run_dir), EMAIL)
    invoke_rule(rule, end_step=1)
    assert "the email to Me@Example.com about rule Fires waits" in log.text and "host" in log.text
    (email,) = rule._actions._actions
    atexit.unregister(email.deliver)  # what it waits for will not come


def test_no_email_about_a_folder_of_smdebug(run_dir: Path, log: pytest.LogCaptureFixture) -> None:
    SmdebugFolder(run_dir).step(0)
    invoke_rule(Fires(create_trial(run_dir), EMAIL), end_step=1)
    assert "is not sent" in log.text and "was written by smdebug" in log.text


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
