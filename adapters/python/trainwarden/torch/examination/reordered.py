"""Reordered: whether the model's input and the loss's target have the samples in the order in which the loader gave them."""

from __future__ import annotations

import math
from typing import Any, Optional

import torch

from .batches import prints_of, tensors_in
from .numbers import Numbers, is_measurable

_MAX_TENSORS = 4
_MIN_SAMPLES = 8
_MAX_ELEMENTS = 1 << 20


class Reordered:
    """Of one step; of batches in the memory of the processor. The first batch of the step counts."""

    def __init__(self) -> None:
        self._drawn: Optional[list[torch.Tensor]] = None
        self._input = self._target = math.nan

    def drawn(self, batch: Any) -> None:
        """A data loader has given this."""
        if self._drawn is None:
            found = [each for each in tensors_in(batch) if _is_comparable(each)]
            self._drawn = [each.detach() for each in found[:_MAX_TENSORS]]

    def see_input(self, value: torch.Tensor) -> None:
        self._input = self._order_of(value)

    def see_target(self, value: torch.Tensor) -> None:
        self._target = self._order_of(value)

    def _order_of(self, value: torch.Tensor) -> float:
        """0: as in a tensor of the batch; 1: the same samples in another order; NaN: neither."""
        if not self._drawn or not _is_comparable(value):
            return math.nan
        alike = [each for each in self._drawn if each.shape == value.shape and each.dtype == value.dtype]
        if any(torch.equal(each, value) for each in alike):
            return 0.0
        # Of samples that were changed a print may still know them: what masks a part of each keeps their order.
        rows = prints_of(value)
        known = [prints_of(each) for each in alike]
        if any(torch.equal(each, rows) for each in known):
            return 0.0
        return 1.0 if any(torch.equal(each.sort().values, rows.sort().values) for each in known) else math.nan

    def add(self, numbers: Numbers) -> None:
        if not math.isnan(self._input) and not math.isnan(self._target):
            numbers.add("reordered", [self._input, self._target])


def _is_comparable(value: torch.Tensor) -> bool:
    has_samples = is_measurable(value) and value.dim() >= 1 and value.shape[0] >= _MIN_SAMPLES
    return has_samples and value.device.type == "cpu" and 0 < value.numel() <= _MAX_ELEMENTS
