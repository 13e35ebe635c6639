"""OwnUpdate: stands for the code of a program that changes its weights itself, without an optimizer of torch."""

from __future__ import annotations

import weakref
from typing import Any

import torch


class OwnUpdate:
    """Has the program's parameters as an optimizer has them, keeps none of them alive, and never steps.

    It is none of torch.optim.Optimizer: making one imports torch.compile, which takes seconds and 150 MB, and whoever looks
    for the program's optimizers would find ours.
    """

    def __init__(self, parameters: list[torch.Tensor]) -> None:
        self._weak = [weakref.ref(each) for each in parameters]
        self.state: dict[Any, Any] = {}

    @property
    def param_groups(self) -> list[dict[str, Any]]:
        return [{"params": [each for each in (reference() for reference in self._weak) if each is not None]}]

    def step(self) -> None:
        """The program does that."""

    def state_dict(self) -> dict[str, Any]:
        return {"state": {}, "param_groups": []}
