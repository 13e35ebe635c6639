"""A training in which no step ends says where its threads are, and one that goes on says nothing."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

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


# In a process of its own: how idle one is cannot be told beside the threads of other tests.
_PROGRAM = """
import sys, threading, time
from trainwarden.torch import stalls

stalls.FIRST_SECONDS, stalls.AGAIN_SECONDS, stalls._LOOK_SECONDS = 1.0, 1.0, 0.2


class Hook:
    run_dir, rank, global_step = sys.argv[1], 1, 0


def waits_for_a_lock():
    threading.Event().wait(3.5)


def computes():
    end = time.monotonic() + 3.5
    while time.monotonic() < end:
        sum(range(1000))


watch = stalls.StallWatch(Hook())
watch.start()
globals()[sys.argv[2]]()
watch.stop()
"""


def _report(folder: Path, function: str) -> dict[str, Any]:
    program = folder / "program.py"
    program.write_text(_PROGRAM)
    subprocess.run([sys.executable, str(program), str(folder), function], check=True, timeout=120)
    report: dict[str, Any] = json.loads((folder / "stalls" / "rank-00001.json").read_text())
    return report


def test_a_stall_is_told_with_the_line_that_waits(tmp_path: Path) -> None:
    record = _report(tmp_path, "waits_for_a_lock")
    assert record["version"] == 1 and record["step"] == 0 and record["seconds"] >= 1
    assert record["is_idle"] is True and record["collective"] is None
    assert abs(record["written_unix_ns"] - time.time_ns()) < 60e9
    frames = record["threads"][0]["frames"]
    assert next(line for line in frames if line.startswith("* ")).endswith("in waits_for_a_lock")
    assert any("threading.py" in line and not line.startswith("* ") for line in frames)


def test_who_computes_is_not_idle(tmp_path: Path) -> None:
    assert _report(tmp_path, "computes")["is_idle"] is False


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
