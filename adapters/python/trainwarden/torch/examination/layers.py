"""Layers: what the modules of a model give in one forward pass, as a few numbers each."""

from __future__ import annotations

from typing import Any

import torch

from ..contents import is_tensor
from .batches import tensors_in
from .numbers import Numbers, is_measurable

_MAX_LAYERS = 256
_ELEMENTS = 4096


class Layers:
    """Of one step. A module that is called several times counts by its first call."""

    def __init__(self) -> None:
        self.names: list[str] = []
        self._rows: list[torch.Tensor] = []
        self._seen: set[int] = set()
        self._axes: list[float] = []

    def see(self, name: str, module: torch.nn.Module, output: Any) -> None:
        if not self._axes and isinstance(module, torch.nn.RNNBase):
            self._note_axes(module, output)
        if id(module) in self._seen or len(self._rows) >= _MAX_LAYERS:
            return
        value = next((each for each in tensors_in(output) if is_measurable(each) and each.is_floating_point()), None)
        if value is None or value.numel() == 0:
            return
        self._seen.add(id(module))
        self.names.append(name)
        self._rows.append(_describe(value))

    def _note_axes(self, module: torch.nn.RNNBase, output: Any) -> None:
        """Of the first recurrent layer: does it take the batch first, and the first two sizes of what it gives."""
        first = output[0] if isinstance(output, tuple) and output else None
        if is_tensor(first) and first.dim() == 3:
            self._axes = [float(module.batch_first), float(first.shape[0]), float(first.shape[1])]

    def add(self, numbers: Numbers) -> None:
        if self._axes:
            numbers.add("recurrent_axes", self._axes)
        if self._rows:
            numbers.add("layers", torch.stack(self._rows))


def _describe(value: torch.Tensor) -> torch.Tensor:
    """Mean, standard deviation, share of zeros, largest absolute value, share beyond 0.99 of that of a sigmoid or tanh,
    how far the samples differ as a share of the standard deviation, mean cosine between samples, share of units that are
    zero for all samples."""
    samples = value.shape[0] if value.dim() > 1 else 1
    rows = value.detach().reshape(samples, -1)[:32]
    limit = max(1, _ELEMENTS // rows.shape[0])
    if rows.shape[1] > limit:
        rows = rows[:, :: -(-rows.shape[1] // limit)]
    rows = torch.nan_to_num(rows.float(), 0.0, 3e38, -3e38)
    zeros = (rows == 0).float()
    std = rows.std(unbiased=False)
    size = rows.abs()
    spread = rows.std(dim=0, unbiased=False).mean() if rows.shape[0] > 1 else std
    unit = rows / (rows.norm(dim=1, keepdim=True) + 1e-12)
    count = rows.shape[0]
    cosine = (unit.sum(dim=0).square().sum() - count) / (count * (count - 1)) if count > 1 else std * 0
    return torch.stack([rows.mean(), std, zeros.mean(), size.max(), (size > 0.99).float().mean(),
                        spread / (std + 1e-12), cosine, (zeros.mean(dim=0) == 1).float().mean()])  # fmt: skip
