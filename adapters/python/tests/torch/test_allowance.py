"""How much time an examination for a diagnosis may take, and which steps it spends that on."""

from __future__ import annotations

import math
import time
from types import SimpleNamespace

import pytest

from trainwarden.torch.examination import examiner
from trainwarden.torch.examination.allowance import SECOND_SECONDS, SHARE, START_SECONDS, Allowance
from trainwarden.torch.examination.jumps import Jumps


class Clock:
    def __init__(self) -> None:
        self.now = 0

    def __call__(self) -> int:
        return self.now


def test_a_long_training_is_looked_at_all_along() -> None:
    """Of an hour of steps of 100 ms."""
    clock, looks = Clock(), []
    allowance = Allowance(clock)
    for step in range(36_000):
        clock.now += 100_000_000
        if allowance.may_examine(step):
            allowance.examined(step, 4_000_000)
            looks.append(step)
    assert 100 < len(looks) < 300
    assert max(later - earlier for earlier, later in zip(looks, looks[1:])) < 36_000 / 50


def test_the_first_look_on_an_accelerator_does_not_use_up_all_looks() -> None:
    """It costs half a second there, more on a machine that has just started; the next ones cost ten milliseconds."""
    clock = Clock()
    allowance = Allowance(clock)
    looks = []
    for step in range(2000):
        clock.now += 2_000_000
        if allowance.may_examine(step):
            allowance.use_device()
            allowance.examined(step, 10_000_000 if step else 1_500_000_000)
            looks.append(step)
    assert looks[:6] == [0, 1, 2, 3, 4, 6] and len(looks) >= 20
    assert looks[-1] > 400
    assert allowance.spent_ns > 1_500_000_000  # what it cost is said all the same


def test_a_short_training_is_looked_at_to_its_end() -> None:
    """Of 600 steps of 4 ms, where a light look costs half a millisecond, as on a busy machine, and a full one 6."""
    clock, fulls, lights = Clock(), [], []
    allowance = Allowance(clock)
    for step in range(600):
        clock.now += 4_000_000
        if allowance.may_examine(step):
            allowance.examined(step, 6_000_000)
            fulls.append(step)
        elif allowance.may_look(step):
            allowance.looked(500_000)
            lights.append(step)
    assert fulls[:5] == [0, 1, 2, 3, 4] and len(fulls) > 12 and fulls[-1] > 300
    assert len([step for step in lights if step < 60]) > 30
    assert len([step for step in lights if step > 360]) >= 6
    assert allowance.spent_ns <= START_SECONDS * 1e9 + SHARE * clock.now + 6_000_000


@pytest.mark.parametrize("has_device", [False, True])
def test_other_work_on_the_machine_costs_no_looks(has_device: bool) -> None:
    """But where an accelerator computes, what is waited for is its work."""

    class Waits:
        is_on, _faults, fault, _step_ns, _step_wall_ns = True, 0, None, 0, 0
        _allowance = SimpleNamespace(has_device=has_device)

        @examiner._own
        def look(self) -> None:
            time.sleep(0.05)

    waits = Waits()
    waits.look()
    assert (waits._step_ns >= 50_000_000) == has_device


def test_a_jump_is_looked_at_closer() -> None:
    clock = Clock()
    allowance, jumps = Allowance(clock), Jumps()
    looks = []
    for step in range(2000):
        clock.now += 1_000_000
        if jumps.sees(2.0 if step == 1500 else 1.0 + 0.1 * math.sin(step)):
            allowance.look_closer()
        if allowance.may_examine(step):
            allowance.examined(step, 1_000_000)
            looks.append(step)
    assert [step for step in looks if 1500 <= step < 1510] == [1500, 1501, 1502, 1503]
    assert not any(Jumps().sees(loss) for loss in (float("nan"), 1.0, 100.0))  # nothing is known yet


def test_the_last_evaluations_are_looked_at_too() -> None:
    """Of 200 evaluations of 20 batches each, in a training of two seconds."""
    clock, seen = Clock(), []
    allowance = Allowance(clock)
    for evaluation in range(200):
        clock.now += 10_000_000
        looked = 0
        for _ in range(20):
            if allowance.may_evaluate(8 * evaluation):
                allowance.evaluated(200_000)
                looked += 1
        seen.append(looked)
    assert seen[0] == 20 and all(looked > 0 for looked in seen[:8])
    late = [evaluation for evaluation, looked in enumerate(seen) if looked > 0 and evaluation >= 150]
    assert len(late) >= 2
    assert sum(seen) * 200_000 <= 0.15 * (START_SECONDS * 1e9 + SHARE * clock.now) + 200_000


@pytest.mark.parametrize("step_ns", [1_000_000, 100_000_000])
def test_the_allowance_holds(step_ns: int) -> None:
    """Also for steps of a millisecond: looks cost 30 µs, full examinations 4 ms."""
    clock = Clock()
    allowance = Allowance(clock)
    for step in range(60_000_000_000 // step_ns):
        if allowance.may_examine(step):
            cost = 4_000_000
            allowance.examined(step, cost)
        elif allowance.may_look(step):
            cost = 30_000
            allowance.looked(cost)
        else:
            cost = 0
        clock.now += step_ns + cost
    allowed = START_SECONDS * 1e9 + SHARE * clock.now
    assert allowance.spent_ns <= allowed + 4_000_000
    assert allowance.spent_ns > 0.05 * allowed  # and it is used


def test_a_second_training_has_time_of_its_own() -> None:
    clock = iter(range(0, 10**12, 1000))
    allowed = Allowance(lambda: next(clock))
    for step in range(2000):
        if allowed.may_examine(step):
            allowed.examined(step, 5_000_000)
    spent = allowed.spent_ns
    allowed.begin_again(2000)
    assert sum(1 for step in range(2000, 2010) if allowed.may_examine(step) and not allowed.examined(step, 5_000_000)) > 5
    for step in range(2010, 4000):
        if allowed.may_examine(step):
            allowed.examined(step, 5_000_000)
    assert allowed.spent_ns - spent <= 1e9 * SECOND_SECONDS


def test_where_looks_are_dear_each_granted_training_has_its_first_ones() -> None:
    clock = Clock()
    allowance = Allowance(clock)

    def fulls(first: int) -> int:
        count = 0
        for step in range(first, first + 100):
            clock.now += 1_000_000
            if allowance.may_examine(step):
                allowance.examined(step, 100_000_000)
                count += 1
        return count

    assert fulls(0) == 2
    allowance.begin_again(100)
    assert fulls(100) == 4
    allowance.begin_again(200)  # too soon: whoever trains hundreds of models pays for few of them
    assert fulls(200) == 0
    clock.now += 3_000_000_000
    allowance.begin_again(300)
    assert fulls(300) == 4
