"""Kinds: which collections by kinds of layers (collection.h) the inputs and outputs of a module belong to."""

from __future__ import annotations

from typing import Optional

from torch import nn

from .module_tree import modules_of
from .roots import Model

# Those that give zero for what is negative: a leaky one never dies.
_RELU = (nn.ReLU, nn.ReLU6)
_CONVOLUTION = (nn.Conv1d, nn.Conv2d, nn.Conv3d)
_OF_INPUTS = (
    (_RELU, "relu_inputs"),
    (nn.Tanh, "tanh_inputs"),
    (nn.Sigmoid, "sigmoid_inputs"),
    ((nn.Embedding, nn.EmbeddingBag), "embedding_inputs"),
)
_OF_OUTPUTS = ((_RELU, "relu_outputs"), ((nn.Softmax, nn.Softmax2d), "softmax_outputs"))

# Of what goes into and comes out of the functions of torch.nn.functional.
FUNCTION_INPUTS = {"relu": "relu_inputs", "relu6": "relu_inputs", "tanh": "tanh_inputs", "sigmoid": "sigmoid_inputs"}
FUNCTION_OUTPUTS = {"relu": "relu_outputs", "relu6": "relu_outputs", "softmax": "softmax_outputs"}

# Losses whose first two inputs are not a prediction and what it should have been.
_COMPARING = ("TripletMargin", "CosineEmbedding", "MarginRanking")
LOSS_INPUTS = ("predictions", "labels")


def input_kinds(module: nn.Module) -> list[str]:
    """The collections of what goes into the module, by its class alone."""
    return [name for kinds, name in _OF_INPUTS if isinstance(module, kinds)]


def output_kinds(module: nn.Module) -> list[str]:
    """The collections of what comes out of the module."""
    return [name for kinds, name in _OF_OUTPUTS if isinstance(module, kinds)]


def gives_attention(module: nn.Module) -> bool:
    """Is the second tensor that comes out of the module, if there is one, the weights of an attention?"""
    return isinstance(module, nn.MultiheadAttention)


def computes_attention(module: nn.Module) -> bool:
    """Is a softmax inside this module one over the weights of an attention? Told by the name of its class."""
    return "attention" in type(module).__name__.lower()


def first_convolution(model: Model) -> Optional[nn.Module]:
    """Which gets the images, if there are any: the first that the model has registered."""
    root = model.module
    if root is None:
        return None
    return next((module for module in modules_of(root) if isinstance(module, _CONVOLUTION)), None)


def loss_input_kinds(loss: type) -> tuple[str, ...]:
    """The collections of the first and the second input of a loss module of this class."""
    return () if loss.__name__.startswith(_COMPARING) else LOSS_INPUTS
