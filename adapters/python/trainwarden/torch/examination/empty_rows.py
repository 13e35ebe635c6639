"""EmptyRows: samples of which a linear layer gets nothing but zeros, as of the last place of a padded sequence."""

from __future__ import annotations

from typing import Any, Optional

import torch

from .batches import first_tensor
from .numbers import Numbers, is_measurable

_MIN_SAMPLES = 8
_MAX_ELEMENTS = 1 << 20


class EmptyRows:
    """Of one step: the first linear layer that gets some."""

    def __init__(self) -> None:
        self._share: Optional[torch.Tensor] = None

    def see(self, module: torch.nn.Module, args: Any) -> None:
        if not isinstance(module, torch.nn.Linear) or module.in_features < 2:
            return
        value = first_tensor(args)
        if value is None or value.dim() != 2 or not is_measurable(value) or not value.is_floating_point():
            return
        if value.shape[0] < _MIN_SAMPLES or value.numel() > _MAX_ELEMENTS:
            return
        share = (value.detach() == 0).all(dim=1).float().mean()
        self._share = share if self._share is None else torch.maximum(self._share, share)

    def add(self, numbers: Numbers) -> None:
        if self._share is not None:
            numbers.add("empty_rows", self._share)
