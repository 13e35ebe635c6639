"""What the tests of the Python package share."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))
sys.path.insert(0, str(Path(__file__).resolve().parents[3] / "tests" / "servers"))

from bucket_fixtures import bucket, bucket_server  # noqa: E402, F401


@pytest.fixture
def run_dir(tmp_path: Path) -> Path:
    """Where a test's run goes; not there yet."""
    return tmp_path / "run"
