"""Sessions and clients as boto3 has them, without the cloud: `import boto3`, where trainwarden-boto3 is installed."""

from __future__ import annotations

import os
from typing import Any, NoReturn

from ._logs_client import LogsClient
from ._s3_client import S3Client
from .exceptions import NotHere

__all__ = ["Session", "client", "resource"]

_SERVICES = ("sagemaker", "logs", "s3")


class Session:
    """Where clients come from.

    Attributes:
        region_name: as it is given, else AWS_DEFAULT_REGION, else "local"; part of ARNs and of names of buckets.
    """

    def __init__(self, *_: Any, region_name: str | None = None, **others: Any):
        if _ or others:
            raise NotHere(f"boto3.Session: expected region_name alone, found {', '.join(others) or _}: no cloud is asked")
        self.region_name: str = region_name or os.environ.get("AWS_DEFAULT_REGION") or "local"

    def client(self, service_name: str, region_name: str | None = None, **others: Any) -> Any:
        """One of "sagemaker", "logs" and "s3".

        Raises:
            NotHere: another one.
        """
        if others:
            raise NotHere(f"boto3.client: {', '.join(others)}: no cloud is asked; leave it out")
        if service_name == "sagemaker":
            from .session import Session as JobSession  # it asks for clients by itself

            return JobSession(boto_session=Session(region_name=region_name or self.region_name)).sagemaker_client
        if service_name == "logs":
            return LogsClient()
        if service_name == "s3":
            return S3Client()
        raise NotHere(f"boto3.client: expected one of {', '.join(_SERVICES)}, found {service_name!r}")

    def resource(self, service_name: str, *_: Any, **__: Any) -> NoReturn:
        raise NotHere(f"boto3.resource: there are clients only: boto3.client({service_name!r})")

    def get_available_services(self) -> list[str]:
        """The clients that there are."""
        return list(_SERVICES)


def client(service_name: str, region_name: str | None = None, **others: Any) -> Any:
    """As Session().client()."""
    return Session().client(service_name, region_name, **others)


def resource(service_name: str, *_: Any, **__: Any) -> NoReturn:
    """There is none: the error says what to use."""
    Session().resource(service_name)
