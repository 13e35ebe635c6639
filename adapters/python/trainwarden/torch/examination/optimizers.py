"""Optimizers: which have stepped, which took over the parameters of another one, and to which training each belongs."""

from __future__ import annotations

import weakref
from typing import Optional

import torch
from torch.optim import Optimizer

from ..identity import ByIdentity, IdentitySet
from ..parameters import parameters_in

# New optimizers step without the older ones for so many steps: then those have ended.
_SETTLED = 8
# An older one that goes on after all was only interrupted, as by a probe of what its model has come to. From then on new
# optimizers are another training only when they go on for longer than so many times the longest interruption.
_LONGER = 3


class Optimizers:
    """Of one process. They are told apart by their first parameter."""

    def __init__(self) -> None:
        self.remade = 0  # optimizers that took over parameters of an earlier one
        self._stepped = IdentitySet()
        self._past = IdentitySet()
        self._firsts: weakref.WeakValueDictionary[int, torch.Tensor] = weakref.WeakValueDictionary()
        self._is_first = True
        # Those that began since an older one has stepped last, of parameters that none had, and when the first of them did.
        self._fresh = IdentitySet()
        self._fresh_step = 0
        self._settled = _SETTLED
        self._began = 0  # step of the current training, unless it has gone on
        self._trainings: ByIdentity[int] = ByIdentity()
        self._training = self._last_training = 0  # the current one, and the one that began last

    def steps(self, optimizer: Optimizer, step: int) -> Optional[int]:
        """An optimizer steps. The number of the training that has begun with it, or goes on; None: it is the same."""
        if optimizer not in self._stepped:
            self._see_new(optimizer, step)
            return None
        if optimizer in self._past:
            return self._go_on(optimizer, step)
        if not self._fresh:
            return None
        if optimizer not in self._fresh:
            self._end_interruption(step)  # or they train together
            return None
        if not self.has_settled(step):
            return None
        self._past = IdentitySet(each for each in self._stepped if each not in self._fresh)
        self._training = self._last_training = self._last_training + 1
        self._began = step
        for each in self._fresh:
            self._trainings[each] = self._training
        self._fresh.clear()
        return self._training

    def has_stepped(self, optimizer: Optimizer) -> bool:
        return optimizer in self._stepped

    def has_settled(self, step: int) -> bool:
        """Is it another training by now, if the new optimizers have gone on stepping without the older ones?"""
        return bool(self._fresh) and step - self._fresh_step >= self._settled

    def _go_on(self, optimizer: Optimizer, step: int) -> int:
        self._training = self._trainings.get(optimizer, self._training)
        self._settled += 1  # it is known now that there are some
        self._end_interruption(step)
        self._past = IdentitySet(each for each in self._past if self._trainings.get(each) != self._training)
        return self._training

    def _end_interruption(self, step: int) -> None:
        if self._settled > _SETTLED:
            self._settled = max(self._settled, _LONGER * (step - self._fresh_step))
        self._fresh.clear()

    def is_past(self, optimizer: Optimizer) -> bool:
        """Is it one of a training that has ended?"""
        return optimizer in self._past

    def interrupts(self, optimizer: Optimizer) -> bool:
        """Is it a new one, of another training or one that will be gone when this one goes on? Those of one training begin
        with its first steps."""
        is_late = self._fresh_step - self._began >= _SETTLED or self._settled > _SETTLED
        return is_late and optimizer in self._fresh

    def _see_new(self, optimizer: Optimizer, step: int) -> None:
        self._stepped.add(optimizer)
        self._trainings[optimizer] = self._training
        first = next(iter(parameters_in(optimizer)), None)
        if first is None:
            return
        if self._firsts.get(id(first)) is first:
            self.remade += 1
        elif not self._is_first:
            self._fresh_step = self._fresh_step if self._fresh else step
            self._fresh.add(optimizer)
        self._is_first = False
        self._firsts[id(first)] = first
