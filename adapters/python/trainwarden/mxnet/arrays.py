"""Arrays of MXNet on their way into the hook: where they lie, and without a copy where MXNet lends them."""

from __future__ import annotations

import itertools
import time
from collections.abc import Iterator
from typing import Any

from mxnet.base import MXNetError
from mxnet.ndarray import NDArray

from .. import faults
from ..hook import Hook

# Deeper nested inputs and outputs are not looked into, nor more of them.
_MAX_DEPTH = 8
_MAX_ITEMS = 4096


def arrays_in(value: Any) -> Iterator[Any]:
    """The arrays of nested tuples and lists, in order. A block that is being traced has symbols in their place.

    Lists are read as Python keeps them, without a call of the program's code, and each once, wherever it lies.
    """
    waiting, seen = [(value, 0)], set()
    for _ in range(_MAX_ITEMS):
        if not waiting:
            return
        item, depth = waiting.pop()
        if issubclass(type(item), NDArray):
            yield item
            continue
        kind = next((each for each in (tuple, list) if issubclass(type(item), each)), None)
        if kind is not None and depth < _MAX_DEPTH and id(item) not in seen:
            seen.add(id(item))
            inner = itertools.islice(kind.__iter__(item), _MAX_ITEMS)
            waiting += [(each, depth + 1) for each in reversed(list(inner))]


class _Lent:
    """An array that MXNet lends under DLPack's protocol, which it does not know by name."""

    def __init__(self, array: Any) -> None:
        self._capsule = array.to_dlpack_for_read()

    def __dlpack__(self, **_: Any) -> Any:
        return self._capsule

    def __dlpack_device__(self) -> tuple[int, int]:
        return 1, 0  # the memory of the processor


class ArraySaver:
    """Saves arrays that are computed: reading one that is not waits for it."""

    def __init__(self, hook: Hook) -> None:
        self._hook = hook
        self._copied: set[int] = set()  # tensors that MXNet has in a layout of its own, and does not lend
        self._refused: set[int] = set()  # that the hook cannot take

    def save(self, tensor_id: int, array: Any) -> None:
        """Does not raise: an array that cannot be saved is left out, which is said once."""
        if tensor_id in self._refused:
            return
        try:
            begin = time.perf_counter_ns()
            readable = self._readable(tensor_id, array)
            self._hook.add_cost_ns(max(0, time.perf_counter_ns() - begin))
            self._hook.save_tensor(tensor_id, readable)
        except Exception as error:
            self._refused.add(tensor_id)
            faults.say_once(f"an array of type {array.dtype} cannot be captured: {faults.first_line(error)}")

    def _readable(self, tensor_id: int, array: Any) -> Any:
        if array.stype != "default":
            array = array.data  # of a sparse one: the rows, or numbers, that are there
        if array.context.device_type == "cpu" and tensor_id not in self._copied:
            try:
                return _Lent(array)
            except MXNetError:  # a layout of oneDNN's
                self._copied.add(tensor_id)
        return array.asnumpy()
