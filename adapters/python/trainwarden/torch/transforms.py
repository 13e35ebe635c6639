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
    stack = _functorch.get_interpreter_stack() if _functorch is not None else None
    return sum(each.key() == _functorch.TransformType.Grad for each in stack or ())
