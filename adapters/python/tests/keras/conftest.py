"""Programs that train with Keras and know nothing of Trainwarden, by the package that KERAS_PACKAGE names ("keras", or
"tf_keras"), and on the backend that KERAS_BACKEND names."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

pytest.importorskip(os.environ.get("KERAS_PACKAGE", "keras"), minversion="2.15")

from untouched import Runner  # noqa: E402


@pytest.fixture(scope="session")
def runner(tmp_path_factory: pytest.TempPathFactory) -> Runner:
    return Runner(tmp_path_factory.mktemp("programs"), Path(__file__).parent / "programs")
