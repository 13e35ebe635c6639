"""What the tests of the Python package share."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))


@pytest.fixture
def run_dir(tmp_path: Path) -> Path:
    """Where a test's run goes; not there yet."""
    return tmp_path / "run"
