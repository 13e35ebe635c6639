"""LossOptions: what a program asks of a loss function, besides what it compares."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple, Optional

import torch

from .contents import attributes_of, is_plain_tensor
from .module_tree import buffers_of

class LossOptions(NamedTuple):
    ignore_index: Optional[int] = None  # of targets that do not count; None: not known
    class_weights: Optional[torch.Tensor] = None  # shape [classes]
    positive_weight: Optional[torch.Tensor] = None  # of targets that are 1, beside those that are 0


def options_of_call(args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> LossOptions:
    """Of a call of a loss function of torch.nn.functional, whose third argument is `weight` where it is a tensor."""
    weight = kwargs.get("weight", args[2] if len(args) > 2 else None)
    return LossOptions(kwargs.get("ignore_index"), _tensor(weight), _tensor(kwargs.get("pos_weight")))


def options_of_module(module: torch.nn.Module) -> LossOptions:
    """Attributes of a loss module, whose tensors are buffers."""
    known = {**dict(buffers_of(module)), **attributes_of(module)}
    ignored = known.get("ignore_index")
    return LossOptions(ignored if type(ignored) is int else None, _tensor(known.get("weight")), _tensor(known.get("pos_weight")))


def _tensor(value: Any) -> Optional[torch.Tensor]:
    return value if is_plain_tensor(value) else None
