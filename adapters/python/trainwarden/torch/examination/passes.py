"""Passes: how often the program does what makes up a training step."""

from __future__ import annotations

import weakref
from typing import Any, Optional

import torch

from ..listeners import are_gradients_recorded
from ..module_tree import is_training
from .batches import first_tensor


class Passes:
    """Counts of one hook, of all its steps, looked at or not. What is written, in this order: docs/format/examination.md."""

    def __init__(self) -> None:
        self.forward = self.backward = self.step = self.zero = 0
        self.no_grad = self.no_grad_training = self.grad_in_eval = 0
        self.clip = self.no_grad_repeats = self.no_grad_steps = 0
        self._is_first = True  # call without gradients in training mode of this step
        self._quiet_step = -1  # the last one that had such a call and was only counted
        self._is_repeating = False  # the last such call was one with the input of the one before
        self._last_input: Optional[weakref.ref[torch.Tensor]] = None  # of a call without gradients in training mode

    def numbers(self, remade: int, steps: tuple[int, int]) -> list[float]:
        """`remade`: optimizers that took over the parameters of an earlier one. `steps`: of training, and all others."""
        counts = (self.forward, self.backward, self.step, self.zero, self.no_grad, self.no_grad_training,
                  self.grad_in_eval, 0, self.clip, remade, self.no_grad_repeats, self.no_grad_steps, *steps)  # fmt: skip
        return [float(each) for each in counts]

    def begin_step(self) -> None:
        self._is_first = True

    def forward_begins(self, model: Optional[torch.nn.Module], evaluates: bool, args: Any) -> None:
        """An outermost model, perhaps one that is trained, is called."""
        if not are_gradients_recorded():
            if model is not None and is_training(model):
                self._count_in_training(args)
            else:
                self.no_grad += 1
        elif not evaluates:
            self.forward += 1
            self._leave_out_rehearsal(args)
            if model is not None and not is_training(model):
                self.grad_in_eval += 1

    def quiet_begins(self, step: int, args: Any) -> None:
        """A model that is trained is called in training mode, without gradients, in a step that is only counted."""
        self._is_first = step != self._quiet_step
        self._quiet_step = step
        self._count_in_training(args)

    def _count_in_training(self, args: Any) -> None:
        self.no_grad += 1
        self.no_grad_training += 1
        self.no_grad_steps += self._is_first
        self._is_first = False
        self._count_repeats(args)

    def count_more_in_training(self, calls: int) -> None:
        """So many more calls without gradients in training mode, of which nothing else is known: they are like the last."""
        self.no_grad += calls
        self.no_grad_training += calls
        self.no_grad_repeats += calls if self._is_repeating else 0

    def _count_repeats(self, args: Any) -> None:
        """Passes of the same input, as those that are averaged where dropout is kept on purpose."""
        first = first_tensor(args)
        same = self._last_input() if self._last_input is not None else None
        self._is_repeating = first is not None and first is same
        self.no_grad_repeats += self._is_repeating
        self._last_input = weakref.ref(first) if first is not None else None

    def _leave_out_rehearsal(self, args: Any) -> None:
        """A pass without gradients before one with them, of the same input, is no evaluation: scheduled sampling."""
        first, same = first_tensor(args), self._last_input() if self._last_input is not None else None
        self._last_input = None
        if first is not None and first is same:
            self.no_grad -= 1
            self.no_grad_training -= 1
            self.no_grad_steps -= not self._is_first
            self._is_first = True
