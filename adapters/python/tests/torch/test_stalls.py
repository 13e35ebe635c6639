"""A training in which no step ends says where its threads are, and one that goes on says nothing."""

from __future__ import annotations

import json
import threading
import time
from pathlib import Path

import pytest

from trainwarden.torch import stalls


class _Hook:
    def __init__(self, folder: Path) -> None:
        self.run_dir = str(folder)
        self.rank = 1
        self.global_step = 0


@pytest.fixture
def hook(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> _Hook:
    monkeypatch.setattr(stalls, "FIRST_SECONDS", 0.4)
    monkeypatch.setattr(stalls, "AGAIN_SECONDS", 0.4)
    monkeypatch.setattr(stalls, "_LOOK_SECONDS", 0.1)
    return _Hook(tmp_path)


def _waits_for_a_lock(lock: threading.Event, seconds: float) -> None:
    lock.wait(seconds)


def test_a_stall_is_told_with_the_line_that_waits(hook: _Hook, tmp_path: Path) -> None:
    watch = stalls.StallWatch(hook)
    watch.start()
    _waits_for_a_lock(threading.Event(), 1.5)
    watch.stop()
    record = json.loads((tmp_path / "stalls" / "rank-00001.json").read_text())
    assert record["version"] == 1 and record["step"] == 0 and record["seconds"] >= 0.4
    assert record["is_idle"] is True and record["collective"] is None
    assert abs(record["written_unix_ns"] - time.time_ns()) < 60e9
    frames = record["threads"][0]["frames"]
    assert next(line for line in frames if line.startswith("* ")).endswith("in _waits_for_a_lock")
    assert any("threading.py" in line and not line.startswith("* ") for line in frames)


def test_who_computes_is_not_idle(hook: _Hook, tmp_path: Path) -> None:
    watch = stalls.StallWatch(hook)
    watch.start()
    end = time.monotonic() + 1.2
    while time.monotonic() < end:
        sum(range(1000))
    watch.stop()
    assert json.loads((tmp_path / "stalls" / "rank-00001.json").read_text())["is_idle"] is False


def test_steps_are_no_stall(hook: _Hook, tmp_path: Path) -> None:
    watch = stalls.StallWatch(hook)
    watch.start()
    for _ in range(20):
        hook.global_step += 1
        time.sleep(0.03)
    watch.stop()
    assert not (tmp_path / "stalls").exists()


def test_a_folder_that_is_gone_ends_it_quietly(hook: _Hook, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "stalls").write_text("in the way")
    watch = stalls.StallWatch(hook)
    watch.start()
    time.sleep(0.8)
    watch.stop()
    assert capfd.readouterr().err == ""
