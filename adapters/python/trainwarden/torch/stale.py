"""Stale gradients: does an optimizer find gradients again that it has used already? A few parameters are looked at."""

from __future__ import annotations

import weakref
from typing import Optional

import torch
from torch.optim import Optimizer

from .identity import ByIdentity

# So many parameters of an optimizer are looked at.
_SAMPLE = 4


class _Used:
    """A gradient that the optimizer has used: where it lay, and its version, which every change in place counts up."""

    def __init__(self, parameter: torch.Tensor, gradient: torch.Tensor) -> None:
        self._parameter = weakref.ref(parameter)
        self._place = (gradient.data_ptr(), gradient._version)

    def follow(self) -> None:
        """A backward pass has added to it."""
        parameter = self._parameter()
        gradient = parameter.grad if parameter is not None else None
        if gradient is not None:
            self._place = (gradient.data_ptr(), gradient._version)

    def is_unchanged(self) -> bool:
        parameter = self._parameter()
        gradient = parameter.grad if parameter is not None else None
        return gradient is not None and (gradient.data_ptr(), gradient._version) == self._place

    def is_zero(self) -> bool:
        """Zeroed behind the version's back, as `p.grad.data.zero_()` does. On an accelerator this waits for it."""
        parameter = self._parameter()
        return parameter is None or parameter.grad is None or not bool(parameter.grad.any())


class _Sample:
    """Of the gradients of one optimizer."""

    def __init__(self, used: list[_Used], step: int) -> None:
        self.used = used
        self.step = step  # that used them
        self.is_renewed = False  # the gradients were zeroed or taken away
        self.stale = 0  # parameters whose used gradients were still there at the last backward pass


class StaleGradients:
    """Of all optimizers of a training."""

    def __init__(self) -> None:
        self._samples: ByIdentity[_Sample] = ByIdentity()
        self._since = self._last = 0  # steps that were looked at one after the other

    def see_zeroed(self, owner: object) -> None:
        """zero_grad() of an optimizer or a module was called."""
        for optimizer, sample in self._samples.items():
            if optimizer is owner or not any(used.is_unchanged() for used in sample.used):
                sample.is_renewed = True

    def see_backward(self) -> bool:
        """A backward pass begins. Were gradients zeroed or taken away without a call that we saw?"""
        found = False
        for sample in self._samples.values():
            if sample.is_renewed or not sample.used:
                continue
            unchanged = [used for used in sample.used if used.is_unchanged()]
            sample.stale = sum(not used.is_zero() for used in unchanged)
            sample.is_renewed = sample.stale == 0
            found = found or sample.is_renewed
        return found

    def see_backward_end(self) -> None:
        """What it has added to is no less stale at the next one of an accumulation. Gradients that it has
        left as they were are another model's, or those of master weights in another precision, which are assigned."""
        for sample in self._samples.values():
            if sample.stale == 0 or sample.is_renewed:
                continue
            if all(used.is_unchanged() for used in sample.used):
                sample.stale = 0
            for used in sample.used:
                used.follow()

    def see_step(self, optimizer: Optimizer, step: int) -> Optional[int]:
        """The optimizer steps: how many of its parameters that were looked at still had a used gradient? None: it has
        not stepped before, or not all steps since were looked at. Others may have stepped meanwhile."""
        self._look_at(step)
        sample = self._samples.get(optimizer)
        if sample is None or not sample.used or sample.step < self._since:
            return None
        return 0 if sample.is_renewed else sample.stale

    def _look_at(self, step: int) -> None:
        if step > self._last + 1:
            self._since = step
        self._last = step

    def remember(self, optimizer: Optimizer, step: int) -> None:
        """The optimizer has stepped."""
        self._look_at(step)
        used: list[_Used] = []
        for group in optimizer.param_groups:
            for parameter in group["params"]:
                gradient = parameter.grad
                if gradient is not None and gradient.layout is torch.strided and not gradient.is_meta:
                    used.append(_Used(parameter, gradient))
                    if len(used) == _SAMPLE:
                        break
            if len(used) == _SAMPLE:
                break
        self._samples[optimizer] = _Sample(used, step)
