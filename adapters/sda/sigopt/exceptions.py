"""What goes wrong, under the names of SigOpt's client."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager


class SigOptException(Exception):
    """The base of them."""


class ApiException(SigOptException):
    """What was asked for is not possible; the message says why.

    Attributes:
        status: as the service had it: 400 for what is wrong with the request, 404 for what is not there, 409 else.
    """

    def __init__(self, message: str, status: int = 400):
        super().__init__(message)
        self.status = status


@contextmanager
def as_api_errors() -> Iterator[None]:
    """Inside this block, errors of studies are those of the client."""
    from trainwarden import errors

    try:
        yield
    except errors.InvalidArgument as error:
        raise ApiException(str(error), 400) from None
    except errors.Error as error:
        status = 404 if "there is no " in str(error) else 409
        raise ApiException(str(error), status) from None
