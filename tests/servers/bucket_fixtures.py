"""Fixtures of pytest with a bucket, for the tests of the Python packages. A conftest.py imports both names."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from bucket_server import BucketServer, needs_moto


@pytest.fixture(scope="session")
def bucket_server() -> Iterator[BucketServer]:
    """One for all tests: it takes a second to start."""
    if needs_moto():
        pytest.skip(needs_moto())
    with BucketServer() as server:
        yield server


@pytest.fixture
def bucket(bucket_server: BucketServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> BucketServer:
    """A server of S3 with the bucket "bucket", to which the environment leads."""
    for name in [name for name in os.environ if name.startswith("AWS_")] + ["TRAINWARDEN_BUCKETS"]:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    for name, value in bucket_server.environment().items():
        monkeypatch.setenv(name, value)
    return bucket_server
