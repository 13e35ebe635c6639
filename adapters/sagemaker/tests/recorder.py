"""Recorder: a client that takes requests, and says which files the program makes of them."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import sagemaker
from sagemaker import _program

_TIME = len("-2026-11-23-17-05-09-123")


class Recorder:
    def __init__(self) -> None:
        self.requests: list[dict[str, Any]] = []
        self.updates: list[dict[str, Any]] = []  # of the profiler's configuration

    def create_training_job(self, **request: Any) -> None:
        self.requests.append(request)

    def update_training_job(self, TrainingJobName: str, ProfilerConfig: dict[str, Any]) -> None:
        assert TrainingJobName == self.requests[-1]["TrainingJobName"]
        self.updates.append(ProfilerConfig)

    def files(self) -> dict[str, str]:
        """Those of the last request but the request itself; without what depends on time and place."""
        request = self.requests[-1]
        base = request["TrainingJobName"]
        return files_of({**request, "TrainingJobName": base[:-_TIME] or base})


def files_of(request: dict[str, Any]) -> dict[str, str]:
    """The files that the program makes of a request, but the request itself; without what depends on the time."""
    answer = _program.ask("submit", "--format", "sagemaker", "--dry-run", "-", text=json.dumps(request))
    texts: dict[str, str] = answer["files"]
    del texts["request.json"]
    return {name: text.replace(answer["folder"], "FOLDER") for name, text in texts.items()}


def outcome(make: Callable[..., Any], **given: Any) -> tuple[dict[str, str], dict[str, Any]]:
    """The files of the job that an estimator submits, and its request."""
    recorder = Recorder()
    session = sagemaker.Session(sagemaker_client=recorder)
    estimator = make(**{"entry_point": "train.py", **given}, sagemaker_session=session)
    estimator.fit({"train": "data"}, wait=False)
    return recorder.files(), recorder.requests[-1]
