"""Standardised: how many features of samples have a mean of 0 and a deviation of 1, exactly: they were prepared by their
own statistics."""

from __future__ import annotations

from typing import Optional

import torch

from .numbers import Numbers

_FEATURES = 48
_MAX_CALLS = 256
_MIN_SAMPLES = 32
# A batch of more is left alone, with all others: a part of them says nothing, and all would take milliseconds.
_MAX_ELEMENTS = 1 << 18
# Far less than what the mean of samples that others were standardised with is off by.
_EXACT = 1e-4


class Standardised:
    """Over all batches of shape [samples, features] that it sees."""

    def __init__(self) -> None:
        self._calls = 0
        self._samples = 0
        self._sums: Optional[torch.Tensor] = None  # of values, and of their squares
        self._is_left = False  # not all of them were looked at

    def see(self, value: torch.Tensor) -> None:
        if value.dim() != 2 or value.shape[1] < 2 or not value.is_floating_point() or self._calls == _MAX_CALLS:
            return
        some = value.detach()[:, :: -(-value.shape[1] // _FEATURES)]
        is_like_others = self._sums is None or self._sums.shape[1] == some.shape[1]
        if self._is_left or some.numel() > _MAX_ELEMENTS or not is_like_others:
            self._is_left = True
            return
        rows = some.double()
        sums = torch.stack([rows.sum(dim=0), rows.square().sum(dim=0)])
        self._calls += 1
        self._samples += rows.shape[0]
        self._sums = sums if self._sums is None else self._sums + sums

    def add(self, numbers: Numbers, name: str) -> None:
        """`name`: samples, features that are standardised exactly, features that vary."""
        if self._sums is None or self._is_left or self._calls == _MAX_CALLS or self._samples < _MIN_SAMPLES:
            return
        mean, square = self._sums / self._samples
        deviation = (square - mean.square()).clamp(min=0).sqrt()
        # Some divide by the deviation of the samples, some by that of what they are drawn from.
        is_unit = (deviation - 1).abs() <= _EXACT + 1 / self._samples
        is_exact = is_unit & (mean.abs() <= _EXACT)
        samples = mean.new_tensor(float(self._samples))
        numbers.add(name, torch.stack([samples, is_exact.double().sum(), (deviation > _EXACT).double().sum()]))
