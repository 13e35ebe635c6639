"""Own updates: a program that changes its weights itself after backward(), without an optimizer of torch.

Nobody is notified of such a step, but between two backward passes the parameters have changed. A few elements of a few
of them are compared. An optimizer that never steps stands for the program's own code.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Optional

import torch
from torch.optim import Optimizer

from . import interception

# So many parameters are compared, and elements of each.
_SAMPLE = 4
_ELEMENTS = 32
# Of the graph of a loss so much is searched for parameters.
_MAX_NODES = 20_000


class OwnUpdate(Optimizer):  # type: ignore[misc]
    """Stands for the program's own code: has its parameters, and never steps."""

    def __init__(self, parameters: list[torch.Tensor]) -> None:
        super().__init__([{"params": parameters}], {})

    def step(self, closure: Optional[Callable[[], Any]] = None) -> None:
        return None


class OwnUpdates:
    """Of one training."""

    def __init__(self) -> None:
        self.optimizer: Optional[OwnUpdate] = None  # once it was seen that the program changes its weights itself
        self._parameters: list[torch.Tensor] = []
        self._before: list[torch.Tensor] = []  # elements of the first of them, as the last backward pass left them

    def see_backward(self, tensors: Any) -> bool:
        """A backward pass begins, in a program without optimizers. Is this the first one after which it is known that
        the weights were changed?"""
        if self.optimizer is None and self.have_stepped():
            self.optimizer = interception.call_unheard(OwnUpdate, self._parameters)
            return True
        if self.optimizer is None:
            root = tensors if isinstance(tensors, torch.Tensor) else None
            self._parameters = _leaves_of(root) if root is not None else []
        return False

    def see_backward_end(self) -> None:
        self._before = [_sample(each).clone() for each in self._parameters[:_SAMPLE]]

    def have_stepped(self) -> bool:
        """Have parameters changed since the last backward pass?"""
        pairs = zip(self._before, self._parameters)
        has_changed = any(not torch.equal(before, _sample(now)) for before, now in pairs)
        if has_changed:
            self._before = []
        return has_changed

    def forget(self) -> None:
        """There is an optimizer after all."""
        self.optimizer = None
        self._parameters, self._before = [], []


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
        if isinstance(leaf, torch.Tensor):
            leaves.append(leaf)
        open_nodes += [each for each, _ in node.next_functions]
    return leaves
