"""Recorder: a client that takes requests, and writes the files that the program would be given."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import sagemaker
from sagemaker._job_files import write_files

_TIME = len("-2026-11-23-17-05-09-123")


class Recorder:
    def __init__(self, folder: Path):
        self.folder = folder
        self.requests: list[dict[str, Any]] = []

    def create_training_job(self, **request: Any) -> None:
        self.requests.append(request)

    def files(self) -> dict[str, str]:
        """Those of the last request but the request itself; without what depends on time and place."""
        request = self.requests[-1]
        folder = self.folder / str(len(list(self.folder.iterdir())) if self.folder.exists() else 0)
        folder.mkdir(parents=True)
        base = request["TrainingJobName"]
        write_files(folder, {**request, "TrainingJobName": base[:-_TIME] or base}, lambda message: None)
        texts = {path.name: path.read_text() for path in folder.iterdir() if path.is_file()}
        del texts["request.json"]
        return {name: text.replace(str(folder), "FOLDER") for name, text in texts.items()}


def outcome(folder: Path, make: Callable[..., Any], **given: Any) -> tuple[dict[str, str], dict[str, Any]]:
    """The files of the job that an estimator submits, and its request."""
    recorder = Recorder(folder)
    session = sagemaker.Session(sagemaker_client=recorder)
    estimator = make(**{"entry_point": "train.py", **given}, sagemaker_session=session)
    estimator.fit({"train": "data"}, wait=False)
    return recorder.files(), recorder.requests[-1]
