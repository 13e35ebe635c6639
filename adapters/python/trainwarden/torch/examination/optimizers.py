"""Optimizers: which have stepped, which took over the parameters of another one, and when another training has begun."""

from __future__ import annotations

import weakref
from typing import Optional

import torch
from torch.optim import Optimizer

from ..parameters import parameters_in

# A new optimizer steps alone for so many steps: then those before it have ended.
_SETTLED = 8


class Optimizers:
    """Of one process. They are told apart by their first parameter."""

    def __init__(self) -> None:
        self.remade = 0  # optimizers that took over parameters of an earlier one
        self._stepped: weakref.WeakSet[Optimizer] = weakref.WeakSet()
        self._past: weakref.WeakSet[Optimizer] = weakref.WeakSet()
        self._firsts: weakref.WeakValueDictionary[int, torch.Tensor] = weakref.WeakValueDictionary()
        self._is_first = True
        self._fresh: Optional[weakref.ref[Optimizer]] = None  # the newest, of parameters that none had
        self._fresh_step = 0

    def steps(self, optimizer: Optimizer, step: int) -> bool:
        """An optimizer steps. Has another training begun?"""
        if optimizer not in self._stepped:
            self._see_new(optimizer, step)
            return False
        if self._fresh is None:
            return False
        if self._fresh() is not optimizer:
            self._fresh = None  # an older one goes on: they train together
            return False
        if step - self._fresh_step < _SETTLED:
            return False
        self._fresh = None
        self._past = weakref.WeakSet(each for each in self._stepped if each is not optimizer)
        return True

    def is_past(self, optimizer: Optimizer) -> bool:
        """Is it one of a training that has ended?"""
        return optimizer in self._past

    def _see_new(self, optimizer: Optimizer, step: int) -> None:
        self._stepped.add(optimizer)
        first = next(iter(parameters_in(optimizer)), None)
        if first is None:
            return
        if self._firsts.get(id(first)) is first:
            self.remade += 1
        elif not self._is_first:
            self._fresh, self._fresh_step = weakref.ref(optimizer), step
        self._is_first = False
        self._firsts[id(first)] = first
