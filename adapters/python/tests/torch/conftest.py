"""Programs that know nothing of Trainwarden, run once for all tests that ask for them."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

sys.path.insert(0, str(Path(__file__).parent))
pytest.importorskip("torch")

if TYPE_CHECKING:
    from collections.abc import Iterator

    from running import Runner


@pytest.fixture(autouse=True)
def nobody_stays() -> Iterator[None]:
    """A watcher that a test has left attached would be notified of what the next tests do."""
    from trainwarden.torch import interception

    before = interception._board.listeners
    yield
    for listener in interception._board.listeners:
        if listener not in before:
            interception.remove_listener(listener)


@pytest.fixture(scope="session")
def runner(tmp_path_factory: pytest.TempPathFactory) -> Runner:
    from running import Runner

    return Runner(tmp_path_factory.mktemp("programs"))
