"""Parameters: weights, gradients and running statistics of what a Trainer trains, under Gluon's names."""

from __future__ import annotations

import weakref
from collections.abc import Iterator
from typing import Any

from ..hook import Hook
from .layers import Held

_RUNNING = ("running_mean", "running_var", "moving_mean", "moving_var")


class _Slot:
    """One parameter, and its numbers in the hook."""

    def __init__(self, hook: Hook, parameter: Any) -> None:
        self.parameter = parameter
        self.is_running = parameter.name.endswith(_RUNNING)
        self.weight = hook.declare(parameter.name, ["buffers"] if self.is_running else [])
        self.gradient = -1 if parameter.grad_req == "null" else hook.declare(f"gradient/{parameter.name}")


class Parameters:
    """Of all trainers."""

    def __init__(self, hook: Hook) -> None:
        self._hook = hook
        self._slots: weakref.WeakKeyDictionary[Any, list[_Slot]] = weakref.WeakKeyDictionary()
        self._ids: weakref.WeakKeyDictionary[Any, list[int]] = weakref.WeakKeyDictionary()

    def wanted(self, trainer: Any) -> Iterator[Held]:
        """What is wanted of a trainer that is about to update, of the first of several devices."""
        slots = self._of(trainer)
        if any(map(self._hook.wants, self._ids[trainer])):
            for slot in slots:
                yield from self._of_slot(slot)

    def declare(self, trainer: Any) -> None:
        """Before the first step is asked about, so that the hook knows what there is."""
        self._of(trainer)

    def _of(self, trainer: Any) -> list[_Slot]:
        slots = self._slots.get(trainer)
        if slots is None:
            slots = self._slots[trainer] = [_Slot(self._hook, parameter) for parameter in trainer._params]
            numbers = (number for slot in slots for number in (slot.weight, slot.gradient))
            self._ids[trainer] = [number for number in numbers if number >= 0]
        return slots

    def _of_slot(self, slot: _Slot) -> Iterator[Held]:
        parameter, wants = slot.parameter, self._hook.wants
        is_trained = parameter.grad_req != "null" and slot.gradient >= 0
        if parameter._data is None or parameter._stype != "default" or not (is_trained or slot.is_running):
            return  # not initialised, or on the servers of a store, or frozen: that never changes
        if wants(slot.weight):
            yield slot.weight, parameter.list_data()[0]
        # One that no backward pass has reached has the gradient of an earlier step.
        if is_trained and wants(slot.gradient) and parameter.list_data()[0]._fresh_grad:
            yield slot.gradient, parameter.list_grad()[0]
