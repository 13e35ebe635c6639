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


# What is known to be missing with an older PyTorch 2 (docs/reference/pytorch.md, "Versions"), by its version.
KNOWN_MISSING = {
    "2.1": {
        "test_compiled[module]",
        "test_compiled[in_place]",
        "test_compiled[function]",
        "test_compiled_in_the_middle_of_a_training[step]",
        "test_compiled_in_the_middle_of_a_training[export]",
        "test_a_compiled_step_of_the_optimizer_ends_a_step[optimizer]",
        "test_nothing_that_the_program_does_changes[compiled.py-eager-function]",
        "test_nothing_that_the_program_does_changes[compiled.py-aot_eager-function]",
        "test_what_is_wanted_changes_from_step_to_step_without_a_recompilation[function]",
    },
    "2.7": {
        "test_compiled_in_the_middle_of_a_training[model]",
        "test_micro_batches_of_a_pipeline_are_one_step[module]",
        "test_micro_batches_of_a_pipeline_are_one_step[function]",
        "test_nothing_that_the_program_does_changes[compiled_late.py-model]",
    },
}


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    import torch

    version = ".".join(torch.__version__.split(".")[:2])
    for item in items:
        if item.name in KNOWN_MISSING.get(version, ()):
            item.add_marker(pytest.mark.xfail(reason=f"known of torch {version}", strict=True))


@pytest.fixture(scope="session")
def imported() -> None:
    """What is imported by now is no garbage: a collection need not look at it, which takes a tenth of a second."""
    import gc

    import trainwarden.torch  # noqa: F401

    gc.collect()
    gc.freeze()


@pytest.fixture(autouse=True)
def nothing_is_left_over(imported: None) -> None:
    """Models and optimizers of earlier tests that wait to be collected are living objects: a session would expect their
    steps, and the first steps of the next training would end late."""
    import gc

    gc.collect()


@pytest.fixture(autouse=True)
def nobody_stays() -> Iterator[None]:
    """A watcher that a test has left attached would be notified of what the next tests do."""
    from trainwarden.torch import interception, listeners

    before = listeners.board.listeners
    yield
    for listener in listeners.board.listeners:
        if listener not in before:
            interception.remove_listener(listener)


@pytest.fixture(scope="session")
def runner(tmp_path_factory: pytest.TempPathFactory) -> Runner:
    from running import PROGRAMS, Runner

    return Runner(tmp_path_factory.mktemp("programs"), PROGRAMS)
