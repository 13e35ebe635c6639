"""Tensors of torch on their way into the run: under which number, in which form."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import torch
import trainwarden
from trainwarden.torch.bridge import Bridge, Group

from ..core.collection import Collection
from ..core.recording import Recording
from ..core.tensor_numbers import PRODUCT, TensorNumbers


class TensorWriter(TensorNumbers):
    """Saves tensors into an open recording. Each is read where it lies, and may be changed after the call."""

    def __init__(self, recording: Recording, collections: Iterable[Collection] = ()) -> None:
        super().__init__(recording, collections)
        self._bridge = Bridge(recording.core)

    @property
    def group(self) -> Group:
        """A with block whose tensors on a GPU are read together."""
        return self._bridge.group

    def save(self, tensor_id: int, tensor: Any) -> None:
        """In the forms in which it is wanted now, if it is."""
        if not self._core.wants(tensor_id):
            return
        self._bridge.save(tensor_id, tensor)
        if tensor_id in self._requested and tensor.numel() > 0:
            self._core.save_reductions(tensor_id, _reductions_of(tensor, self._requested[tensor_id]))


def _reductions_of(tensor: Any, requested: Iterable[tuple[str, bool]]) -> list[tuple[str, bool, float]]:
    """Name, whether of the absolute value, and value."""
    plain = tensor.detach()
    statistics = trainwarden.compute_statistics(plain.cpu())
    values = []
    for name, is_abs in requested:
        if name == PRODUCT:
            value = float((plain.abs() if is_abs else plain).to(torch.float64).prod())
        else:
            value = statistics.reduction(name, is_abs)
        values.append((name, is_abs, value))
    return values
