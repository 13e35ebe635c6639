"""Tensors of torch on their way into the run: under which number, in which form."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import torch
import trainwarden
from trainwarden.torch.bridge import Bridge, Group

from ..core.collection import Collection
from ..core.recording import Recording
from ..core.utils import match_inc

_PRODUCT = "prod"


class TensorWriter:
    """Saves tensors into an open recording. Each is read where it lies, and may be changed after the call.

    Arguments:
        collections: those that are saved. They get the names of their tensors. Statistics do not give a product, so
            where one is asked for, all that is asked for is computed and saved number by number.
    """

    def __init__(self, recording: Recording, collections: Iterable[Collection] = ()) -> None:
        self._recording = recording
        self._core = recording.core
        self._bridge = Bridge(recording.core)
        self._collections = list(collections)
        self._ids: dict[str, int] = {}
        self._requested: dict[int, list[tuple[str, bool]]] = {}  # reductions that are saved number by number

    @property
    def group(self) -> Group:
        """A with block whose tensors on a GPU are read together."""
        return self._bridge.group

    def declare(self, name: str) -> int:
        """The tensor's number."""
        tensor_id = self._ids.get(name)
        if tensor_id is None:
            tensor_id = self._ids[name] = self._core.declare(name)
            self._take_in(name, tensor_id)
        return tensor_id

    def _take_in(self, name: str, tensor_id: int) -> None:
        requested: dict[tuple[str, bool], None] = {}
        for collection in self._collections:
            if collection.has_tensor_name(name) or match_inc(name, collection.include_regex):
                collection.add_tensor_name(name)
                reductions = collection.reduction_config
                requested.update(dict.fromkeys(reductions.requested() if reductions is not None else ()))
        if any(reduction == _PRODUCT for reduction, _ in requested):
            self._requested[tensor_id] = list(requested)

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
        if name == _PRODUCT:
            value = float((plain.abs() if is_abs else plain).to(torch.float64).prod())
        else:
            value = statistics.reduction(name, is_abs)
        values.append((name, is_abs, value))
    return values
