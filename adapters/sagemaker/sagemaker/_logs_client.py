"""LogsClient: what jobs print, as CloudWatch Logs has it: a job's output is the stream JOB/algo-1, and what a rank of
several prints JOB/algo-1-rank-0."""

from __future__ import annotations

import os
import re
from datetime import datetime
from typing import Any

from . import _program
from ._description import moment
from ._program import ProgramError
from .exceptions import ClientError, NotHere

_GROUP = "/aws/sagemaker/TrainingJobs"
_ENDING = "/algo-1"
_STREAM = re.compile(r"(.+)/algo-1(?:-rank-([0-9]{1,6}))?")
_MAX_EVENTS = 10_000


class LogsClient:
    """The jobs of TRAINWARDEN_JOBS. Lines have the time at which the log was last written."""

    def describe_log_streams(
        self, *, logGroupName: str, logStreamNamePrefix: str = "", limit: int = 50
    ) -> dict[str, Any]:
        """The logs of jobs, the newest job first; those of ranks when the prefix names their job.

        Raises:
            ClientError: another group.
        """
        _check_group(logGroupName, "DescribeLogStreams")
        rows = [row for row in _program.ask("job", "ls")["jobs"] if "unreadable" not in row]
        streams = [
            {"logStreamName": name, "creationTime": _milliseconds(moment(row["submitted"]))}
            for row in rows
            for name in _streams_of(row["name"], logStreamNamePrefix)
            if name.startswith(logStreamNamePrefix)
        ]
        return {"logStreams": streams[:limit]}

    def get_log_events(
        self,
        *,
        logGroupName: str,
        logStreamName: str,
        nextToken: str | None = None,
        limit: int = _MAX_EVENTS,
        startFromHead: bool = False,
    ) -> dict[str, Any]:
        """Lines from `nextToken` on; without one the last of them, or with `startFromHead` the first.

        Raises:
            ClientError: there is no such log, or no such token.
        """
        _check_group(logGroupName, "GetLogEvents")
        stream = _STREAM.fullmatch(logStreamName)
        if stream is None:
            expected = f"expected JOB{_ENDING} or JOB{_ENDING}-rank-0, found {logStreamName!r}"
            raise ClientError("ResourceNotFoundException", expected, "GetLogEvents")
        name, rank = stream.groups()
        try:
            about = _program.ask("job", "describe", "--", name)
            if rank is not None and about["ranks"] < 2:
                raise ClientError("ResourceNotFoundException", f"job {name} has one rank", "GetLogEvents")
            lines = _program.call("job", "logs", *(["--rank", rank] if rank else []), "--", name).splitlines()
        except ProgramError as error:
            raise ClientError("ResourceNotFoundException", error.message, "GetLogEvents") from error
        output = os.path.join(os.path.dirname(about["output"]), "ranks", f"{rank}.log") if rank else about["output"]
        begin = 0 if startFromHead else max(0, len(lines) - limit)
        if nextToken is not None:
            kind, _, number = nextToken.partition("/")
            if kind not in ("f", "b") or not number.isdecimal():
                raise ClientError("InvalidParameterException", f"nextToken: found {nextToken!r}", "GetLogEvents")
            begin = int(number)
        changed = int(os.stat(output).st_mtime * 1000) if os.path.exists(output) else 0
        events = [{"timestamp": changed, "message": line} for line in lines[begin : begin + limit]]
        end = begin + len(events)
        return {"events": events, "nextForwardToken": f"f/{end}", "nextBackwardToken": f"b/{max(0, begin - limit)}"}

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        raise NotHere(f"the client of logs has describe_log_streams and get_log_events, not {name}")


def _streams_of(job: str, prefix: str) -> list[str]:
    ranks = _program.ask("job", "describe", "--", job)["ranks"] if f"{prefix}/".startswith(f"{job}/") else 1
    return [job + _ENDING, *(f"{job}{_ENDING}-rank-{rank}" for rank in range(ranks if ranks > 1 else 0))]


def _milliseconds(time: datetime) -> int:
    return int(time.timestamp() * 1000)


def _check_group(group: str, operation: str) -> None:
    if group != _GROUP:
        raise ClientError("ResourceNotFoundException", f"expected the group {_GROUP}, found {group!r}", operation)
