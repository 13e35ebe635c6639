"""What the tests of the Python package share."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))
sys.path.insert(0, str(Path(__file__).resolve().parents[3] / "tests" / "servers"))

from bucket_server import BucketServer, needs_moto  # noqa: E402


@pytest.fixture
def run_dir(tmp_path: Path) -> Path:
    """Where a test's run goes; not there yet."""
    return tmp_path / "run"


@pytest.fixture(scope="session")
def _bucket_server() -> Iterator[BucketServer]:
    if needs_moto():
        pytest.skip(needs_moto())
    with BucketServer() as server:
        yield server


@pytest.fixture
def bucket(_bucket_server: BucketServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> BucketServer:
    """A server of S3 with the bucket "bucket", to which the environment leads."""
    for name in [name for name in os.environ if name.startswith("AWS_")] + ["TRAINWARDEN_BUCKETS"]:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    for name, value in _bucket_server.environment().items():
        monkeypatch.setenv(name, value)
    return _bucket_server
