"""The status of a run and its rules."""

from __future__ import annotations

import json
import os
import re
from datetime import datetime, timezone
from typing import Any

from . import _core

__all__ = ["describe"]

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
