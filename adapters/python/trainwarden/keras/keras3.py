"""Keras 3: where it has the functions that are stood in for."""

from __future__ import annotations

import functools
from typing import Any, Callable

import keras
from keras.src.optimizers.base_optimizer import BaseOptimizer
from keras.src.trainers.epoch_iterator import EpochIterator
from keras.src.trainers.trainer import Trainer

from .._replacing import replace
from .call_steps import enumerating
from .collecting import current
from .picking import (
    add_gradients, calling_layer, computing_loss, inner_update, making_optimizer, watched_update,
)  # fmt: skip


def pick_up_from_keras3() -> None:
    replace(keras.layers.Layer, "__call__", calling_layer)
    replace(BaseOptimizer, "__init__", making_optimizer)
    for optimizer in (BaseOptimizer, keras.optimizers.LossScaleOptimizer):
        replace(optimizer, "apply", _applying)
        replace(optimizer, "stateless_apply", _applying_stateless)
    replace(Trainer, "compute_loss", computing_loss)
    replace(Trainer, "_compute_loss", computing_loss)  # which calls those of subclasses
    if keras.backend.backend() == "tensorflow":  # where a call may have several steps
        replace(EpochIterator, "_enumerate_iterator", enumerating)


def _applying(original: Callable[..., Any]) -> Callable[..., Any]:
    def apply(self: Any, grads: Any, trainable_variables: Any = None) -> Any:
        gradients = list(grads)
        variables = None if trainable_variables is None else list(trainable_variables)
        update = functools.partial(original, self, gradients, variables)
        return watched_update(self, gradients, variables, update, functools.partial(_scale_of, self, None))

    return apply


def _applying_stateless(original: Callable[..., Any]) -> Callable[..., Any]:
    def stateless_apply(self: Any, optimizer_variables: Any, grads: Any, trainable_variables: Any) -> Any:
        collector = current()
        if collector is None:
            return original(self, optimizer_variables, grads, trainable_variables)
        gradients = list(grads)
        add_gradients(collector, self, gradients, None, functools.partial(_scale_of, self, optimizer_variables))
        update = functools.partial(original, self, optimizer_variables, gradients, trainable_variables)
        return inner_update(collector, update)

    return stateless_apply


def _scale_of(optimizer: Any, state: Any) -> Any:
    """By which losses were multiplied, and gradients are; None: by nothing."""
    dynamic = getattr(optimizer, "dynamic_scale", None)
    if dynamic is None:
        return optimizer.loss_scale_factor
    if state is None:
        return keras.ops.convert_to_tensor(dynamic)
    return next((value for variable, value in zip(optimizer.variables, state) if variable is dynamic), None)
