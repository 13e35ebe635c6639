"""Programs that train with scikit-learn and know nothing of Trainwarden."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("sklearn")

from untouched import Runner  # noqa: E402


@pytest.fixture(scope="session")
def runner(tmp_path_factory: pytest.TempPathFactory) -> Runner:
    return Runner(tmp_path_factory.mktemp("programs"), Path(__file__).parent / "programs")
