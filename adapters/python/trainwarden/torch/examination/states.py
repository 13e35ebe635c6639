"""States: whether what a recurrent layer hands on from call to call within one step still takes gradients back."""

from __future__ import annotations

from typing import Any

import torch

from .batches import tensors_in
from .numbers import Numbers, is_measurable

_MAX_LAYERS = 8
_MAX_BYTES = 4 << 20  # of a state that is kept


class HandedStates:
    """Of one train step. Keeps what each layer gave last, so that nothing else comes to lie there; without its graph."""

    def __init__(self) -> None:
        # By id of the layer: states, and whether each takes gradients back.
        self._given: dict[int, list[tuple[torch.Tensor, bool]]] = {}
        self._handed = self._cut = 0

    def begins(self, module: torch.nn.Module, args: Any, kwargs: dict[str, Any]) -> None:
        if not isinstance(module, (torch.nn.RNNBase, torch.nn.RNNCellBase)) or id(module) not in self._given:
            return
        given = {_lies_at(each): takes for each, takes in self._given[id(module)]}
        states = [each for each in tensors_in((args[1:] if type(args) is tuple else (), kwargs)) if is_measurable(each)]
        had_gradients = [given[_lies_at(each)] for each in states if _lies_at(each) in given]
        if any(had_gradients):
            self._handed += 1
            self._cut += not any(each.requires_grad for each in states)

    def ends(self, module: torch.nn.Module, output: Any) -> None:
        if not isinstance(module, (torch.nn.RNNBase, torch.nn.RNNCellBase)):
            return
        if id(module) in self._given or len(self._given) < _MAX_LAYERS:
            self._given[id(module)] = [(each.detach(), each.requires_grad) for each in tensors_in(output) if _is_kept(each)]

    def backward_begins(self) -> None:
        """What comes after it in the same step is another part of an accumulation, and is cut off rightly."""
        self._given = {}

    def add(self, numbers: Numbers) -> None:
        """`handed_states`: calls that got the state of the one before, and those of them that got it cut from its graph."""
        self._given = {}
        if self._handed > 0:
            numbers.add("handed_states", [float(self._handed), float(self._cut)])


def _is_kept(value: torch.Tensor) -> bool:
    return is_measurable(value) and 0 < value.numel() * value.element_size() <= _MAX_BYTES


def _lies_at(value: torch.Tensor) -> int:
    storage = value.untyped_storage() if hasattr(value, "untyped_storage") else value.storage()
    return int(storage.data_ptr())
