"""Programs that train with sessions of TensorFlow and know nothing of Trainwarden. They use tf.layers and tf.estimator,
which TensorFlow has up to 2.15; on newer ones the conformance test runs sessions."""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import pytest

pytest.importorskip("tensorflow_estimator")

from untouched import Runner  # noqa: E402


@pytest.fixture(scope="session")
def runner(tmp_path_factory: pytest.TempPathFactory) -> Runner:
    return Runner(tmp_path_factory.mktemp("programs"), Path(__file__).parent / "programs")


@pytest.fixture
def keras_2() -> None:
    try:
        is_2 = version("keras").startswith("2.")
    except PackageNotFoundError:
        is_2 = False
    if not is_2:
        pytest.skip("Keras 3 has no graph mode")
