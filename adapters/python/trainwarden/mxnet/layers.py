"""Layers: the names under which what goes into a block and what comes out of it are kept."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from mxnet import autograd

from ..hook import Hook
from .arrays import arrays_in
from .kinds import input_kinds, loss_input_kinds, output_kinds, output_kinds_by_index

# An array as it is, by the tensor's number in the hook.
Held = tuple[int, Any]


class Series:
    """`dense0_output_0`, `_1`, ...: the index runs on within a step."""

    def __init__(self, hook: Hook, stem: str, collections: Iterable[str], of_index: tuple[str, ...] = ()) -> None:
        """`of_index`: a further collection for the tensor at each index, or ""."""
        self.known: list[int] = []  # the numbers of its tensors; who has others to look at may share the list
        self._hook = hook
        self._stem = stem
        self._collections = list(collections)
        self._of_index = of_index
        self._ids: list[int] = []
        self._step = -1
        self._index = 0

    def wanted(self, step: int, value: Any) -> Iterator[Held]:
        """The arrays in a nested value that are wanted."""
        for array in arrays_in(value):
            tensor_id = self._id_at(step)
            if self._hook.wants(tensor_id):
                yield tensor_id, array

    def _id_at(self, step: int) -> int:
        if step != self._step:
            self._step, self._index = step, 0
        index, self._index = self._index, self._index + 1
        while index >= len(self._ids):
            more = filter(None, self._of_index[len(self._ids) : len(self._ids) + 1])
            self._ids.append(self._hook.declare(f"{self._stem}{len(self._ids)}", [*self._collections, *more]))
            self.known.append(self._ids[-1])
        return self._ids[index]


class Layer:
    """A block that is no loss."""

    def __init__(self, hook: Hook, block: Any, more_of_inputs: list[str], known: list[int]) -> None:
        """The numbers of its tensors are added to those that are known."""
        name = block.name or type(block).__name__.lower()  # the outermost block of many programs has an empty one
        of_index = output_kinds_by_index(block)
        self._inputs = Series(hook, f"{name}_input_", ["inputs", *input_kinds(block), *more_of_inputs])
        self._outputs = Series(hook, f"{name}_output_", ["outputs", *output_kinds(block)], of_index)
        self._inputs.known = self._outputs.known = known

    def wanted(self, step: int, args: Any, output: Any) -> list[Held]:
        """Of one call."""
        return [*self._inputs.wanted(step, args), *self._outputs.wanted(step, output)]


class LossLayer:
    """A loss gives a number for each sample. Their mean is kept as the loss, the numbers themselves as its samples."""

    def __init__(self, hook: Hook, name: str, of_inputs: tuple[str, ...] = ()) -> None:
        self._inputs = Series(hook, f"{name}_input_", ["inputs"], of_inputs)
        self._means = Series(hook, f"{name}_output_", ["losses"])
        self._samples = Series(hook, f"{name}_samples_", ["outputs"])

    @classmethod
    def of(cls, hook: Hook, block: Any) -> LossLayer:
        return cls(hook, block.name, loss_input_kinds(block))

    def wanted(self, step: int, args: Any, output: Any) -> list[Held]:
        means = [(tensor_id, _mean_of(array)) for tensor_id, array in self._means.wanted(step, output)]
        samples = [array for array in arrays_in(output) if array.size > 1]
        return [*self._inputs.wanted(step, args), *means, *self._samples.wanted(step, samples)]


def _mean_of(array: Any) -> Any:
    """Computed behind the array, without waiting: a program may change its loss in place later in the step."""
    with autograd.pause(autograd.is_training()):
        return (array.astype("float32") if array.dtype.itemsize == 2 else array).mean()
