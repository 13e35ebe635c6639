"""Hidden steps: those of optimizers whose step() torch.compile has compiled. Nobody is notified of them, but between a
backward pass and what follows it the parameters have changed. A few of them are looked at."""

from __future__ import annotations

import sys
import weakref
from collections.abc import Iterable
from typing import Any, NamedTuple

import torch
from torch.optim import Optimizer

from .identity import ByIdentity, IdentitySet

# So many parameters of an optimizer are looked at.
_SAMPLE = 4
# An optimizer whose steps were seen before is believed to step unseen after so many such backward passes in a row:
# sharding, averaging and clipping of weights change parameters too.
_DOUBTS = 8


class _Version(NamedTuple):
    """Of a parameter: every change in place counts it up."""

    parameter: weakref.ref[torch.Tensor]
    version: int

    def has_changed(self) -> bool:
        parameter = self.parameter()
        return parameter is not None and parameter._version != self.version


class HiddenSteps:
    """Of all optimizers of a training."""

    def __init__(self) -> None:
        self._versions: ByIdentity[list[_Version]] = ByIdentity()
        self._seen: ByIdentity[int] = ByIdentity()  # since then: unseen changes
        self._hidden = IdentitySet()
        self._passes = 0  # backward passes in this step
        self._passes_before = 0  # and in the one before

    def suspects(self, optimizers: Iterable[Optimizer]) -> bool:
        """May one of these step unseen, if anything was compiled?"""
        return any(self._seen.get(each, 1) > 0 for each in optimizers)

    def saw_step(self, optimizer: Optimizer) -> None:
        """Somebody was notified of it."""
        self._seen[optimizer] = 0
        self._hidden.discard(optimizer)
        self._versions.pop(optimizer)

    def saw_backward(self, optimizers: Iterable[Optimizer]) -> None:
        """A backward pass has ended."""
        self._passes += 1
        may_be_hidden = has_compiled()
        for each in optimizers:
            if may_be_hidden or each not in self._seen:
                self._versions[each] = _versions_of(each)

    def taken(self) -> list[Optimizer]:
        """The optimizers that have stepped unseen since the last backward pass."""
        if not has_compiled():
            return []
        changed = [each for each, sample in self._versions.items() if sample and all(v.has_changed() for v in sample)]
        found = [each for each in changed if self._is_believed(each)]
        for each in changed:
            self._versions.pop(each)
        if found:
            self._hidden.update(found)
            self._passes_before, self._passes = self._passes, 0
        return found

    def _is_believed(self, optimizer: Optimizer) -> bool:
        if optimizer not in self._seen:
            # One that lets another one step is not called itself.
            return not any(_share_parameters(optimizer, other) for other in self._seen)
        unseen = int(self._seen.get(optimizer, 0)) + 1
        self._seen[optimizer] = unseen
        return unseen > _DOUBTS

    def with_whole_gradients(self) -> list[Optimizer]:
        """A backward pass has ended: the optimizers that will now step unseen. None while gradients are added up over
        several passes, of which nobody knows which is the last."""
        return list(self._hidden) if self._passes_before == 1 and self._passes == 1 else []


def has_compiled() -> bool:
    """Has torch.compile looked at any function of this program?"""
    utils: Any = sys.modules.get("torch._dynamo.utils")
    return utils is not None and bool(getattr(utils, "counters", {}).get("frames"))


def _share_parameters(one: Optimizer, other: Optimizer) -> bool:
    return any(first["params"] and second["params"] and first["params"][0] is second["params"][0]
               for first, second in zip(one.param_groups, other.param_groups))  # fmt: skip


def _versions_of(optimizer: Optimizer) -> list[_Version]:
    sample: list[_Version] = []
    for group in optimizer.param_groups:
        for parameter in group["params"]:
            if parameter.grad is not None:
                sample.append(_Version(weakref.ref(parameter), parameter._version))
                if len(sample) == _SAMPLE:
                    return sample
    return sample
