"""What goes wrong."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any


class NotHere(NotImplementedError):
    """Something that only Amazon's cloud has, or that Trainwarden does not do yet; the message says what to use."""


class UnexpectedStatusException(ValueError):
    """A job did not end as it should. Its name is the SDK's.

    Attributes:
        allowed_statuses, actual_status: words of TrainingJobStatus.
    """

    def __init__(self, message: str, allowed_statuses: Iterable[str], actual_status: str):
        self.allowed_statuses = list(allowed_statuses)
        self.actual_status = actual_status
        super().__init__(message)


class ClientError(Exception):
    """As botocore's: ``error.response["Error"]["Code"]`` says what it is."""

    def __init__(self, code: str, message: str, operation: str):
        super().__init__(f"An error occurred ({code}) when calling the {operation} operation: {message}")
        self.response: dict[str, Any] = {"Error": {"Code": code, "Message": message}}
        self.operation_name = operation
