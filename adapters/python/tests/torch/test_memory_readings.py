"""Memory readings: how often, and how many wait."""

from __future__ import annotations

import pytest
from test_examination_shapes import numbers_of
from trainwarden.torch.examination.memory_readings import MemoryReadings
from trainwarden.torch.memory_use import MemoryUse


@pytest.fixture(autouse=True)
def a_gigabyte(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(MemoryUse, "resident_bytes", lambda self: 10**9)


def test_they_are_some_time_apart() -> None:
    now = [0.0]
    readings = MemoryReadings(lambda: now[0])
    for step in range(1000):
        now[0] = step * 0.001
        readings.read(step)
    found = numbers_of(readings)
    assert found["memory"] == [1e9] and set(found["memories"]) == {1e9}
    assert 15 <= len(found["memory_steps"]) <= 20
    assert "memories" not in numbers_of(readings), "each is written once"


def test_a_long_training_has_few() -> None:
    now = [0.0]
    readings = MemoryReadings(lambda: now[0])
    for step in range(36_000):
        now[0] = step * 0.1
        readings.read(step)
    steps = numbers_of(readings)["memory_steps"]
    assert len(steps) <= 65 and steps[0] < 10 and steps[-1] > 34_000


def test_nothing_is_known(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(MemoryUse, "resident_bytes", lambda self: None)
    now = [0.0]
    readings = MemoryReadings(lambda: now[0])
    now[0] = 9.0
    readings.read(3)
    assert numbers_of(readings) == {"memory": [0.0]}
