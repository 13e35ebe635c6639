"""Trainings of boosted trees with a fault, and their healthy twins: they know nothing of Trainwarden."""

from __future__ import annotations

from pathlib import Path

import pytest
from untouched import Runner


@pytest.fixture(scope="session")
def runner(tmp_path_factory: pytest.TempPathFactory) -> Runner:
    return Runner(tmp_path_factory.mktemp("programs"), Path(__file__).parent / "programs")
