"""Memory use: what it says of an accelerator, without one."""

from __future__ import annotations

import pytest
import torch
from trainwarden.torch.memory_use import MemoryUse


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
