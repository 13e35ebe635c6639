"""TensorNumbers: under which number each tensor is saved, and what is saved of it number by number."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
import trainwarden

from .collection import Collection
from .recording import Recording
from .utils import match_inc

PRODUCT = "prod"


class TensorNumbers:
    """Of an open recording.

    Arguments:
        collections: those that are saved. They get the names of their tensors. Statistics do not give a product, so
            where one is asked for, all that is asked for is computed and saved number by number.
    """

    def __init__(self, recording: Recording, collections: Iterable[Collection] = ()) -> None:
        self._core = recording.core
        self._collections = list(collections)
        self._ids: dict[str, int] = {}
        self._requested: dict[int, list[tuple[str, bool]]] = {}  # reductions that are saved number by number

    def has_use_for(self, name: str) -> bool:
        """Is it in any collection?"""
        return any(_has(collection, name) for collection in self._collections)

    def declare(self, name: str) -> int:
        """The tensor's number."""
        tensor_id = self._ids.get(name)
        if tensor_id is None:
            of = [collection for collection in self._collections if _has(collection, name)]
            # By name, too: a collection may have got the tensor after the run was opened.
            tensor_id = self._ids[name] = self._core.declare(name, [collection.name for collection in of])
            self._take_in(name, tensor_id, of)
        return tensor_id

    def _take_in(self, name: str, tensor_id: int, collections: Iterable[Collection]) -> None:
        requested: dict[tuple[str, bool], None] = {}
        for collection in collections:
            collection.add_tensor_name(name)
            reductions = collection.reduction_config
            requested.update(dict.fromkeys(reductions.requested() if reductions is not None else ()))
        if any(reduction == PRODUCT for reduction, _ in requested):
            self._requested[tensor_id] = list(requested)

    def wants(self, tensor_id: int) -> bool:
        return self._core.wants(tensor_id)

    def requests_numbers(self, tensor_id: int) -> bool:
        return tensor_id in self._requested

    def save_numbers(self, tensor_id: int, array: Any) -> None:
        """What is saved number by number, of an array of NumPy's."""
        if tensor_id in self._requested and array.size > 0:
            self._core.save_reductions(tensor_id, _reductions_of(array, self._requested[tensor_id]))


def _has(collection: Collection, name: str) -> bool:
    return collection.has_tensor_name(name) or match_inc(name, collection.include_regex)


def _reductions_of(array: Any, requested: Iterable[tuple[str, bool]]) -> list[tuple[str, bool, float]]:
    """Name, whether of the absolute value, and value."""
    statistics = trainwarden.compute_statistics(array)
    values = []
    for name, is_abs in requested:
        if name == PRODUCT:
            value = float(np.prod(np.abs(array) if is_abs else array, dtype=np.float64))
        else:
            value = statistics.reduction(name, is_abs)
        values.append((name, is_abs, value))
    return values
