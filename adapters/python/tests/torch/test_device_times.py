"""Times of an accelerator, by events that a fake one passes when the test says so."""

from __future__ import annotations

from typing import Optional

import pytest

from trainwarden.torch.device_times import DeviceTimes


class Accelerator:
    """Passes its events one by one, each a second after the one before."""

    def __init__(self) -> None:
        self.asked: list[Event] = []
        self.made = 0
        self.passed = 0

    def make(self) -> Event:
        self.made += 1
        return Event(self)

    def passes(self, count: int) -> None:
        for event in self.asked[self.passed : self.passed + count]:
            self.passed += 1
            event.passed_at = float(self.passed)


class Event:
    def __init__(self, accelerator: Accelerator) -> None:
        self._accelerator = accelerator
        self.passed_at: Optional[float] = None

    def record(self) -> None:
        self.passed_at = None
        self._accelerator.asked.append(self)

    def query(self) -> bool:
        return self.passed_at is not None

    def elapsed_time(self, later: Event) -> float:
        assert self.passed_at is not None and later.passed_at is not None, "this would wait"
        return 1e3 * (later.passed_at - self.passed_at)


def step(times: DeviceTimes, number: int, *phases: str) -> None:
    edge = times.begin_step()
    assert edge is not None
    for phase in phases:
        edge(phase)
    times.end_step(number)


def test_nobody_waits_for_the_accelerator() -> None:
    accelerator = Accelerator()
    times = DeviceTimes(accelerator.make)
    step(times, 7, "rest", "forward", "rest", "backward")
    assert times.take_known() is None
    accelerator.passes(4)
    assert times.take_known() is None
    accelerator.passes(1)
    known = times.take_known()
    assert known is not None and known.global_step == 7
    assert known.seconds == {"rest": 2.0, "forward": 1.0, "backward": 1.0}
    assert times.take_known() is None


def test_events_are_used_again() -> None:
    accelerator = Accelerator()
    times = DeviceTimes(accelerator.make)
    for number in range(20):
        step(times, number, "rest", "forward")
        accelerator.passes(3)
        assert times.take_known() is not None
    assert accelerator.made == 3


def test_an_accelerator_that_lies_far_behind() -> None:
    accelerator = Accelerator()
    times = DeviceTimes(accelerator.make)
    for number in range(20):
        step(times, number, "rest")
    accelerator.passes(40)
    known = times.take_known()
    assert known is not None and known.global_step == 19
    assert accelerator.made <= 10


def test_a_step_of_a_thousand_phases_is_left_out() -> None:
    accelerator = Accelerator()
    times = DeviceTimes(accelerator.make)
    step(times, 0, *["forward"] * 1000)
    accelerator.passes(2000)
    assert times.take_known() is None


def test_without_an_accelerator() -> None:
    assert DeviceTimes().begin_step() is None


def test_an_accelerator_that_fails_is_left_alone(capsys: pytest.CaptureFixture[str]) -> None:
    class Broken(Event):
        def query(self) -> bool:
            raise RuntimeError("the accelerator is gone")

    accelerator = Accelerator()
    times = DeviceTimes(lambda: Broken(accelerator))
    step(times, 0, "rest", "forward")
    assert times.take_known() is None
    assert times.begin_step() is None
    assert "the accelerator is gone" in capsys.readouterr().err
