"""The status of a run and its rules."""

from __future__ import annotations

import json
import os
import re
from datetime import datetime, timezone
from typing import Any
from urllib.parse import urlencode

from . import _core
from .errors import opening

__all__ = ["describe", "metrics_frame"]

_TIMES = frozenset(
    (
        "CreationTime",
        "EndTime",
        "LastModifiedTime",
        "StartTime",
        "Time",
        "Timestamp",
        "TrainingEndTime",
        "TrainingStartTime",
    )
)
# As it is written: nanoseconds, of which a datetime holds microseconds.
_TIME = re.compile(r"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)\.(\d{6})\d*Z")


def describe(run: str | os.PathLike[str]) -> dict[str, Any]:
    """The status of a run and its rules, in the form of SageMaker's describe_training_job().

    The dict has TrainingJobName, TrainingJobStatus ("InProgress", "Completed", "Failed", "Stopping", "Stopped"),
    SecondaryStatus, SecondaryStatusTransitions, FailureReason (of a run that failed), HyperParameters (its labels),
    FinalMetricDataList, DebugRuleEvaluationStatuses and more; docs/reference/describe.md has them all. Times are
    datetimes in UTC. Unknown fields are left out. Nothing is written.

    Raises:
        FileNotFoundError: there is no run.
    """
    description: dict[str, Any] = json.loads(_core.describe_json(os.fspath(run)), object_hook=_with_datetimes)
    return description


def _with_datetimes(fields: dict[str, Any]) -> dict[str, Any]:
    for name in _TIMES & fields.keys():
        found = _TIME.fullmatch(fields[name]) if isinstance(fields[name], str) else None
        if found is not None:
            moment = datetime.strptime(f"{found[1]}.{found[2]}", "%Y-%m-%dT%H:%M:%S.%f")
            fields[name] = moment.replace(tzinfo=timezone.utc)
    return fields


def metrics_frame(
    run: str | os.PathLike[str], *, period: float = 60, relative: str | None = "metric", full: bool = False
) -> dict[str, list[Any]]:
    """The metrics of a run's output, as the columns of SageMaker's TrainingJobAnalytics.dataframe().

        pandas.DataFrame(trainwarden.metrics_frame("runs/first"))

    The columns are timestamp, metric_name and value; with `full` also step, host and time. Values within `period`
    seconds are averaged; with 0 each value is a row. Timestamps are seconds since each metric's own first row, since the
    "job" began, or, with None, since 1970. Rows come metric by metric, in the order of the definitions.

    Raises:
        FileNotFoundError: there is no run.
        InvalidArgument (ValueError): a period below 0, or another word for `relative`.
    """
    with opening():
        answers = _core.Answers.open(os.fspath(run))
    question = urlencode({"period": period, "relative": relative or "none"})
    _, body = answers.ask(f"/runs/{answers.run_id}/metrics?{question}")
    rows = json.loads(body)["rows"]
    names = ["timestamp", "metric_name", "value", *(["step", "host", "time"] if full else [])]
    columns: dict[str, list[Any]] = {name: [row[name] for row in rows] for name in names}
    columns["value"] = [float(value) for value in columns["value"]]  # "NaN" and "Infinity" are texts in JSON
    return columns
