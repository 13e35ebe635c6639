"""What a run of a graph has, by the names that smdebug had for it: tensors that it computes, and variables."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

from tensorflow.python.client.session import _FetchMapper
from tensorflow.python.framework import ops
from trainwarden.tf_sessions.reach import insides, is_at_hand, operations_behind
from trainwarden.tf_sessions.variables import readable_variables


def operations_of(graph: Any, fetches: Any) -> list[Any]:
    """Those that a program has asked for, as nested as it likes."""
    elements = map(graph.as_graph_element, _FetchMapper.for_fetch(fetches).unique_fetches())
    return [getattr(element, "op", element) for element in elements]


class RunTensors:
    """Of one set of operations that a program has run together."""

    def __init__(self, graph: Any, operations: list[Any], is_fed: Callable[[Any], bool]) -> None:
        self._graph = graph
        self._order = operations_behind(operations, is_fed)
        self._inside = insides(self._order)
        self._is_fed = is_fed

    def computed(self) -> Iterator[tuple[str, Any]]:
        """What the run computes anyhow, and can be fetched of it."""
        for operation in self._order:
            if operation not in self._inside:
                for tensor in operation.outputs:
                    if self._can_be_fetched(tensor):
                        yield tensor.name, tensor

    def at_hand(self, names: Iterable[str]) -> Iterator[tuple[str, Any]]:
        """Those of these that little is missing of: a run that trains needs no loss, but its gradient."""
        outside = set(self._order) - self._inside
        for name in names:
            tensor = self._graph.as_graph_element(name)
            is_missing = getattr(tensor, "op", None) is not None and tensor.op not in outside
            if is_missing and is_at_hand(tensor.op, outside, self._is_fed) and self._can_be_fetched(tensor):
                yield name, tensor

    def variables(self) -> Iterator[tuple[str, Any]]:
        """Those that the run has to do with, each with a tensor that reads it."""
        running = {operation.name for operation in self._order}
        for name, tensor in readable_variables(self._graph).items():
            if name in running:
                yield f"{name}:0", tensor

    def _can_be_fetched(self, tensor: Any) -> bool:
        kind = tensor.dtype
        is_numeric = kind.is_floating or kind.is_integer or kind.is_bool or kind.is_complex
        return is_numeric and not kind._is_ref_dtype and not self._is_fed(tensor) and self._graph.is_fetchable(tensor)


def names_of_variables(graph: Any) -> list[str]:
    return [str(variable.name) for variable in graph.get_collection(ops.GraphKeys.TRAINABLE_VARIABLES)]


def names_of_losses(graph: Any) -> list[str]:
    return [str(loss.name) for loss in graph.get_collection(ops.GraphKeys.LOSSES)]
