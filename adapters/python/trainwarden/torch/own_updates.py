"""Own updates: a program that changes its weights itself after backward(), without an optimizer of torch.

Nobody is notified of such a step, but between two backward passes the parameters have changed. A few elements of a few
of them are compared. An optimizer that never steps stands for the program's own code.
"""

from __future__ import annotations

import weakref
from typing import Any, Optional

import torch

from .contents import is_tensor
from .own_update import OwnUpdate

# So many parameters are compared, and elements of each.
_SAMPLE = 4
_ELEMENTS = 32
# Of the graph of a loss so much is searched for parameters, and so often: programs also want gradients of their inputs, which
# are others each time.
_MAX_NODES = 20_000
_MAX_SEARCHES = 16
# After so many backward passes in a row that changed nothing the weights are let go.
_PATIENCE = 256


class OwnUpdates:
    """Of one training. Keeps no tensor alive until it was seen that the program changes it itself."""

    def __init__(self) -> None:
        self.optimizer: Optional[OwnUpdate] = None  # once that was seen
        self._parameters: list[weakref.ref[torch.Tensor]] = []
        self._before: list[torch.Tensor] = []  # elements of the first of them, as the last backward pass left them
        self._searches = 0
        self._passes = 0  # backward passes since the weights were changed last

    def see_backward(self, tensors: Any) -> bool:
        """A backward pass begins, in a program without optimizers. Is this the first one after which it is known that
        the weights were changed?"""
        if self.optimizer is not None:
            return False
        if self.have_stepped():
            self.optimizer = OwnUpdate(self._living())
            return True
        if is_tensor(tensors) and not self._living() and self._searches < _MAX_SEARCHES:
            self._searches += 1
            self._parameters = [weakref.ref(each) for each in _leaves_of(tensors)]
        return False

    def see_backward_end(self) -> None:
        self._passes += 1
        if self._passes > _PATIENCE:
            self.forget()
        self._before = [_sample(each).clone() for each in self._living()[:_SAMPLE]]

    def have_stepped(self) -> bool:
        """Have parameters changed since the last backward pass?"""
        pairs = zip(self._before, self._living())
        has_changed = any(before.shape != _sample(now).shape or not torch.equal(before, _sample(now)) for before, now in pairs)
        if has_changed:
            self._before = []
            self._passes = 0
        return has_changed

    def forget(self) -> None:
        """There is an optimizer after all, or the program trains these weights no more."""
        self.optimizer = None
        self._parameters, self._before = [], []
        self._passes = 0

    def _living(self) -> list[torch.Tensor]:
        """None when the program has dropped one of them."""
        living = [each() for each in self._parameters]
        return [each for each in living if each is not None] if all(each is not None for each in living) else []


def _sample(parameter: torch.Tensor) -> torch.Tensor:
    flat = parameter.detach().reshape(-1)
    return flat[:: max(1, flat.numel() // _ELEMENTS)][:_ELEMENTS]


def _leaves_of(root: torch.Tensor) -> list[torch.Tensor]:
    """The tensors that a backward pass from here will give gradients to."""
    leaves: list[torch.Tensor] = []
    seen: set[Any] = set()
    open_nodes: list[Any] = [root.grad_fn]
    while open_nodes and len(seen) < _MAX_NODES:
        node = open_nodes.pop()
        if node is None or node in seen:
            continue
        seen.add(node)
        leaf = getattr(node, "variable", None)
        if is_tensor(leaf):
            leaves.append(leaf)
        open_nodes += [each for each, _ in node.next_functions]
    return leaves
