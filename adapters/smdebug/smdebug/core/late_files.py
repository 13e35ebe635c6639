"""read_patiently(): reads what is listed and not there yet, as on storage that is being copied."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TYPE_CHECKING, TypeVar

from trainwarden.errors import OutOfRange, Unavailable

from .logger import get_logger
from .utils import number_in

if TYPE_CHECKING:
    from ..trials.trial import Trial

RETRY_VARIABLE = "SMDEBUG_MISSING_EVENT_FILE_RETRY_LIMIT"
Read = TypeVar("Read")

_SECONDS_PER_RETRY = 2
_POLL_INTERVAL_S = 0.1


def read_patiently(trial: Trial, read: Callable[[], Read]) -> Read:
    """What read() gives, as soon as it is there.

    Waits for 2 s times SMDEBUG_MISSING_EVENT_FILE_RETRY_LIMIT, by default 100; OutOfRange after that. What will never
    come, because the training has ended or has written a later file, is not waited for: the trial says OutOfRange then.
    """
    try:
        return read()
    except Unavailable as late:
        return _wait_and_read(trial, read, late)


def _wait_and_read(trial: Trial, read: Callable[[], Read], late: Unavailable) -> Read:
    deadline_s = time.monotonic() + _SECONDS_PER_RETRY * number_in(RETRY_VARIABLE, 100)
    while time.monotonic() < deadline_s:
        get_logger().warning("%s; waiting for it", late)
        time.sleep(_POLL_INTERVAL_S)
        trial.refresh_data()
        try:
            return read()
        except Unavailable as still_late:
            late = still_late
    raise OutOfRange(str(late))
