"""Programs of frameworks that have no adapter: they are told, when nothing was captured."""

from __future__ import annotations

from pathlib import Path

import pytest
from untouched import Runner


@pytest.fixture
def runner(tmp_path: Path) -> Runner:
    """Beside modules that are called like frameworks."""
    for name, imported in {"tensorflow": "", "keras": "import tensorflow\n"}.items():
        (tmp_path / f"{name}.py").write_text(imported)
    return Runner(tmp_path, tmp_path)


def test_who_captures_nothing_is_told_once(runner: Runner) -> None:
    ended = runner.start("-c", "import tensorflow", environment=runner.attached_environment(runner.folder / "run"))
    assert ended.exit_code == 0 and ended.stdout == ""
    assert ended.stderr.count("\n") == 1
    assert ended.stderr.startswith("trainwarden: nothing was captured: there is no adapter for TensorFlow yet.")


@pytest.mark.parametrize(
    "program", ["import sys", "import tensorflow, trainwarden; trainwarden.Hook.from_environment().step()"]
)
def test_who_captures_or_trains_with_none_is_not(runner: Runner, program: str) -> None:
    ended = runner.start("-c", program, environment=runner.attached_environment(runner.folder / "run"))
    assert (ended.exit_code, ended.stderr) == (0, "")


def test_what_a_framework_with_an_adapter_imports_is_not_told_of(runner: Runner) -> None:
    """Here the adapter cannot attach, which it says."""
    ended = runner.start("-c", "import keras", environment=runner.attached_environment(runner.folder / "run"))
    assert ended.exit_code == 0 and "no adapter for" not in ended.stderr


def test_the_first_framework_that_is_asked_for_is_attached(runner: Runner) -> None:
    """Whoever looks which that is stands between finders that wait for one."""
    (runner.folder / "jax.py").write_text("")
    ended = runner.start("-c", "import jax", environment=runner.attached_environment(runner.folder / "run"))
    assert "could not attach to JAX" in ended.stderr  # as this one has nothing in it
