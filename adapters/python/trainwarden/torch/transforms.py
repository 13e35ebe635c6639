"""Transforms: tensors inside torch.func, which stand for others and have no memory of their own."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from typing import Any, Optional

import torch

_functorch: Any = getattr(torch._C, "_functorch", None)  # torch < 2.0 has none
_is_wrapped = getattr(_functorch, "is_functorch_wrapped_tensor", lambda tensor: False)


def outside() -> AbstractContextManager[Any]:
    """What is computed inside is not transformed."""
    return torch._C._DisableFuncTorch() if _functorch is not None else nullcontext()


def mean_behind(tensor: torch.Tensor) -> Optional[torch.Tensor]:
    """The number that a tensor with one element stands for: under vmap the mean of several. The tensor itself where it
    stands for none; None where there are no values."""
    if not _is_wrapped(tensor):
        return tensor
    value = tensor
    while _is_wrapped(value):
        value = _functorch.get_unwrapped(value)
    if type(value) is not torch.Tensor or value.is_meta or not value.is_floating_point():
        return None  # somebody traces
    with torch.no_grad(), outside():
        return value.detach().mean()


def depth_of_gradients() -> int:
    """How many calls of torch.func.grad lie around the caller."""
    if _functorch is None or not hasattr(_functorch, "peek_interpreter_stack"):  # torch < 2.0
        return 0
    if not hasattr(_functorch, "get_interpreter_stack"):  # torch < 2.2
        return _depth_layer_by_layer()
    stack = _functorch.get_interpreter_stack()
    return sum(each.key() == _functorch.TransformType.Grad for each in stack or ())


def _depth_layer_by_layer() -> int:
    """Only the innermost layer can be looked at: it is taken away and put back, as torch does it there."""
    innermost = _functorch.peek_interpreter_stack()
    if innermost is None:
        return 0
    is_gradient = bool(innermost.key() == _functorch.TransformType.Grad)
    layer = _functorch.pop_dynamic_layer_stack()
    try:
        return is_gradient + _depth_layer_by_layer()
    finally:
        _functorch.push_dynamic_layer_stack(layer)
