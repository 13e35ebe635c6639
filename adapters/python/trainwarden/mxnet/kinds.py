"""Kinds: which collections by kinds of layers (collection.h) the inputs and outputs of a block belong to."""

from __future__ import annotations

from typing import Any

from mxnet.gluon import nn
from mxnet.gluon.nn.conv_layers import _Conv

_ACTIVATIONS_IN = {"relu": "relu_inputs", "tanh": "tanh_inputs", "sigmoid": "sigmoid_inputs"}
_ACTIVATIONS_OUT = {"relu": "relu_outputs"}
# Losses whose first two inputs are not a prediction and what it should have been.
_COMPARING = ("Triplet", "CosineEmbedding", "SDML")


def input_kinds(block: Any) -> list[str]:
    """The collections of what goes into the block."""
    if isinstance(block, nn.Embedding):
        return ["embedding_inputs"]
    kind = _ACTIVATIONS_IN.get(_activation(block))
    return [] if kind is None else [kind]


def output_kinds(block: Any) -> list[str]:
    """The collections of what comes out of the block."""
    kind = _ACTIVATIONS_OUT.get(_activation(block))
    return [] if kind is None else [kind]


def output_kinds_by_index(block: Any) -> tuple[str, ...]:
    """GluonNLP's cells give what they attend to, and then the weights of their attention."""
    return ("", "attention") if "attentioncell" in type(block).__name__.lower() else ()


def is_convolution(block: Any) -> bool:
    return isinstance(block, _Conv)


def loss_input_kinds(loss: Any) -> tuple[str, ...]:
    """The collections of the first and the second input of a loss."""
    return () if type(loss).__name__.startswith(_COMPARING) else ("predictions", "labels")


def _activation(block: Any) -> str:
    return str(getattr(block, "_act_type", "")) if isinstance(block, nn.Activation) else ""
