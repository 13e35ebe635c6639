"""The exceptions of Trainwarden: one type for each kind of failure, each also derived from the usual Python type.

The message says what was expected, what was found and what to do next.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager


class Error(Exception):
    """The base of all errors of Trainwarden."""


class InvalidArgument(Error, ValueError):
    """The input is wrong in any state of the system."""


class NotFound(Error, LookupError):
    """There is no such tensor, collection or worker."""


class PathNotFound(NotFound, FileNotFoundError):
    """There is no such run, folder or file."""


class OutOfRange(Error, LookupError):
    """The tensor does not exist at this step, or not in this form; the message says what does."""


class AlreadyExists(Error, FileExistsError):
    """The folder holds a finished run, or another process writes there."""


class PermissionDenied(Error, PermissionError):
    """The storage does not allow it."""


class ResourceExhausted(Error, OSError):
    """The disk or a memory budget is full."""


class FailedPrecondition(Error, RuntimeError):
    """The call is not possible in this state."""


class DeadlineExceeded(Error, TimeoutError):
    """The time limit was reached."""


class Unavailable(Error, OSError):
    """A temporary fault of the storage; try again."""


class DataLoss(Error):
    """Data of the run are damaged or missing."""


_BY_CODE: dict[str, type[Error]] = {
    "invalid argument": InvalidArgument,
    "not found": NotFound,
    "out of range": OutOfRange,
    "already exists": AlreadyExists,
    "permission denied": PermissionDenied,
    "resource exhausted": ResourceExhausted,
    "failed precondition": FailedPrecondition,
    "deadline exceeded": DeadlineExceeded,
    "unavailable": Unavailable,
    "data loss": DataLoss,
}


def code_of(error: Error) -> str:
    """The name of the status of this exception."""
    codes = [code for code, kind in _BY_CODE.items() if isinstance(error, kind)]
    return codes[0] if codes else "internal"


@contextmanager
def opening() -> Iterator[None]:
    """Inside this block, NotFound means a path."""
    try:
        yield
    except NotFound as error:
        raise PathNotFound(str(error)) from None


def error_of(code: str, message: str) -> Error:
    """The exception for a status of the core; `code` is the status' name."""
    return _BY_CODE.get(code, Error)(message)
