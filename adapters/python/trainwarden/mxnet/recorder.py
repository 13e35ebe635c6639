"""Recorder: what is captured of a step. When steps begin and end is for the session to say.

MXNet computes behind the program's back. What is wanted of a step is held, not read, until the step ends: then most of
it is there, and the program waits once.
"""

from __future__ import annotations

import time
import weakref
from typing import Any, Union

from mxnet.gluon.loss import Loss

from ..hook import Hook
from .arrays import ArraySaver, arrays_in
from .kinds import is_convolution
from .layers import Held, Layer, LossLayer
from .parameters import Parameters
from .rates import rate_of


class Recorder:
    """Captures through one hook. Belongs to the thread that trains."""

    def __init__(self, hook: Hook) -> None:
        self._hook = hook
        self._saver = ArraySaver(hook)
        self._layers: dict[int, Union[Layer, LossLayer]] = {}  # by the block's id
        self._of_calls: list[int] = []  # the tensors of all layers
        self._is_quiet = False  # none of them is wanted in this step
        self._parameters = Parameters(hook)
        self._heads = LossLayer(hook, "loss")
        self._rate = hook.declare("learning_rate", ["scalars"])
        self._held: list[Held] = []
        self._step = 0
        self._has_loss = False  # a loss of Gluon's was called in this step
        self._has_convolution = False
        self.is_idle = False  # nothing of the current step is wanted

    def begin_step(self) -> None:
        self._step += 1
        self._held.clear()
        self._has_loss = False
        self.is_idle = not self._hook.wants_anything()
        self._is_quiet = self.is_idle or not any(map(self._hook.wants, self._of_calls))

    def passes_over(self, block: Any) -> bool:
        """Is nothing wanted of a call of this block?"""
        return self._is_quiet and type(self._layers.get(id(block))) is Layer

    def expect(self, trainer: Any) -> None:
        self._parameters.declare(trainer)

    def see_call(self, block: Any, args: Any, output: Any, is_root: bool) -> None:
        """A block was called."""
        is_loss = isinstance(block, Loss)
        self._has_loss = self._has_loss or is_loss
        layer = self._layers.get(id(block))
        if layer is None:
            if next(arrays_in(output), None) is None:
                return  # it is being traced
            layer = self._layers[id(block)] = self._layer_of(block, is_loss, is_root)
            weakref.finalize(block, self._layers.pop, id(block), None).atexit = False
        elif self.is_idle or (self._is_quiet and not is_loss):
            return
        self._held += layer.wanted(self._step, args, output)

    def _layer_of(self, block: Any, is_loss: bool, is_root: bool) -> Union[Layer, LossLayer]:
        if is_loss:
            return LossLayer.of(self._hook, block)
        more_of_inputs = ["batch_inputs"] if is_root else []
        if not self._has_convolution and is_convolution(block):  # the first gets the images
            self._has_convolution = True
            more_of_inputs.append("image_inputs")
        return Layer(self._hook, block, more_of_inputs, self._of_calls)

    def see_backward(self, heads: Any) -> None:
        """A program without a loss of Gluon's has computed its loss by itself: it is what backward() begins with."""
        if not self._has_loss and not self.is_idle:
            self._held += self._heads.wanted(self._step, None, heads)

    def hold_update(self, trainer: Any) -> None:
        """A trainer is about to update: gradients are there, and the weights are those of the forward pass."""
        if self.is_idle:
            return
        begin = time.perf_counter_ns()
        self._held += self._parameters.wanted(trainer)
        self._hook.add_cost_ns(max(0, time.perf_counter_ns() - begin))

    def held(self) -> list[Any]:
        """The arrays that save_held() will read."""
        return [array for _, array in self._held]

    def save_held(self) -> None:
        held, self._held = self._held, []
        for tensor_id, array in held:
            self._saver.save(tensor_id, array)

    def save_rate(self, trainer: Any) -> None:
        if self.is_idle or not self._hook.wants(self._rate):
            return
        rate = rate_of(trainer._optimizer)
        if rate is not None:
            self._hook.save_tensor(self._rate, rate)
