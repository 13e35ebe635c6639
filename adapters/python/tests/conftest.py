"""What the tests of the Python package share."""

from __future__ import annotations

from pathlib import Path

import pytest


@pytest.fixture
def run_dir(tmp_path: Path) -> Path:
    """Where a test's run goes; not there yet."""
    return tmp_path / "run"
