"""Memory use: what it says of an accelerator, without one."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
import torch
from trainwarden.torch.memory_use import MemoryUse


def _numbers() -> set[int]:
    """Descriptors of this process that stand for its account of memory."""
    found = set()
    for name in os.listdir("/proc/self/fd"):
        try:
            if os.readlink(f"/proc/self/fd/{name}").endswith("/statm"):
                found.add(int(name))
        except FileNotFoundError:
            pass  # that of the listing itself
    return found


def test_a_program_that_closes_our_descriptor_keeps_its_own(tmp_path: Path) -> None:
    before = _numbers()
    own = os.open(tmp_path / "own", os.O_RDWR | os.O_CREAT)
    os.close(next_number := os.open(os.devnull, os.O_RDONLY))
    use = MemoryUse()
    assert use.resident_bytes() is not None
    os.close(found := os.open(os.devnull, os.O_RDONLY))
    assert found == next_number  # as without us
    taken = []
    for _ in range(2):
        (number,) = _numbers() - before
        os.dup2(own, number)  # what os.closerange(3, ...) and an open() may come to
        taken.append(number)
        if len(taken) == 1:
            assert use.now()["memory/host_bytes"] > 0
    del use
    for each in {own, *taken}:
        os.close(each)  # OSError where one was closed


def test_an_accelerator_is_asked_each_eighth_time(monkeypatch: pytest.MonkeyPatch) -> None:
    stats = {
        "allocated_bytes": {"all": {"current": 3, "peak": 5}},
        "reserved_bytes": {"all": {"current": 7, "peak": 8}},
    }
    monkeypatch.setattr(torch.cuda, "is_initialized", lambda: True)
    monkeypatch.setattr(torch.cuda, "memory_stats_as_nested_dict", lambda: stats)
    use = MemoryUse()
    asked = [use.now() for _ in range(9)]
    of_device = {
        "memory/device_bytes": 3.0,
        "memory/device_peak_bytes": 5.0,
        "memory/device_reserved_bytes": 8.0,
    }
    for index, found in enumerate(asked):
        found.pop("memory/host_bytes", None)
        assert found == (of_device if index in (0, 8) else {})


def test_nothing_was_allocated_yet(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.cuda, "is_initialized", lambda: True)
    monkeypatch.setattr(torch.cuda, "memory_stats_as_nested_dict", dict)
    found = MemoryUse().now()
    found.pop("memory/host_bytes", None)
    assert found == {"memory/device_bytes": 0.0}
