"""The files of a report: a page and its numbers, which replace those of an earlier report and nothing else."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any, NamedTuple, Optional, Union

from .._places import is_in_bucket
from ..errors import AlreadyExists, InvalidArgument
from ..trial import Trial
from ..trial import open as open_trial
from .numbers import numbers_of
from .page import MARK, page_of

PAGE, NUMBERS = "xgboost_report.html", "xgboost_report.json"  # the first as SageMaker calls its own
FOLDER = "reports"  # of a run
_WRITTEN_BY = "trainwarden_tree_report"

RunLike = Union[str, "os.PathLike[str]", Trial]


class ReportFiles(NamedTuple):
    page: Path
    numbers: Path
    document: dict[str, Any]


def write_report(run: RunLike, folder: Optional[Union[str, os.PathLike[str]]] = None) -> ReportFiles:
    """Writes the report of a run, as far as it has come, to a folder that is made where there is none.

    Arguments:
        run: a folder, or a trial.
        folder: by default the folder "reports" in the run's own.

    Raises:
        FileNotFoundError (PathNotFound): there is no such run.
        RuntimeError (FailedPrecondition): it holds nothing that boosted trees leave.
        ValueError (InvalidArgument): the run lies in a bucket, and no folder is given.
        FileExistsError (AlreadyExists): a file of that name is there, and is no report of ours.
        OSError: the folder cannot be written.
    """
    trial = run if isinstance(run, Trial) else open_trial(run)
    if folder is None and is_in_bucket(trial.path):
        raise InvalidArgument(f"{trial.path} lies in a bucket: expected a folder on this machine for the report")
    document = numbers_of(trial)
    place = Path(trial.path) / FOLDER if folder is None else Path(folder)
    place.mkdir(parents=True, exist_ok=True)
    _replace(place / NUMBERS, json.dumps({_WRITTEN_BY: document}, indent=1, allow_nan=False) + "\n", _WRITTEN_BY)
    _replace(place / PAGE, page_of(document), MARK)
    return ReportFiles(place / PAGE, place / NUMBERS, document)


def _replace(file: Path, text: str, mark: str) -> None:
    """At once: who reads it has the old one or the new one."""
    if os.path.lexists(file) and (file.is_symlink() or not file.is_file() or mark not in _beginning(file)):
        raise AlreadyExists(
            f"{file} is there and is no report that was written here: remove it, or choose another folder"
        )
    fresh = file.with_name(f".{file.name}-{os.getpid()}")
    try:
        fresh.write_text(text, encoding="utf-8")
        os.replace(fresh, file)
    finally:
        fresh.unlink(missing_ok=True)


def _beginning(file: Path) -> str:
    with open(file, encoding="utf-8", errors="replace") as opened:
        return opened.read(1000)
