"""Losses of an accelerator, whose events a fake one passes when the test says so."""

from __future__ import annotations

from typing import Optional

import pytest
import torch
from trainwarden.torch.examination.late_losses import LateLosses


class Accelerator:
    def __init__(self) -> None:
        self.recorded = 0
        self.passed = 0

    def event(self) -> "Event":
        return Event(self)


class Event:
    def __init__(self, accelerator: Accelerator) -> None:
        self.accelerator = accelerator
        self.number: Optional[int] = None

    def record(self) -> None:
        self.accelerator.recorded += 1
        self.number = self.accelerator.recorded

    def query(self) -> bool:
        assert self.number is not None
        return self.number <= self.accelerator.passed


def loss(value: float) -> torch.Tensor:
    return torch.tensor([value], dtype=torch.float64, requires_grad=True)


def test_losses_come_in_order_once_the_accelerator_is_done_with_them() -> None:
    accelerator = Accelerator()
    late = LateLosses(accelerator.event)
    assert late.exchange(loss(1.0)) == []
    assert late.exchange(loss(2.0)) == []
    accelerator.passed = 1
    assert late.exchange(loss(3.0)) == [1.0]
    accelerator.passed = 3
    assert late.exchange(loss(float("inf"))) == [2.0, 3.0]
    accelerator.passed = 4
    assert late.exchange(loss(5.0)) == [float("inf")]


def test_an_accelerator_far_behind_is_not_waited_for() -> None:
    accelerator = Accelerator()
    late = LateLosses(accelerator.event)
    assert all(late.exchange(loss(float(number))) == [] for number in range(100))
    accelerator.passed = 100
    assert late.exchange(loss(100.0)) == [float(number) for number in range(16)]  # the others were left out
    accelerator.passed = 1000
    assert late.exchange(loss(101.0)) == [100.0]  # places are used again


def test_a_failed_accelerator_is_left_alone() -> None:
    asked = []

    def fails() -> Event:
        asked.append(1)
        raise RuntimeError("the device is lost")

    late = LateLosses(fails)
    assert late.exchange(loss(1.0)) == [] and late.is_broken
    assert late.exchange(loss(2.0)) == [] and len(asked) == 1


def test_a_loss_that_is_on_no_accelerator_is_not_sent() -> None:
    late = LateLosses()
    assert late.exchange(loss(1.0)) == [] and not late.is_broken


@pytest.mark.skipif(not torch.cuda.is_available(), reason="this machine has no CUDA device")
def test_losses_of_a_device_come_over() -> None:
    late = LateLosses()
    come = late.exchange(torch.tensor(1.5, device="cuda", dtype=torch.bfloat16))
    for number in range(3):
        torch.cuda.synchronize()
        come += late.exchange(torch.tensor(float(number), device="cuda"))
    assert come == [1.5, 0.0, 1.0]
