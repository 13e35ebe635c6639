"""What follows an event: handlers as programs, functions of AWS Lambda, and docs/guide/reacting.md with its examples."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import trainwarden

REPOSITORY = Path(__file__).resolve().parents[3]
EXAMPLE = REPOSITORY / "examples" / "stop_on_rule"
GUIDE = (REPOSITORY / "docs/guide/reacting.md").read_text()
RULES_FIRED, TRY_AGAIN = 3, 75


def lines_of(text: str) -> list[str]:
    return [line.strip() for line in text.splitlines() if line.strip()]


def contains(lines: list[str], part: list[str]) -> bool:
    return any(lines[index : index + len(part)] == part for index in range(len(lines) - len(part) + 1))


@pytest.mark.parametrize("kind", ["python", "toml"])
def test_each_snippet_is_in_an_example(kind: str) -> None:
    ending = {"python": "*.py", "toml": "*.toml"}[kind]
    files = [lines_of(path.read_text()) for path in sorted(EXAMPLE.glob(ending))]
    snippets = re.findall(rf"```{kind}\n(.*?)```", GUIDE, re.S)
    assert len(snippets) >= 2
    for snippet in snippets:
        assert any(contains(file, lines_of(snippet)) for file in files), f"in no example:\n{snippet}"


class Training:
    """One that goes on until it is asked to stop."""

    def __init__(self, run: Path):
        self.run = run
        self.stop_reason = ""
        self._hook = trainwarden.Hook(run)
        self._hook.save_scalar("loss", 1.0)
        self._hook.step()
        self._hook.flush()
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._train)
        self._thread.start()

    def _train(self) -> None:
        with self._hook as hook:
            while not self._ended.is_set():
                hook.save_scalar("loss", 1.0)
                step = hook.step()
                time.sleep(0.001)
                if step.stop_requested:
                    self.stop_reason = step.stop_reason
                    return

    def is_stopped(self) -> bool:
        self._thread.join(60)
        return bool(self.stop_reason)

    def end(self) -> None:
        self._ended.set()
        self._thread.join(60)


@pytest.fixture
def training(tmp_path: Path) -> Iterator[Training]:
    training = Training(tmp_path / "runs" / "ruined")
    yield training
    training.end()


def event_of(status: str, rule: str = "VanishingGradient", job_status: str = "InProgress") -> dict[str, Any]:
    """In EventBridge's envelope."""
    rules = [{"RuleConfigurationName": rule, "RuleEvaluationStatus": status}]
    detail = {"TrainingJobName": "ruined", "TrainingJobStatus": job_status, "SecondaryStatus": "Training"}
    return {"id": "1", "source": "aws.sagemaker", "detail": {**detail, "DebugRuleEvaluationStatuses": rules}}


def as_cloud_event(event: dict[str, Any]) -> dict[str, Any]:
    return {"specversion": "1.0", "id": event["id"], "data": event["detail"]}


# The handler.


def handle(event: dict[str, Any], folder: Path) -> tuple[int, list[str]]:
    """What the handler ends with, and the arguments that it gave to `trainwarden`."""
    program, said = folder / "bin" / "trainwarden", folder / "said"
    program.parent.mkdir(exist_ok=True)
    program.write_text(f'#!/bin/sh\nprintf "%s\\n" "$@" > {said}\nexit ${{ENDS_WITH:-0}}\n')
    program.chmod(0o755)
    environment = {**os.environ, "PATH": f"{program.parent}:{os.environ['PATH']}", "TRAINWARDEN_RUN_PATH": "/runs/ruined"}
    command = [sys.executable, str(EXAMPLE / "handler.py")]
    done = subprocess.run(command, input=json.dumps(event), env=environment, text=True, capture_output=True)
    assert not done.stderr, done.stderr
    return done.returncode, said.read_text().splitlines() if said.exists() else []


@pytest.mark.parametrize("convert", [as_cloud_event, lambda event: event], ids=["cloudevents", "eventbridge"])
def test_the_handler_stops_what_has_an_issue(convert: Any, tmp_path: Path) -> None:
    code, said = handle(convert(event_of("IssuesFound")), tmp_path)
    assert code == 0 and said == ["stop", "/runs/ruined", "--reason", "VanishingGradient has IssuesFound"]


@pytest.mark.parametrize(
    "event",
    [event_of("InProgress"), event_of("IssuesFound", "Overfit"), event_of("IssuesFound", job_status="Stopping")],
    ids=["no issue", "another rule", "stopping already"],
)
def test_the_handler_leaves_the_others_alone(event: dict[str, Any], tmp_path: Path) -> None:
    assert handle(event, tmp_path) == (0, [])


def test_the_handler_wants_to_be_told_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ENDS_WITH", "1")
    assert handle(event_of("IssuesFound"), tmp_path)[0] == TRY_AGAIN


# Functions of AWS Lambda.


def call(function: str, event: Any, run: Path, *options: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "TRAINWARDEN_RUN_PATH": str(run), "TRAINWARDEN_EVENT_KEY": "vanishinggradient-120"}
    command = [sys.executable, "-m", "trainwarden.lambda_handler", *options, function]
    text = event if isinstance(event, str) else json.dumps(event)
    return subprocess.run(command, input=text, env=environment, text=True, capture_output=True)


def function_in(folder: Path, body: str) -> str:
    path = folder / "functions.py"
    path.write_text("import boto3\n\n\ndef handler(event, context):\n" + body)
    return f"{path}:handler"


LAMBDA = f"{EXAMPLE / 'lambda_function.py'}:lambda_handler"


def test_a_function_of_lambda_stops_the_training(training: Training) -> None:
    done = call(LAMBDA, event_of("IssuesFound"), training.run)
    assert done.returncode == 0 and done.stdout == "null\n", done.stderr
    assert "VanishingGradient has IssuesFound: stopping ruined" in done.stderr
    assert training.is_stopped() and training.stop_reason == "lambda_function.py:lambda_handler asked for it"
    assert [path.name for path in (training.run / "control").glob("stop-*")] == ["stop-vanishinggradient-120.json"]
    # The same event once more, when the training has ended: nothing to complain of.
    assert call(LAMBDA, event_of("IssuesFound"), training.run).returncode == 0


def test_what_a_function_answers_is_printed(training: Training) -> None:
    done = call(LAMBDA, event_of("InProgress"), training.run)
    assert json.loads(done.stdout) == {"statusCode": 200, "body": '"Nothing to do"'}
    assert not list((training.run / "control").glob("stop-*"))


def test_a_function_can_look_at_the_job(training: Training, tmp_path: Path) -> None:
    body = """    from botocore.exceptions import ClientError
    client = boto3.Session().client("sagemaker", region_name="eu-central-1")
    job = client.describe_training_job(TrainingJobName="ruined")
    try:
        client.stop_training_job(TrainingJobName="another")
    except ClientError as error:
        code = error.response["Error"]["Code"]
    return [job["TrainingJobStatus"], code, context.aws_request_id, context.get_remaining_time_in_millis() > 0]
"""
    done = call(function_in(tmp_path, body), event_of("InProgress"), training.run)
    assert json.loads(done.stdout) == ["InProgress", "ValidationException", "1", True], done.stderr


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ("    raise RuntimeError('no luck')\n", "RuntimeError: no luck"),
        ("    boto3.client('sns')\n", 'the client "sagemaker", not "sns"; with --boto3 real'),
        ("    boto3.client('sagemaker').create_model()\n", "not create_model(); with --boto3 real"),
        ("    boto3.client('sagemaker').stop_training_job(TrainingJobName='x/../y')\n", "there is no run"),
    ],
)
def test_a_function_that_raises_is_told_again(body: str, words: str, training: Training, tmp_path: Path) -> None:
    done = call(function_in(tmp_path, body), event_of("IssuesFound"), training.run)
    assert done.returncode == TRY_AGAIN and words in done.stderr and not done.stdout


def test_the_real_boto3_is_left_alone(training: Training, tmp_path: Path) -> None:
    (tmp_path / "boto3.py").write_text("real = True\n")  # beside the function: found first
    function = function_in(tmp_path, "    return boto3.real\n")
    assert call(function, event_of("InProgress"), training.run, "--boto3", "real").stdout == "true\n"


@pytest.mark.parametrize(
    ("function", "event", "words"),
    [
        ("nowhere.py:handler", event_of("InProgress"), "there is no file nowhere.py"),
        ("nowhere.py", event_of("InProgress"), "expected FILE.py:FUNCTION"),
        (f"{EXAMPLE / 'lambda_function.py'}:handel", event_of("InProgress"), "has no function handel"),
        (LAMBDA, "not JSON", "expected an event as JSON on standard input"),
        (LAMBDA, as_cloud_event(event_of("InProgress")), 'ask for it with format = "eventbridge"'),
    ],
)
def test_what_cannot_be_run_is_given_up(function: str, event: Any, words: str, tmp_path: Path) -> None:
    done = call(function, event, tmp_path)
    assert done.returncode == 1 and words in done.stderr and "Traceback" not in done.stderr


def test_a_kept_function_answers_each_event_with_a_line(training: Training, tmp_path: Path) -> None:
    body = """    import os
    print("called for", os.environ["TRAINWARDEN_EVENT_KEY"])
    calls = globals().setdefault("seen", [])
    calls.append(event["detail"]["TrainingJobStatus"])
    if len(calls) == 2:
        raise RuntimeError("no luck")
    return os.getpid()
"""
    command = [sys.executable, "-m", "trainwarden.lambda_handler", function_in(tmp_path, body)]
    environment = {**os.environ, "TRAINWARDEN_RUN_PATH": str(training.run), "TRAINWARDEN_HANDLER_KEPT": "1"}
    asked = [
        {"event": event_of("InProgress"), "environment": {"TRAINWARDEN_EVENT_KEY": f"key-{number}"}}
        for number in range(3)
    ] + [{"event": {"no": "envelope"}, "environment": {}}]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment, text=True
    ) as handler:
        assert handler.stdin is not None and handler.stdout is not None and handler.stderr is not None
        answers = []
        for one in asked:  # each before the next is asked: it waits for no more than a line
            handler.stdin.write(json.dumps(one) + "\n")
            handler.stdin.flush()
            answers.append(json.loads(handler.stdout.readline()))
        handler.stdin.close()
        assert handler.wait() == 0
        words = handler.stderr.read()
    assert [answer["exit_code"] for answer in answers] == [0, TRY_AGAIN, 0, 1]
    assert answers[0]["output"] == f"called for key-0\n{handler.pid}\n", "what it prints and what it answers"
    assert answers[2]["output"] == f"called for key-2\n{handler.pid}\n", "the same process, with this event's environment"
    assert "no luck" in words and "EventBridge" in words


def test_a_kept_function_that_cannot_be_imported_ends_with_the_reason() -> None:
    environment = {**os.environ, "TRAINWARDEN_HANDLER_KEPT": "1"}
    command = [sys.executable, "-m", "trainwarden.lambda_handler", "nowhere.py:handler"]
    done = subprocess.run(command, input="", env=environment, text=True, capture_output=True)
    assert done.returncode == 1 and "there is no file nowhere.py" in done.stderr and not done.stdout


# The story.


# The function for Lambda stops a training for any rule, so that with a second one VanishingGradient may come too late.
@pytest.mark.parametrize(
    ("actions", "watching"),
    [("actions.toml", ["VanishingGradient", "LossNotDecreasing"]), ("lambda.toml", ["VanishingGradient"])],
)
def test_the_training_is_stopped(actions: str, watching: list[str], tmp_path: Path) -> None:
    pytest.importorskip("torch")
    if not Path("/usr/share/datasets/fashion-mnist").is_dir():
        pytest.skip("needs the data set Fashion-MNIST")
    shutil.copytree(EXAMPLE, tmp_path / "example")
    environment = {key: value for key, value in os.environ.items() if not key.startswith("TRAINWARDEN")}
    environment |= {"OMP_NUM_THREADS": "1", "PATH": f"{Path(sys.executable).parent}:{environment['PATH']}"}
    command = ["trainwarden", "run", "--name", "ruined", "--actions", actions]
    command += [argument for rule in watching for argument in ("--rule", rule)]
    command += ["--", "python3", "train.py", "--lr", "10", "--epochs", "1000"]
    done = subprocess.run(command, cwd=tmp_path / "example", env=environment, capture_output=True, text=True)
    assert done.returncode == RULES_FIRED, done.stdout + done.stderr
    run = tmp_path / "example" / "runs" / "ruined"
    job = trainwarden.describe(run)
    assert job["TrainingJobStatus"] == "Stopped"
    rules = {rule["RuleConfigurationName"]: rule for rule in trainwarden.rules.rule_job_summary(run)}
    assert rules["VanishingGradient"]["RuleEvaluationStatus"] == "IssuesFound"
    assert rules["VanishingGradient"]["StatusDetails"].startswith(
        "RuleEvaluationConditionMet: Evaluation of the rule VanishingGradient at step "
    )
