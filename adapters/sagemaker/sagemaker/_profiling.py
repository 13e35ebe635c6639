"""How a job that runs is profiled from now on: its profilerconfig.json, which the program looks at each second."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

from . import _program

_FILE = "profilerconfig.json"


def change(jobs: Path, job: str, wanted: dict[str, Any]) -> None:
    """Puts the fields of `wanted`, as ProfilerConfig of SageMaker's API has them, into the job's file; None takes one away.

    Raises:
        ProgramError: there is no such job.
        ValueError: it has ended, runs on another machine, or has no such file.
    """
    shown = _program.ask("job", "describe", job, "--jobs", str(jobs))
    if shown["status"] != "InProgress":
        raise ValueError(f"{job} is profiled no more: expected a job that runs, found it {shown['status']}")
    if shown["backend"] == "ssh":
        where = shown["host"]
        raise ValueError(f"{job}: expected a job of this machine or a cluster, found one on {where}: its file is there")
    path = Path(shown["spec_file"]).parent / _FILE
    if not path.is_file():
        raise ValueError(f"{job}: expected {path}, found nothing: only a job that an estimator submitted can be changed")
    config = json.loads(path.read_text())
    config.update(wanted)
    replace(path, json.dumps({name: value for name, value in config.items() if value is not None}, indent=2) + "\n")


def replace(path: Path, text: str) -> None:
    """Whole or not at all: the program may read it meanwhile."""
    beside = path.with_name(f".{path.name}.{os.getpid()}")
    beside.write_text(text)
    os.replace(beside, path)
