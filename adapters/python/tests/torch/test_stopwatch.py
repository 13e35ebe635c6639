"""The stopwatch and the phases of a step, by a clock of the test's own: every nanosecond is in exactly one phase."""

from __future__ import annotations

import random
from typing import Any, Optional

import pytest

from trainwarden.torch.phases import Phases
from trainwarden.torch.stopwatch import CAPTURE, REST, Stopwatch
from trainwarden.torch.waits import Waits

SECOND = 1_000_000_000


class Clock:
    """Gives what the test says, and how much of it was ours."""

    def __init__(self) -> None:
        self.now = 1000 * SECOND
        self.ours = 0

    def __call__(self) -> int:
        return self.now

    def captured(self) -> int:
        return self.ours

    def passes(self, nanoseconds: int) -> None:
        self.now += nanoseconds

    def captures(self, nanoseconds: int) -> None:
        self.now += nanoseconds
        self.ours += nanoseconds


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def watch(clock: Clock) -> Stopwatch:
    return Stopwatch(clock, clock.captured)


def test_the_innermost_gets_the_time(clock: Clock, watch: Stopwatch) -> None:
    clock.passes(1)
    watch.begin("optimizer")  # whose closure computes gradients
    clock.passes(2)
    watch.begin("forward")
    clock.passes(3)
    watch.begin("data_wait")
    clock.passes(4)
    watch.end("data_wait")
    clock.passes(5)
    watch.end("forward")
    watch.begin("backward")
    clock.passes(6)
    watch.end("backward")
    clock.passes(7)
    watch.end("optimizer")
    clock.passes(8)
    assert watch.take() == {REST: 9, "optimizer": 9, "forward": 8, "data_wait": 4, "backward": 6}
    assert watch.take() == {}


def test_what_listeners_took_is_nobody_elses(clock: Clock, watch: Stopwatch) -> None:
    clock.captures(1)
    watch.begin("forward")
    clock.passes(10)
    clock.captures(5)
    watch.end("forward")
    clock.captures(2)
    assert watch.take() == {CAPTURE: 8, "forward": 10}


def test_a_loss_that_a_model_computes_belongs_to_its_call(clock: Clock, watch: Stopwatch) -> None:
    watch.begin("forward")
    watch.begin("loss")
    clock.passes(3)
    watch.end("loss")
    clock.passes(1)
    watch.end("forward")
    watch.begin("loss")
    clock.passes(5)
    watch.begin("forward")  # a model that a loss is computed with
    clock.passes(2)
    watch.end("forward")
    watch.end("loss")
    assert watch.take() == {"forward": 6, "loss": 5}


def test_what_an_exception_left_open_ends_with_what_is_around_it(clock: Clock, watch: Stopwatch) -> None:
    watch.begin("forward")
    watch.begin("data_wait")
    clock.passes(1)
    watch.end("forward")
    clock.passes(2)
    watch.end("data_wait")  # comes too late
    watch.begin("backward")
    clock.passes(4)
    assert watch.take() == {"data_wait": 1, REST: 2, "backward": 4}
    clock.passes(8)
    assert watch.take() == {REST: 8}


def test_a_thousand_within_each_other(clock: Clock, watch: Stopwatch) -> None:
    for _ in range(1000):
        watch.begin("forward")
        clock.passes(1)
    for _ in range(1000):
        watch.end("forward")
        clock.passes(1)
    spent = watch.take()
    assert (sum(spent.values()), len(watch._open)) == (2000, 0)


def test_any_order_of_calls_sums_to_the_wall_time(clock: Clock, watch: Stopwatch) -> None:
    rng = random.Random(3)
    names = ["forward", "loss", "backward", "data_wait", "optimizer"]
    for _ in range(200):
        began = clock.now
        for _ in range(rng.randrange(60)):
            rng.choice((watch.begin, watch.end))(rng.choice(names))
            rng.choice((clock.passes, clock.captures))(rng.randrange(1000))
            if rng.random() < 0.1:
                clock.ours -= rng.randrange(500)  # a checkpoint is taken off the bill
            if rng.random() < 0.1:
                watch.move(rng.randrange(500), "checkpoint", REST, CAPTURE)
        spent = watch.take()
        assert sum(spent.values()) == clock.now - began
        assert all(value >= 0 for value in spent.values())


class FakeHook:
    """Keeps the scalars of the step that is open."""

    def __init__(self) -> None:
        self.mode_step = 0
        self.global_step = 0
        self.saved: dict[str, float] = {}

    def save_scalar(self, name: str, value: float) -> None:
        self.saved[name] = value

    def save_step_times(self) -> None:
        """It measures them itself."""


class Training:
    """Phases of a training of which the test says how it goes."""

    def __init__(self, clock: Clock) -> None:
        self.clock, self.hook, self.waits = clock, FakeHook(), Waits()
        self.phases = Phases(self.hook, clock, clock.captured, self.waits)
        self.modes = {"train": 0, "eval": 0}
        self.mode: Optional[str] = None

    def enter(self, mode: str, is_idle: bool = False) -> None:
        if self.mode is not None:
            self.phases.leave_mode(self.hook.mode_step)
            self.modes[self.mode] = self.hook.mode_step
        self.mode, self.hook.mode_step = mode, self.modes[mode]
        self.phases.begin_step(mode, mode == "train", is_idle)

    def end(self, is_wanted: bool = True) -> dict[str, float]:
        """In seconds, what was written."""
        self.hook.saved = {}
        self.phases.end_step(self.hook.mode_step, is_wanted)
        self.hook.mode_step += 1
        self.phases.begin_step(str(self.mode), self.mode == "train", not is_wanted)
        return self.hook.saved

    def ends_unnoticed(self) -> None:
        self.hook.mode_step += 1

    def waits_for(self, iterator: Any, seconds: int, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("trainwarden.torch.waits._clock", self.clock)
        wait = self.waits.begins(iterator)
        self.clock.passes(seconds * SECOND)
        self.waits.ends(wait)


@pytest.fixture
def training(clock: Clock) -> Training:
    return Training(clock)


def parts(saved: dict[str, float]) -> dict[str, float]:
    return {name[6:]: value for name, value in saved.items() if name.startswith("phase/")}


def test_the_first_step_is_counted_from_the_opening(clock: Clock, training: Training) -> None:
    clock.passes(SECOND)
    training.enter("train")
    clock.passes(2 * SECOND)
    saved = training.end()
    assert parts(saved) == {"rest": 3, "start": 3}
    clock.passes(SECOND)
    assert parts(training.end()) == {"rest": 1, "step": 1}
    assert training.hook.saved["phase_total/steps"] == 2
    assert training.hook.saved["phase_total/wall"] == 4


def test_evaluation_is_charged_to_the_train_step_that_ends_after_it(clock: Clock, training: Training) -> None:
    training.enter("train")
    training.end()
    clock.passes(SECOND)
    training.enter("eval", is_idle=True)
    training.phases.begin("forward")  # is part of it
    clock.passes(5 * SECOND)
    training.phases.end("forward")
    training.phases.begin("checkpoint")
    clock.passes(2 * SECOND)
    training.phases.end("checkpoint")
    clock.captures(3 * SECOND)
    training.enter("train")
    clock.passes(SECOND)
    saved = training.end()
    assert parts(saved) == {"rest": 2, "evaluation": 5, "checkpoint": 2, "capture": 3, "step": 12}
    assert (saved["phase_total/evaluation"], saved["phase_total/checkpoint"]) == (5, 2)


def test_the_wait_for_the_first_batch_belongs_to_what_it_is_for(
    clock: Clock, training: Training, monkeypatch: pytest.MonkeyPatch
) -> None:
    for_training, for_evaluation = object(), object()
    training.enter("train")
    training.end()
    for _ in range(3):
        training.waits_for(for_training, 1, monkeypatch)
    training.waits_for(for_evaluation, 4, monkeypatch)
    training.enter("eval")
    training.waits_for(for_evaluation, 5, monkeypatch)
    training.waits_for(for_training, 2, monkeypatch)
    training.enter("train")
    saved = training.end()
    assert saved["phase_total/data_wait"] == 3 + 2
    assert saved["phase_total/evaluation"] == 4 + 5
    assert parts(saved) == {"rest": 3, "evaluation": 9, "data_wait": 2, "step": 14}


def test_steps_that_nobody_looks_at_count_in_the_totals(
    clock: Clock, training: Training, monkeypatch: pytest.MonkeyPatch
) -> None:
    iterator = object()
    training.enter("train")
    training.end(is_wanted=False)
    for _ in range(10):
        training.waits_for(iterator, 1, monkeypatch)
        clock.passes(SECOND)
        training.ends_unnoticed()
    clock.passes(SECOND)
    training.end(is_wanted=False)  # so does the one before a step that is written
    clock.passes(SECOND)
    saved = training.end()
    assert parts(saved) == {"rest": 1, "step": 1}
    totals = {name[12:]: value for name, value in saved.items() if name.startswith("phase_total/")}
    assert totals == {"data_wait": 10, "wall": 22, "steps": 13}


def test_an_evaluation_after_steps_that_nobody_looked_at(
    clock: Clock, training: Training, monkeypatch: pytest.MonkeyPatch
) -> None:
    training.enter("train")
    training.end(is_wanted=False)
    for _ in range(10):
        clock.passes(SECOND)
        training.ends_unnoticed()
    training.waits_for(object(), 3, monkeypatch)
    training.enter("eval", is_idle=True)
    clock.passes(4 * SECOND)
    training.enter("train")
    clock.passes(SECOND)
    saved = training.end()
    assert parts(saved) == {"rest": 1, "evaluation": 7, "step": 8}
    assert (saved["phase_total/evaluation"], saved["phase_total/steps"]) == (7, 12)
    assert "phase_total/data_wait" not in saved


def test_a_checkpoint_on_request_is_no_capture(clock: Clock, training: Training) -> None:
    training.enter("train")
    training.end()
    training.phases.begin("checkpoint")  # torch.save, called by a listener of ours
    clock.captures(4 * SECOND)
    training.phases.end("checkpoint")
    clock.captures(1 * SECOND)
    clock.ours -= 5 * SECOND
    training.phases.saved(5 * SECOND)
    clock.passes(SECOND)
    assert parts(training.end()) == {"rest": 1, "checkpoint": 5, "step": 6}
