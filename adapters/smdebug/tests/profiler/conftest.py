"""What the tests of profiles share."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))


@pytest.fixture
def recorded(shared_data: Path) -> Path:
    """Folders that smdebug's authors recorded."""
    folder = shared_data / "telemetry" / "smdebug" / "tests" / "profiler" / "resources"
    if not folder.is_dir():
        pytest.skip(f"no recorded profiles in {folder}")
    return folder


@pytest.fixture
def profile(tmp_path: Path) -> Path:
    from folders import small_profile

    return small_profile(tmp_path / "profile")
