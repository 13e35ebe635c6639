"""When watching takes too much of a live training, it is given up part by part."""

from __future__ import annotations

import pytest

from trainwarden.torch.watchdog import Part, Watchdog


class Time:
    def __init__(self) -> None:
        self.now = 0.0
        self.spent = 0

    def passes(self, seconds: float, spent: float) -> None:
        self.now += seconds
        self.spent += round(spent * 1e9)


def watchdog(time: Time, budget: float = 0.01) -> Watchdog:
    return Watchdog(lambda: time.spent, budget, lambda: time.now)


def test_what_is_cheap_goes_on() -> None:
    time = Time()
    dog = watchdog(time)
    for _ in range(100):
        time.passes(10.0, 0.4)
        assert dog.step_ended() is None


def test_the_start_may_cost_more() -> None:
    time = Time()
    dog = watchdog(time)
    time.passes(21.0, 1.5)
    assert dog.step_ended() is None


def test_parts_are_given_up_one_after_the_other() -> None:
    time = Time()
    dog = watchdog(time)
    given_up = []
    for _ in range(5):
        time.passes(25.0, 5.0)
        excess = dog.step_ended()
        if excess is not None:
            given_up.append(excess[0])
            assert "% of the last 25 s of training, more than 5 %" in excess[1]
    assert given_up == [Part.EXAMINATION, Part.SIGNALS, Part.CAPTURE]


@pytest.mark.parametrize("budget, given_up", [(0.0, [Part.EXAMINATION]), (0.2, [])])
def test_what_the_user_asked_for_is_not_taken_away(budget: float, given_up: list[Part]) -> None:
    """Without a budget capture has no limit; with a large one the watchdog waits for three times as much."""
    time = Time()
    dog = watchdog(time, budget)
    found = []
    for _ in range(4):
        time.passes(25.0, 10.0)
        excess = dog.step_ended()
        found += [excess[0]] if excess is not None else []
    assert found == given_up


def test_memory_that_looks_leave_behind() -> None:
    dog = watchdog(Time())
    assert dog.looked(100 << 20) is None
    excess = dog.looked(300 << 20)
    assert excess is not None and excess[0] is Part.EXAMINATION and "300 MiB" in excess[1]
    assert dog.looked(300 << 20) is None
