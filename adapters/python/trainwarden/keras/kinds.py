"""Kinds: which collections by kinds of layers the inputs and outputs of a layer belong to."""

from __future__ import annotations

from typing import Any

_INPUTS = {"ReLU": "relu_inputs", "Embedding": "embedding_inputs"}
_OUTPUTS = {"ReLU": "relu_outputs", "Softmax": "softmax_outputs"}
_INPUTS_OF_FUNCTIONS = {
    "relu": "relu_inputs",
    "relu6": "relu_inputs",
    "tanh": "tanh_inputs",
    "sigmoid": "sigmoid_inputs",
}
# Those that give zero for what is negative: a leaky one never dies.
_OUTPUTS_OF_FUNCTIONS = {"relu": "relu_outputs", "relu6": "relu_outputs", "softmax": "softmax_outputs"}


def input_kinds(layer: Any) -> list[str]:
    """A layer that applies its activation to something of its own does not show what it applies it to."""
    kind = _INPUTS.get(type(layer).__name__)
    if kind is None and type(layer).__name__ == "Activation":
        kind = _INPUTS_OF_FUNCTIONS.get(_function_of(layer))
    return [] if kind is None else [kind]


def output_kinds(layer: Any, path: str) -> list[str]:
    kind = _OUTPUTS.get(type(layer).__name__) or _OUTPUTS_OF_FUNCTIONS.get(_function_of(layer))
    kinds = [] if kind is None else [kind]
    if kind == "softmax_outputs" and "attention" in path.lower():
        kinds.append("attention")
    return kinds


def _function_of(layer: Any) -> str:
    return str(getattr(getattr(layer, "activation", None), "__name__", ""))
