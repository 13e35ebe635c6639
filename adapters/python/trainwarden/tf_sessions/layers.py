"""Layers: what of a forward pass is the output of a layer.

A graph has no layers: a scope that has trained variables in it is taken for one, and what leaves it last for its
output.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Optional

from .variables import scope_and_name, variable_behind

_INPUTS = {"Relu": "relu_inputs", "Relu6": "relu_inputs", "Tanh": "tanh_inputs", "Sigmoid": "sigmoid_inputs"}
_OUTPUTS = {"Relu": "relu_outputs", "Relu6": "relu_outputs", "Softmax": "softmax_outputs"}
_ENTROPIES = ("SparseSoftmaxCrossEntropyWithLogits", "SoftmaxCrossEntropyWithLogits")
_LOOKUPS = ("ResourceGather", "GatherV2", "Gather")

Found = list[tuple[Any, str]]  # tensors, each with a collection


def layer_tensors(forward: list[Any], flowing: set[Any], trained: Iterable[str]) -> Found:
    """Outputs of layers, and what activations take and give.

    Arguments:
        forward: the operations of the forward pass, inputs first.
        flowing: those of them through which data go that have met a weight.
        trained: the operations of the trained variables, by name.
    """
    found: Found = [(tensor, "outputs") for tensor in _outputs(forward, flowing, _scopes(trained))]
    for operation in forward:
        if operation in flowing:
            found += _of_kind(operation)
        elif operation.type in _LOOKUPS and variable_behind(operation.inputs[0]) is not None:
            found.append((operation.inputs[1], "embedding_inputs"))
    return found


def _scopes(variables: Iterable[str]) -> set[str]:
    return {scope_and_name(variable)[0] for variable in variables} - {""}


def _outputs(forward: list[Any], flowing: set[Any], scopes: set[str]) -> list[Any]:
    scope_of = {operation: _scope_of(operation.name, scopes) for operation in forward}
    last: dict[str, Any] = {}
    has_left: set[Any] = set()
    for operation in forward:
        for tensor in operation.inputs:
            scope = scope_of.get(tensor.op)
            if scope is not None and tensor.op in flowing and scope_of[operation] != scope:
                has_left.add(tensor.op)
    for operation in forward:
        scope = scope_of[operation]
        if scope is not None and operation in has_left and operation.outputs[0].dtype.is_floating:
            last[scope] = operation.outputs[0]
    return list(last.values())


def _scope_of(name: str, scopes: set[str]) -> Optional[str]:
    """The innermost one."""
    while name:
        name = name.rpartition("/")[0]
        if name in scopes:
            return name
    return None


def _of_kind(operation: Any) -> Found:
    found: Found = []
    if operation.type in _INPUTS:
        found.append((operation.inputs[0], _INPUTS[operation.type]))
    if operation.type in _OUTPUTS:
        found.append((operation.outputs[0], _OUTPUTS[operation.type]))
        if operation.type == "Softmax" and "attention" in operation.name.lower():
            found.append((operation.outputs[0], "attention"))
    if operation.type in _ENTROPIES:
        found += [(operation.inputs[0], "predictions"), (operation.inputs[1], "labels")]
    return found
