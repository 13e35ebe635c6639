"""Waiting for a module: until it has been imported, however often somebody looks for it before."""

from __future__ import annotations

import importlib
import importlib.util
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from untouched import Runner, clean_environment

from trainwarden._imports import _finder, when_imported


@pytest.fixture
def module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The source of a module `awaited`, which can be imported."""
    monkeypatch.syspath_prepend(str(tmp_path))
    before = list(sys.meta_path)
    file = tmp_path / "awaited.py"
    file.write_text("value = 1\n")
    yield file
    sys.modules.pop("awaited", None)
    sys.meta_path[:] = before


@pytest.fixture
def calls() -> list[int]:
    """What awaited.value was when the action was called."""
    calls: list[int] = []
    when_imported("awaited", lambda: calls.append(sys.modules["awaited"].value))
    return calls


def test_the_action_follows_the_import(module: Path, calls: list[int]) -> None:
    others = set(_finder._actions) - {"awaited"}  # of frameworks, where another test has attached this process
    importlib.import_module("awaited")
    assert calls == [1]
    assert set(_finder._actions) == others
    assert (_finder in sys.meta_path) == bool(others)
    assert type(sys.modules["awaited"].__loader__).__name__ == "SourceFileLoader"


def test_who_only_looks_does_not_end_the_waiting(module: Path, calls: list[int]) -> None:
    for _ in range(2):
        spec = importlib.util.find_spec("awaited")
        assert spec is not None and spec.loader is not None
        assert spec.loader.get_source("awaited") == "value = 1\n"  # type: ignore[attr-defined]
    assert calls == []
    importlib.import_module("awaited")
    assert calls == [1]


def test_an_import_that_fails_does_not_end_the_waiting(module: Path, calls: list[int]) -> None:
    module.write_text("raise RuntimeError('not yet')\n")
    with pytest.raises(RuntimeError, match="not yet"):
        importlib.import_module("awaited")
    module.write_text("value = 22222\n")
    importlib.invalidate_caches()
    importlib.import_module("awaited")
    assert calls == [22222]


def test_a_module_that_is_not_there_is_waited_for(module: Path, calls: list[int]) -> None:
    source = module.read_text()
    module.unlink()
    with pytest.raises(ModuleNotFoundError):
        importlib.import_module("awaited")
    module.write_text(source)
    importlib.invalidate_caches()
    importlib.import_module("awaited")
    assert calls == [1]


def test_several_wait_for_the_same(module: Path, calls: list[int]) -> None:
    more: list[str] = []
    when_imported("awaited", lambda: more.append("another"))
    importlib.import_module("awaited")
    assert calls == [1] and more == ["another"]


def test_a_module_that_is_there_is_not_waited_for(module: Path) -> None:
    importlib.import_module("awaited")
    seen: list[int] = []
    when_imported("awaited", lambda: seen.append(1))
    assert seen == [1]


def test_a_version_of_keras_that_is_too_old_is_named_and_left_alone(tmp_path: Path) -> None:
    (tmp_path / "keras.py").write_text('__version__ = "2.9.0"\n')
    runner = Runner(tmp_path, tmp_path)
    environment = runner.attached_environment(tmp_path / "run")
    ended = runner.start("-c", "import keras; print('trains')", environment=environment)
    assert (ended.exit_code, ended.stdout) == (0, "trains\n")
    assert ended.stderr == (
        "trainwarden: error: could not attach to Keras, nothing is captured: "
        "expected Keras 2.15 or newer, found Keras 2.9.0\n"
    )


def test_the_loader_stays_the_one_that_python_made(module: Path, calls: list[int]) -> None:
    spec = importlib.util.find_spec("awaited")
    assert spec is not None and type(spec.loader).__name__ == "SourceFileLoader"
    again = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(again)
    assert again.value == 1 and calls == []  # it is not in sys.modules
    importlib.import_module("awaited")
    assert calls == [1] and "exec_module" not in vars(sys.modules["awaited"].__loader__)


def test_a_module_that_is_imported_late_is_waited_for(module: Path, calls: list[int]) -> None:
    spec = importlib.util.find_spec("awaited")
    assert spec is not None and spec.loader is not None
    spec.loader = importlib.util.LazyLoader(spec.loader)
    lazy = importlib.util.module_from_spec(spec)
    sys.modules["awaited"] = lazy
    spec.loader.exec_module(lazy)
    assert calls == []
    assert lazy.value == 1 and calls == [1]


def test_a_finder_that_asks_all_others_may_ask_this_one(
    module: Path, calls: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    others = list(sys.meta_path)

    class Asking:
        def find_spec(self, name: str, path: object = None, target: object = None) -> object:
            found = (each.find_spec(name, path, target) for each in others)  # type: ignore[arg-type]
            return next((spec for spec in found if spec is not None), None)

    monkeypatch.setattr(sys, "meta_path", [Asking(), *others])
    importlib.import_module("awaited")
    assert calls == [1]


def test_warnings_and_errors_of_an_import_know_nothing_of_who_waits(module: Path, calls: list[int]) -> None:
    module.write_text("import warnings\nwarnings.warn('old', stacklevel=2)\nraise RuntimeError('not yet')\n")
    with pytest.warns(UserWarning, match="old") as caught, pytest.raises(RuntimeError, match="not yet") as raised:
        import awaited  # type: ignore[import-not-found]  # noqa: F401
    assert [each.filename for each in caught] == [__file__]
    assert [Path(str(each.path)) for each in raised.traceback] == [Path(__file__), module]


def test_attaching_loads_nothing_that_a_program_could_miss(tmp_path: Path) -> None:
    """A program without a framework starts as quickly as without us."""
    runner = Runner(tmp_path, tmp_path)
    program = "import argparse, sys; print(*sys.modules)"
    alone = runner.start("-c", program, environment=clean_environment())
    attached = runner.start("-c", program, environment=runner.attached_environment(tmp_path / "run"))
    more = set(attached.stdout.split()) - set(alone.stdout.split())
    own = {"trainwarden", *(f"trainwarden.{name}" for name in ("_arguments", "_attach", "_ending", "_imports", "_passing"))}
    assert own <= more <= own | {"__future__", "atexit", "sitecustomize", "site"}
    assert attached.stderr == ""


def test_what_the_program_does_at_its_end_comes_before_what_we_do(tmp_path: Path) -> None:
    """A hook is open until then, also where the program has asked to be called before a framework was imported."""
    program = """
import atexit
@atexit.register
def last():
    hook.save_scalar("late", 1.0)
    hook.step()
import trainwarden
hook = trainwarden.Hook(sys.argv[1], save_all=True)
"""
    runner = Runner(tmp_path, tmp_path)
    environment = runner.attached_environment(tmp_path / "run")
    ended = runner.start("-c", "import sys" + program, str(tmp_path / "own"), environment=environment)
    assert ended.exit_code == 0 and ended.stderr == ""
    import trainwarden

    assert trainwarden.open(tmp_path / "own").scalar("late", 0) == 1.0
