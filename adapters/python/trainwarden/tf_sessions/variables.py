"""Variables of a graph: which one an operation reads or writes, and the tensor by which each can be read."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, Optional

_VARIABLES = ("VarHandleOp", "VariableV2", "Variable", "AutoReloadVariable")
_READING = ("Identity", "ReadVariableOp")
_BIASES = ("bias", "biases", "beta", "b")
_PART = re.compile(r"part_\d+$")
_MOVING = ("moving_mean", "moving_variance")


def is_variable(operation: Any) -> bool:
    return operation.type in _VARIABLES


def variable_behind(value: Any) -> Optional[Any]:
    """The operation of the variable that this is, or that it was read from. None: it is something else."""
    value = getattr(value, "handle", value)
    operation = getattr(value, "op", None)
    for _ in range(2):
        if operation is None or operation.type in _VARIABLES:
            return operation
        if operation.type not in _READING:
            return None
        operation = operation.inputs[0].op
    return None


def readable_variables(graph: Any) -> dict[str, Any]:
    """Of each variable that the graph knows, by its operation: the tensor that reads it and nothing else."""
    from tensorflow.python.framework import ops

    readable: dict[str, Any] = {}
    keys = ops.GraphKeys
    for key in (keys.TRAINABLE_VARIABLES, keys.GLOBAL_VARIABLES, keys.LOCAL_VARIABLES):
        for variable in _listed(graph, key):
            operation = variable_behind(variable)
            if operation is not None and operation.name not in readable:
                tensor = _reading(variable)
                if tensor is not None:
                    readable[operation.name] = tensor
    return readable


def _listed(graph: Any, key: str) -> Iterator[Any]:
    """Of a collection of variables. One of a strategy is several, a copy for each replica."""
    from tensorflow.python.distribute.values import DistributedValues

    for variable in graph.get_collection(key):
        if isinstance(variable, DistributedValues):
            yield from variable.values
        else:
            yield variable


def _reading(variable: Any) -> Optional[Any]:
    """Not one that waits for something else, as one that was made under tf.control_dependencies()."""
    tensor = variable._as_graph_element() if hasattr(variable, "_as_graph_element") else None
    operation = getattr(tensor, "op", None)
    if operation is None or operation.control_inputs or operation._get_control_flow_context() is not None:
        return None
    return tensor if operation.type in _VARIABLES or operation.type in _READING else None


def trainable_variables(graph: Any) -> set[str]:
    from tensorflow.python.framework import ops

    variables = map(variable_behind, _listed(graph, ops.GraphKeys.TRAINABLE_VARIABLES))
    return {operation.name for operation in variables if operation is not None}


def scope_and_name(variable: str) -> tuple[str, str]:
    """The scope in which it was made, and what it is called there. One that is cut into parts is one there."""
    scope, _, name = variable.rpartition("/")
    if _PART.match(name):
        scope, _, name = scope.rpartition("/")
    return scope, name


def is_moving(variable: str) -> bool:
    """Statistics of a batch normalization."""
    return scope_and_name(variable)[1] in _MOVING


def collection_of(variable: str) -> str:
    name = scope_and_name(variable)[1]
    if name in _MOVING:
        return "buffers"
    return "biases" if name in _BIASES else "weights"
