"""Optimizers: which have stepped, which took over the parameters of another one, and when another training has begun."""

from __future__ import annotations

import weakref

import torch
from torch.optim import Optimizer

from ..parameters import parameters_in

# New optimizers step without the older ones for so many steps: then those have ended.
_SETTLED = 8


class Optimizers:
    """Of one process. They are told apart by their first parameter."""

    def __init__(self) -> None:
        self.remade = 0  # optimizers that took over parameters of an earlier one
        self._stepped: weakref.WeakSet[Optimizer] = weakref.WeakSet()
        self._past: weakref.WeakSet[Optimizer] = weakref.WeakSet()
        self._firsts: weakref.WeakValueDictionary[int, torch.Tensor] = weakref.WeakValueDictionary()
        self._is_first = True
        # Those that began since an older one has stepped last, of parameters that none had, and when the first of them did.
        self._fresh: weakref.WeakSet[Optimizer] = weakref.WeakSet()
        self._fresh_step = 0

    def steps(self, optimizer: Optimizer, step: int) -> bool:
        """An optimizer steps. Has another training begun?"""
        if optimizer not in self._stepped:
            self._see_new(optimizer, step)
            return False
        if not self._fresh:
            return False
        if optimizer not in self._fresh:
            self._fresh.clear()  # an older one goes on: they train together
            return False
        if step - self._fresh_step < _SETTLED:
            return False
        self._past = weakref.WeakSet(each for each in self._stepped if each not in self._fresh)
        self._fresh.clear()
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
            self._fresh_step = self._fresh_step if self._fresh else step
            self._fresh.add(optimizer)
        self._is_first = False
        self._firsts[id(first)] = first
