"""Throughput: how many samples and tokens a step has trained on, counted by what the model is called with."""

from __future__ import annotations

from typing import Any, Optional

import torch

from .contents import is_plain_tensor, tensors_in


class Throughput:
    """Of one step. Batches whose gradients are added up count together."""

    def __init__(self) -> None:
        self._samples: dict[int, int] = {}  # by model
        self._tokens: dict[int, int] = {}

    def see_call(self, model: int, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        """`model`, an id, is called with a batch."""
        batch = _batch_in(args, kwargs)
        if batch is None:
            return
        self._samples[model] = self._samples.get(model, 0) + batch.shape[0]
        if batch.ndim == 2 and batch.dtype in (torch.int64, torch.int32):
            self._tokens[model] = self._tokens.get(model, 0) + batch.numel()

    def take(self) -> tuple[int, int]:
        """Samples and tokens since the last time; 0 where there were none. Of models that are trained together, as those
        of a GAN, the one that saw most counts."""
        taken = (max(self._samples.values(), default=0), max(self._tokens.values(), default=0))
        self._samples.clear()
        self._tokens.clear()
        return taken


def _batch_in(args: tuple[Any, ...], kwargs: dict[str, Any]) -> Optional[torch.Tensor]:
    """The first input that can be a batch."""
    named: Any = kwargs.get("input_ids")
    tensors = [named] if is_plain_tensor(named) else tensors_in((args, kwargs))
    return next((tensor for tensor in tensors if is_plain_tensor(tensor) and tensor.ndim > 0), None)
