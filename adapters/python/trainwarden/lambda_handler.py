"""python -m trainwarden.lambda_handler FILE.py:FUNCTION: runs a function that was written for AWS Lambda on one event.

    trainwarden run --rule VanishingGradient --actions actions.toml -- python train.py --lr 10

with actions.toml

    [[on]]
    name = "stop-training"
    event = { source = ["aws.sagemaker"] }
    format = "eventbridge"
    do = "exec"
    command = ["python", "-m", "trainwarden.lambda_handler", "lambda_function.py:lambda_handler"]

The event is read on standard input, in EventBridge's envelope, and given to the function with a context. What the
function answers is written to standard output as JSON. `import boto3` gives it a module that has of the service
SageMaker what such functions use, stop_training_job() and describe_training_job(), and acts on the run that the event
is of; --boto3 real leaves it the real one.

The action `exec` keeps it (docs/reference/actions.md): the function is imported once, and called for each event, as AWS
Lambda does it with what it calls a warm start. With `keep = false` there is a process for each.

Exit code 0: the function returned, 75: it raised, and the event is to be given to it again, 1: there is no such
function, 2: wrong usage.
"""

from __future__ import annotations

import argparse
import contextlib
import importlib.util
import io
import json
import logging
import os
import sys
import traceback
import uuid
from collections.abc import Callable, Mapping
from types import ModuleType
from typing import Any

from .control import stop
from .describing import describe

_FINE, _FAILED, _USAGE, _TRY_AGAIN = 0, 1, 2, 75

Function = Callable[[dict[str, Any], "Context"], Any]


class _Refusal(Exception):
    """Why the function cannot be run; printed on standard error."""


def main(arguments: list[str] | None = None) -> int:
    """Returns the exit code. `arguments`: those of the command line."""
    options = _parser().parse_args(arguments)
    logging.basicConfig(level=logging.INFO, format="[%(levelname)s] %(message)s")
    kept = os.environ.get("TRAINWARDEN_HANDLER_KEPT") == "1"
    try:
        text = "" if kept else sys.stdin.read()
        if options.boto3 == "local":
            LocalBoto3(os.path.basename(options.function)).put_in_place()
        function = _function(options.function)
    except _Refusal as refusal:
        return _refuse(refusal)
    if kept:
        return _serve(function, options.function)
    return _call(function, options.function, text)


def _call(function: Function, place: str, text: str) -> int:
    """Calls the function with the event in `text`; what it answers is written to standard output."""
    try:
        event = _read_event(text)
    except _Refusal as refusal:
        return _refuse(refusal)
    try:
        answer = function(event, Context(place, event))
    except Exception:
        traceback.print_exc()
        return _TRY_AGAIN
    print(json.dumps(answer, default=str))
    return _FINE


def _serve(function: Function, place: str) -> int:
    """Calls the function for each line, {"event": ..., "environment": ...}, and answers with a line."""
    answers = sys.stdout
    for line in sys.stdin:
        asked = json.loads(line)
        os.environ.update(asked["environment"])
        words = io.StringIO()
        with contextlib.redirect_stdout(words):
            exit_code = _call(function, place, json.dumps(asked["event"]))
        print(json.dumps({"exit_code": exit_code, "output": words.getvalue()[-2000:]}), file=answers, flush=True)
    return _FINE


def _refuse(refusal: _Refusal) -> int:
    print(f"lambda_handler: error: {refusal}", file=sys.stderr)
    return _FAILED


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m trainwarden.lambda_handler", description="Runs a function of AWS Lambda on one event."
    )
    parser.add_argument("function", metavar="FILE.py:FUNCTION", help="as lambda_function.py:lambda_handler")
    parser.add_argument(
        "--boto3", choices=("local", "real"), default="local", help="what `import boto3` gives (default: local)"
    )
    return parser


def _read_event(text: str) -> dict[str, Any]:
    try:
        event = json.loads(text)
    except ValueError as error:
        raise _Refusal(f"expected an event as JSON on standard input: {error}") from None
    if isinstance(event, dict) and isinstance(event.get("detail"), dict):
        return event
    raise _Refusal('expected EventBridge\'s envelope on standard input; ask for it with format = "eventbridge"')


def _function(place: str) -> Function:
    path, colon, name = place.rpartition(":")
    if not colon or not path:
        raise _Refusal(f"expected FILE.py:FUNCTION, found {place!r}")
    if not os.path.exists(path):
        raise _Refusal(f"there is no file {path}")
    spec = importlib.util.spec_from_file_location("lambda_function", path)
    if spec is None or spec.loader is None:
        raise _Refusal(f"expected a file in Python, found {path}")
    module = importlib.util.module_from_spec(spec)
    sys.path.insert(0, os.path.dirname(os.path.abspath(path)))  # Lambda imports modules from the file's folder
    sys.modules["lambda_function"] = module
    try:
        spec.loader.exec_module(module)
    except Exception as error:
        traceback.print_exc()
        raise _Refusal(f"{path} cannot be imported: {error}") from error
    function = getattr(module, name, None)
    if not callable(function):
        raise _Refusal(f"{path} has no function {name}")
    found: Function = function
    return found


class Context:
    """The context that Lambda passes to a function, as far as it makes sense here."""

    function_version = "$LATEST"

    def __init__(self, place: str, event: Mapping[str, Any]):
        self.function_name = place.rpartition(":")[2]
        self.aws_request_id = str(event.get("id") or uuid.uuid4())

    def get_remaining_time_in_millis(self) -> int:
        """The action's own limit is what counts; this is Lambda's longest."""
        return 900_000


class ClientError(Exception):
    """As botocore's: `response["Error"]["Code"]` says what it is."""

    def __init__(self, code: str, message: str, operation: str):
        super().__init__(f"An error occurred ({code}) when calling the {operation} operation: {message}")
        self.response = {"Error": {"Code": code, "Message": message}}
        self.operation_name = operation


class _Exceptions:
    ClientError = ClientError
    ResourceNotFound = ClientError


class SageMaker:
    """The client of SageMaker: training jobs are runs."""

    exceptions = _Exceptions

    def __init__(self, asker: str):
        self._asker = asker

    def stop_training_job(self, TrainingJobName: str) -> dict[str, Any]:
        """Asks the run to stop. One that has stopped already, or was asked to, is left as it is.

        Raises:
            ClientError: there is no run of this name beside the one that the event is of.
        """
        run = _run_named(TrainingJobName, "StopTrainingJob")
        key = os.environ.get(_KEY, "")
        stop(run, reason=f"{self._asker} asked for it", requested_by=self._asker, key=key, wait=False)
        return {}

    def describe_training_job(self, TrainingJobName: str) -> dict[str, Any]:
        """As trainwarden.describe().

        Raises:
            ClientError: there is no run of this name beside the one that the event is of.
        """
        return describe(_run_named(TrainingJobName, "DescribeTrainingJob"))

    def __getattr__(self, name: str) -> Any:
        raise NotImplementedError(
            f"the local boto3 has stop_training_job() and describe_training_job(), not {name}(); "
            "with --boto3 real the function gets the real one"
        )


# What the action exec says about the event.
_RUN, _KEY = "TRAINWARDEN_RUN_PATH", "TRAINWARDEN_EVENT_KEY"


def _run_named(name: str, operation: str) -> str:
    """The folder of the run: the one of the event, or its neighbour."""
    run = os.environ.get(_RUN, "")
    folder = os.path.dirname(os.path.abspath(run)) if run else os.environ.get("TRAINWARDEN_RUNS", "runs")
    found = os.path.join(folder, name)
    if os.sep in name or not os.path.exists(os.path.join(found, "run.json")):
        raise ClientError("ValidationException", f"Requested resource not found: there is no run {found}", operation)
    return found


class LocalBoto3:
    """What `import boto3` gives: clients. Regions and credentials are of no use here."""

    def __init__(self, asker: str):
        self._asker = asker

    def client(self, service_name: str, *_: Any, **__: Any) -> SageMaker:
        if service_name == "sagemaker":
            return SageMaker(self._asker)
        raise NotImplementedError(
            f'the local boto3 has the client "sagemaker", not "{service_name}"; '
            "with --boto3 real the function gets the real one"
        )

    def session(self, *_: Any, **__: Any) -> LocalBoto3:
        """boto3.Session(): has clients, too."""
        return self

    def put_in_place(self) -> None:
        """Lets `import boto3` and `import botocore.exceptions` find this."""
        boto3, botocore = ModuleType("boto3"), ModuleType("botocore")
        exceptions = ModuleType("botocore.exceptions")
        vars(boto3).update(client=self.client, Session=self.session)
        vars(botocore).update(exceptions=exceptions)
        vars(exceptions).update(ClientError=ClientError)
        sys.modules.update({module.__name__: module for module in (boto3, botocore, exceptions)})


if __name__ == "__main__":
    sys.exit(main())
