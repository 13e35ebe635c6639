"""Arrays of MXNet on their way into the run: under which number, in which form."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
import trainwarden
from trainwarden.mxnet.arrays import ArraySaver

from ..core.collection import Collection
from ..core.recording import Recording
from ..core.utils import match_inc

_PRODUCT = "prod"


class TensorWriter:
    """Saves arrays into an open recording. Each may be changed after the call.

    Arguments:
        collections: those that are saved. They get the names of their tensors. Statistics do not give a product, so
            where one is asked for, all that is asked for is computed and saved number by number.
    """

    def __init__(self, recording: Recording, collections: Iterable[Collection] = ()) -> None:
        self._core = recording.core
        self._saver = ArraySaver(recording.core)
        self._collections = list(collections)
        self._ids: dict[str, int] = {}
        self._requested: dict[int, list[tuple[str, bool]]] = {}  # reductions that are saved number by number

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

    def wants(self, tensor_id: int) -> bool:
        return self._core.wants(tensor_id)

    def save(self, tensor_id: int, array: Any) -> None:
        """In the forms in which it is wanted now. It is computed already: who calls has waited."""
        self._saver.save(tensor_id, array)
        if tensor_id in self._requested and array.size > 0:
            self._core.save_reductions(tensor_id, _reductions_of(array.asnumpy(), self._requested[tensor_id]))


def _reductions_of(array: Any, requested: Iterable[tuple[str, bool]]) -> list[tuple[str, bool, float]]:
    """Name, whether of the absolute value, and value."""
    statistics = trainwarden.compute_statistics(array)
    values = []
    for name, is_abs in requested:
        if name == _PRODUCT:
            value = float(np.prod(np.abs(array) if is_abs else array, dtype=np.float64))
        else:
            value = statistics.reduction(name, is_abs)
        values.append((name, is_abs, value))
    return values
