"""Waiting for a job, and printing meanwhile what it prints and how it stands, as the SDK does."""

from __future__ import annotations

import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from typing import Any

from ._description import ENDED
from ._program import find_program
from ._say import say
from ._tree_report import write_reports
from .exceptions import UnexpectedStatusException

_POLL_SECONDS = 1.0
_LOG_TYPES = ("All", "None", "Training", "Rules")
_FRAME = "*" * 40


def log_types(logs: Any) -> tuple[str, ...]:
    """The argument `logs` of fit(): True, False, one of the words, or a list of them.

    Raises:
        ValueError: another word.
    """
    words = ("All",) if logs is True else () if logs in (None, False) else (logs,) if isinstance(logs, str) else logs
    unknown = [word for word in words if word not in _LOG_TYPES]
    if unknown:
        raise ValueError(f"logs: expected True, False or one of {', '.join(_LOG_TYPES)}, found {unknown[0]!r}")
    return ("Training", "Rules") if "All" in words else tuple(word for word in words if word != "None")


def follow(client: Any, job: str, logs: Any = "All", *, wait: bool = True, poll: float = _POLL_SECONDS) -> None:
    """Prints what the job prints, its transitions and its rules, and with `wait` waits for its end.

    Raises:
        UnexpectedStatusException: the job has failed, and was waited for.
    """
    types = log_types(logs)
    if not types:
        if wait:
            wait_for_end(client, job, poll)
        return
    reader = _LogReader(client, job, follow=wait) if "Training" in types else None
    try:
        description = _watch(client, job, types, poll if wait else None)
        if reader is not None:
            reader.finish()
    except BaseException:
        if reader is not None:
            reader.stop()
        raise
    if wait:
        print(f"Training seconds: {description.get('TrainingTimeInSeconds', 0)}")
        print(f"Billable seconds: {description.get('BillableTimeInSeconds', 0)}")
        write_reports(description)
        check_end(description)


def wait_for_end(client: Any, job: str, poll: float = _POLL_SECONDS) -> dict[str, Any]:
    """Prints transitions, and a dot for each look without one.

    Raises:
        UnexpectedStatusException: the job has failed.
    """
    seen = 0
    while True:
        description: dict[str, Any] = client.describe_training_job(TrainingJobName=job)
        news = description["SecondaryStatusTransitions"][seen:]
        print("".join("\n" + _line(transition) for transition in news) or ".", end="", flush=True)
        seen += len(news)
        if description["TrainingJobStatus"] in ENDED:
            print(flush=True)
            write_reports(description)
            check_end(description)
            return description
        time.sleep(poll)


def check_end(description: dict[str, Any]) -> None:
    """
    Raises:
        UnexpectedStatusException: the job has failed.
    """
    name, status = description["TrainingJobName"], description["TrainingJobStatus"]
    if status == "Stopped":
        say(f"training job {name} was stopped before its end ({description['SecondaryStatus']})")
    elif status != "Completed":
        raise UnexpectedStatusException(
            f"Error for Training job {name}: {status}. Reason: {description.get('FailureReason', 'none is known')}",
            ["Completed", "Stopped"],
            status,
        )


def _watch(client: Any, job: str, types: Sequence[str], poll: float | None) -> dict[str, Any]:
    """Prints transitions and rules until the job has ended; once when `poll` is None."""
    seen, rules = 0, ""
    while True:
        description: dict[str, Any] = client.describe_training_job(TrainingJobName=job)
        transitions = description["SecondaryStatusTransitions"]
        for transition in transitions[seen:]:
            print(_line(transition), flush=True)
        seen = len(transitions)
        standing = _rules_text(description) if "Rules" in types else ""
        if standing != rules:
            print(standing, flush=True)
            rules = standing
        if poll is None or description["TrainingJobStatus"] in ENDED:
            return description
        time.sleep(poll)


def _line(transition: dict[str, Any]) -> str:
    local = transition["StartTime"].astimezone()
    return f"{local:%Y-%m-%d %H:%M:%S} {transition['Status']} - {transition['StatusMessage']}"


def _rules_text(description: dict[str, Any]) -> str:
    statuses = description.get("DebugRuleEvaluationStatuses") or []
    if not statuses:
        return ""
    lines = [f"* {each['RuleConfigurationName']}: {each['RuleEvaluationStatus']}" for each in statuses]
    return "\n".join(["", " Debugger Rule Status ".center(40, "*"), *lines, _FRAME])


class _LogReader:
    """Prints what the job's program prints. Only the reader ends with us, never the job."""

    def __init__(self, client: Any, job: str, follow: bool):
        command = [find_program(), "job", "logs", job, "--jobs", str(client.jobs), *(["--follow"] if follow else [])]
        self._process = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            errors="replace",
        )
        self._thread = threading.Thread(target=self._print, daemon=True)
        self._thread.start()

    def _print(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            sys.stdout.write(line)
            sys.stdout.flush()

    def finish(self) -> None:
        """Waits until all is printed."""
        self._thread.join()
        assert self._process.stderr is not None
        words = self._process.stderr.read()
        self._process.wait()
        if "trainwarden: error: " in words:  # else it says how the job has ended, as we do
            say(f"what the job prints cannot be read: {words.strip()}")

    def stop(self) -> None:
        self._process.terminate()
        self.finish()
