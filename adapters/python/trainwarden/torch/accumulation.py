"""Accumulation: several forward and backward passes, each with a batch of its own, before the optimizer steps.

They are one step, and a tensor of it has one value: activations are those of the first batch, losses are put together
(PassLosses). A pass repeats an earlier one when it begins with a call of the same model, and no optimizer has stepped in
between: what a GAN computes for true and for made samples begins with another model.
"""

from __future__ import annotations

from typing import Any, NamedTuple, Optional

import torch

from .bridge import Bridge


class Passes:
    """Of one step: which of its passes repeats an earlier one. Knows nothing of torch."""

    def __init__(self) -> None:
        self._begun_with: set[int] = set()  # ids of models, since an optimizer has stepped
        self._is_open = False  # the forward pass has begun, the backward pass has not ended
        self.is_repeated = False

    def begin(self, model_id: int) -> bool:
        """A model is called. Does a pass begin with that?"""
        if self._is_open:
            return False
        self._is_open = True
        self.is_repeated = model_id in self._begun_with
        self._begun_with.add(model_id)
        return True

    def end_pass(self) -> None:
        """What follows is taken for a repetition until a model shows that it is none."""
        self._is_open = False
        self.is_repeated = bool(self._begun_with)

    def end(self) -> None:
        """An optimizer steps, or the step ends."""
        self._begun_with.clear()
        self._is_open = self.is_repeated = False


class _Pending(NamedTuple):
    loss: torch.Tensor  # of the first pass
    total: torch.Tensor
    passes: int
    adds_up: bool


class PassLosses:
    """The losses of a step, of which each has one value: the mean over the passes, or the sum of what the program has
    divided by itself.

    Where the last step had one pass alone they are saved at once. Else they wait for the optimizer's step.
    """

    def __init__(self, bridge: Bridge) -> None:
        self._bridge = bridge
        self._pending: dict[int, _Pending] = {}  # by the number in the hook
        self._saved: set[int] = set()
        self._waits = True
        self._passes = 0

    def begin_step(self, is_training: bool) -> None:
        self._waits = is_training and self._passes != 1
        self._passes = 0
        self._saved.clear()
        self._pending.clear()

    def end_backward(self) -> None:
        self._passes += 1

    def save(self, tensor_id: int, loss: torch.Tensor, adds_up: bool) -> None:
        """Of this pass. The losses of one pass have different numbers."""
        before = self._pending.get(tensor_id)
        if before is not None:
            total = before.total + loss.detach()
            self._pending[tensor_id] = before._replace(total=total, passes=before.passes + 1)
        elif tensor_id in self._saved:
            return  # an accumulation has begun, or what has several elements is repeated: the first one stands for all
        elif self._waits and loss.numel() == 1 and loss.is_floating_point():
            kept = loss.detach().clone()  # programs divide losses in place
            total = kept if kept.dtype in (torch.float32, torch.float64) else kept.float()
            self._pending[tensor_id] = _Pending(kept, total, 1, adds_up)
        else:
            self._saved.add(tensor_id)
            self._bridge.save(tensor_id, loss)

    def flush(self) -> None:
        """All passes before the optimizer's step have ended."""
        pending, self._pending = self._pending, {}
        for tensor_id, each in pending.items():
            self._saved.add(tensor_id)
            self._bridge.save(tensor_id, _value_of(each))


def _value_of(pending: _Pending) -> torch.Tensor:
    if pending.passes == 1:
        return pending.loss
    return pending.total if pending.adds_up else pending.total / pending.passes


def is_divided(loss: torch.Tensor) -> bool:
    """Has the program divided it, as by the number of passes, or of tokens in all of them?"""
    made_by: Optional[Any] = loss.grad_fn
    return type(made_by).__name__.startswith(("DivBackward", "MulBackward"))
