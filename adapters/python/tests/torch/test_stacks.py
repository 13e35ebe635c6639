"""The stacks of Python's threads are sampled in the steps whose operators are recorded, and in no others."""

from __future__ import annotations

import sys
import threading
import time
from pathlib import Path
from types import FrameType
from typing import Any, Iterator, Optional

import pytest
from running import Runner
from test_operators import Call, Training, calls_in

import trainwarden
from trainwarden import stacks


def sampled(run_dir: object) -> list[Call]:
    return [call for call in calls_in(run_dir) if call.kind == "python"]


@pytest.fixture
def hook(tmp_path: Path) -> Iterator[trainwarden.Hook]:
    with trainwarden.Hook(tmp_path / "run", operators="1:3", python_stacks=500, save=1) as hook:
        yield hook


def sampler_threads() -> list[int]:
    """By their numbers: threading does not know them."""
    known = {thread.ident for thread in threading.enumerate()}
    return [ident for ident, frame in sys._current_frames().items() if ident not in known and samples(frame)]


def samples(frame: Optional[FrameType]) -> bool:
    while frame is not None:
        if frame.f_code.co_filename == stacks.__file__:
            return True
        frame = frame.f_back
    return False


def spin(hook: trainwarden.Hook, seconds: float) -> None:
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        sum(range(100))


def test_a_slow_function_is_seen_in_its_step(hook: trainwarden.Hook) -> None:
    training = Training(hook)
    running, took_ns = [], []
    for _ in range(5):
        begin_ns = time.monotonic_ns()
        spin(hook, 0.1)
        running.append(len(sampler_threads()))
        training.step()
        took_ns.append(time.monotonic_ns() - begin_ns)
    hook.close()
    assert running[1:3] == [1, 1]
    calls = sampled(hook.run_dir)
    assert {call.step for call in calls} == {1, 2}
    for step in (1, 2):
        ours = [call for call in calls if call.step == step and call.name.startswith("spin (test_stacks.py:")]
        assert ours
        assert 50_000_000 < sum(call.duration_ns for call in ours) < took_ns[step] + 20_000_000
        test = [call for call in calls if call.step == step and "test_a_slow_function_is_seen_in_its_step" in call.name]
        assert any(around.holds(call) for around in test for call in ours)
    assert all(call.track == "python thread MainThread" for call in calls if call.name.startswith("spin"))
    assert not any(str(Path(__file__).parent) in call.name for call in calls), "paths are short"
    deadline = time.monotonic() + 60
    while sampler_threads() and time.monotonic() < deadline:
        time.sleep(0.01)
    assert sampler_threads() == []


def test_other_threads_have_tracks_of_their_own(hook: trainwarden.Hook) -> None:
    training = Training(hook)
    stop = threading.Event()
    helper = threading.Thread(target=stop.wait, name="my helper")
    helper.start()
    try:
        for _ in range(3):
            spin(hook, 0.03)
            training.step()
    finally:
        stop.set()
        helper.join()
    hook.close()
    assert any("Event.wait" in call.name or "wait (" in call.name for call in sampled(hook.run_dir)
               if call.track == "python thread my helper")  # fmt: skip
    assert not any("trainwarden stacks" in call.track for call in sampled(hook.run_dir))


def test_our_own_functions_are_left_out_of_the_middle(hook: trainwarden.Hook) -> None:
    training = Training(hook)
    training.model.register_forward_hook(lambda *_: spin(hook, 0.05))
    for _ in range(3):
        training.step()
    hook.close()
    calls = sampled(hook.run_dir)
    inner = [call for call in calls if call.name.startswith("spin")]
    assert inner
    around = {call.name for call in calls for each in inner if call.step == each.step and call.holds(each)}
    assert not any("trainwarden" in name.split("(")[1] for name in around), around


def test_no_samples_where_they_are_switched_off(tmp_path: Path) -> None:
    with trainwarden.Hook(tmp_path / "run", operators="1:3", python_stacks=0, save=1) as hook:
        training = Training(hook)
        for _ in range(4):
            spin(hook, 0.03)
            assert sampler_threads() == []
            training.step()
    assert calls_in(tmp_path / "run")
    assert sampled(tmp_path / "run") == []


def test_what_fails_is_said_and_nothing_else_happens(
    hook: trainwarden.Hook, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(ident: int) -> Any:
        raise RuntimeError("no thread is known to me")

    monkeypatch.setattr(stacks, "_describe", fail)
    training = Training(hook)
    for _ in range(5):
        spin(hook, 0.05)
        training.step()
    hook.close()
    assert sampled(hook.run_dir) == []
    assert {call.step for call in calls_in(hook.run_dir)} == {1, 2}
    trial = trainwarden.open(hook.run_dir)
    name = "trainwarden/not_captured"
    said = [str(text) for step in trial.tensor(name).steps() for text in trial.value(name, step)]
    assert any("python stacks: RuntimeError: no thread is known to me" in text for text in said), said


def test_odd_names_do_no_harm(hook: trainwarden.Hook) -> None:
    source = "def \u00fcbung():\n    spin(hook, 0.05)\n"
    space: dict[str, Any] = {"spin": spin, "hook": hook}
    exec(compile(source, "/nowhere/secret/\udcff\nodd.py", "exec"), space)
    training = Training(hook)
    for _ in range(3):
        space["\u00fcbung"]()
        training.step()
    hook.close()
    names = {call.name for call in sampled(hook.run_dir) if "\u00fcbung" in call.name}
    assert names and not any("secret" in name for name in names), names


def test_an_unchanged_program(runner: Runner) -> None:
    run_dir = runner.folder / "stacks"
    ended = runner.start("slow_loader.py", environment=runner.attached_environment(run_dir))
    assert ended.exit_code == 0, ended.stderr
    calls = sampled(run_dir)
    assert {call.step for call in calls} <= set(range(5, 15))
    slow = sum(call.duration_ns for call in calls if call.name.startswith(("Slow.__getitem__", "__getitem__")))
    steps = len({call.step for call in calls if "__getitem__" in call.name})
    assert steps >= 5
    assert slow > steps * 10_000_000
    assert any("(slow_loader.py:" in call.name for call in calls)
