"""Control: asks a running training to stop, or to save its state, and waits for its answer.

    import trainwarden

    answer = trainwarden.stop("runs/first", reason="the loss is flat")
    print(answer.already, answer.ended)

    print(trainwarden.save("runs/first").checkpoint)

A request is a file in the run's folder, which the training reads at the end of a step, on this machine or another that
shares the folder. It stays when the caller no longer waits for the answer.
"""

from __future__ import annotations

import os
from typing import Literal, Union

from . import _core
from ._core import SaveAnswer, StopAnswer
from .errors import opening
from .trial import Trial

__all__ = ["SaveAnswer", "StopAnswer", "save", "stop"]

Run = Union[Trial, str, "os.PathLike[str]"]


def stop(
    run: Run,
    *,
    reason: str = "",
    requested_by: str = "",
    key: str = "",
    if_status: str = "",
    wait: bool = True,
    timeout_s: float = 30.0,
    then: Literal["nothing", "term", "kill"] = "nothing",
    term_grace_s: float = 120.0,
) -> StopAnswer:
    """Asks the training to stop at the end of its step. Does nothing when it is stopping or has ended.

    Arguments:
        run: a trial, or the run's folder.
        reason: why, for everybody who reads the run.
        requested_by: who asks.
        key: names the request (a-z, 0-9, "-"): the same key sends one request, however often this is called.
        if_status: "InProgress": only a run with this status; else FailedPrecondition is raised.
        wait: for its answer and then its end, up to the timeout; False: returns once the request is written.
        timeout_s: how long to wait.
        then: when it has not answered in time: "nothing" (the request stays), "term" (SIGTERM to its processes on this
            machine), "kill" (SIGKILL after that).
        term_grace_s: the time between its answer and SIGTERM, and between SIGTERM and SIGKILL.

    Raises:
        FileNotFoundError: there is no run.
        TimeoutError: it has not answered, or not ended after SIGTERM, in time.
        RuntimeError: `if_status`, or a run that another program recorded.
        OSError: the run's folder cannot be written.
    """
    with opening():
        return _core.request_stop(
            _path(run), reason, requested_by, key, if_status, wait, timeout_s, then, term_grace_s
        )


def save(
    run: Run,
    *,
    reason: str = "",
    requested_by: str = "",
    key: str = "",
    wait: bool = True,
    timeout_s: float = 300.0,
) -> SaveAnswer:
    """Asks the training for a checkpoint, and for the steps that its black box holds. Arguments are those of stop().

    Raises:
        FileNotFoundError: there is no run.
        TimeoutError: they were not written in time; the request stays.
        RuntimeError: there will be no checkpoint. The message says why (a program offers to save with
            Hook.on_checkpoint) and where the black box was written, if it was.
        OSError: the run's folder cannot be written.
    """
    with opening():
        return _core.request_save(_path(run), reason, requested_by, key, wait, timeout_s)


def _path(run: Run) -> str:
    return str(run.path) if isinstance(run, Trial) else os.fspath(run)
