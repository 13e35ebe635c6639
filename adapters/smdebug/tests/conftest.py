"""What the tests of the package share."""

from __future__ import annotations

import logging
import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

_REPOSITORY = Path(__file__).resolve().parents[3]
sys.path.insert(0, str(Path(__file__).parent / "analysis"))
sys.path.insert(0, str(_REPOSITORY / "tests" / "servers"))

from bucket_fixtures import bucket, bucket_server  # noqa: E402, F401


@pytest.fixture
def run_dir(tmp_path: Path) -> Path:
    """Where a test's run goes; not there yet."""
    return tmp_path / "run"


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """The data that tests share. A user's machine has none."""
    folder = Path(os.environ.get("TRAINWARDEN_SHARED_DATA", _REPOSITORY.parent / "shared" / "data"))
    if not folder.is_dir():
        pytest.skip(f"no shared data in {folder}; set TRAINWARDEN_SHARED_DATA")
    return folder


@pytest.fixture(scope="session")
def shared_trials(shared_data: Path) -> Path:
    """Trials that smdebug 1.0.34 recorded, each with what smdebug read from it in NAME.expected.json."""
    folder = shared_data / "smdebug_trials"
    if not folder.is_dir():
        pytest.skip(f"no recorded trials in {folder}")
    return folder


@pytest.fixture(scope="session")
def seeds(shared_data: Path) -> Path:
    """Notebooks that were published, as texts."""
    folder = shared_data.parent / "seeds"
    if not folder.is_dir():
        pytest.skip(f"no notebooks in {folder}")
    return folder


@pytest.fixture(scope="session")
def rivals_python() -> str:
    """An interpreter that has smdebug itself."""
    python = os.environ.get("TRAINWARDEN_RIVALS_PYTHON")
    if not python:
        pytest.skip("set TRAINWARDEN_RIVALS_PYTHON to an interpreter that has smdebug 1.0.34")
    return python


@pytest.fixture
def log(caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch) -> pytest.LogCaptureFixture:
    """What the package says on its log."""
    from smdebug.core.logger import get_logger

    monkeypatch.setattr(get_logger(), "propagate", True)
    caplog.set_level(logging.INFO, "smdebug")
    return caplog


@pytest.fixture(autouse=True)
def _no_variables(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """No test depends on what the user has set."""
    for name in [name for name in os.environ if name.startswith(("SMDEBUG_", "TRAINWARDEN_RUN"))]:
        monkeypatch.delenv(name)
    yield
