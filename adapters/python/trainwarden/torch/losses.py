"""Losses: what loss modules give, and the tensors that backward() is called on when no loss module made them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Optional

import torch

from .activations import Series, tensors_in
from .bridge import Bridge
from .naming import loss_name


def loss_in(output: Any) -> Optional[torch.Tensor]:
    """The tensor `loss` of a dict or dataclass that a model gives back, as those of HuggingFace do."""
    if isinstance(output, Mapping):
        loss = output.get("loss")
    elif hasattr(type(output), "__dataclass_fields__"):
        loss = getattr(output, "loss", None)
    else:
        return None
    return loss if isinstance(loss, torch.Tensor) else None


class Losses:
    """Names and saves losses."""

    def __init__(self, hook: Any, bridge: Bridge, prefix: str = "") -> None:
        self._hook = hook
        self._bridge = bridge
        self._prefix = prefix
        self._outputs: dict[str, Series] = {}
        self._inputs: dict[str, Series] = {}
        # A loss was seen since the last backward pass: what that is called on is the same, or a sum of such.
        self._is_seen = False
        self._step = 0

    def begin_step(self, step: int) -> None:
        """What follows belongs to the step of this number."""
        self._step = step
        self._is_seen = False

    def see_module(self, module: torch.nn.Module, inputs: Any, output: Any, wants_inputs: bool) -> None:
        """A loss module was called."""
        name = type(module).__name__
        if wants_inputs:
            series = self._series(self._inputs, f"{name}_input_", "inputs")
            for tensor in tensors_in(inputs):
                self._bridge.save(series.id_at(self._step), tensor)
        for tensor in tensors_in(output):
            self._save(name, tensor)

    def see_output(self, output: Any) -> None:
        """A model gave this back."""
        loss = loss_in(output)
        if loss is not None and not self._is_seen:
            self._save("loss", loss)

    def see_root(self, value: Any) -> None:
        """backward() begins here, or a loss is about to be scaled for it."""
        if self._is_seen:
            return
        for tensor in tensors_in(value):
            if tensor.numel() == 1:
                self._save(loss_name(tensor), tensor)

    def end_backward(self) -> None:
        self._is_seen = False

    def _save(self, name: str, tensor: torch.Tensor) -> None:
        self._is_seen = True
        series = self._series(self._outputs, f"{name}_output_", "losses")
        self._bridge.save(series.id_at(self._step), tensor)

    def _series(self, kind: dict[str, Series], stem: str, collection: str) -> Series:
        series = kind.get(stem)
        if series is None:
            series = kind[stem] = Series(self._hook, self._prefix + stem, [collection])
        return series
