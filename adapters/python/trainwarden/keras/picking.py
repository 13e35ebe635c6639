"""Picking: stands in for functions of Keras through which gradients, losses and outputs of layers pass.

Each does what the function does; while a step is traced that hands something out, it shows the collector what passes.
"""

from __future__ import annotations

import functools
from typing import Any, Callable, Optional

import keras

from .. import faults
from .collecting import ACTIVATIONS, GRADIENTS, Collector, collecting, current, loops_here
from .kinds import input_kinds, output_kinds

_ORIGINAL = "_trainwarden_original"


def replace(owner: Any, name: str, make: Callable[[Any], Any]) -> None:
    """Puts make(original) in the place of the function, once."""
    original = owner.__dict__.get(name)
    if original is None or hasattr(original, _ORIGINAL):
        return
    stand_in = functools.wraps(original)(make(original))
    setattr(stand_in, _ORIGINAL, original)
    setattr(owner, name, stand_in)


def pick_up_from_keras() -> None:
    from keras.src.optimizers.base_optimizer import BaseOptimizer
    from keras.src.trainers.trainer import Trainer

    replace(keras.layers.Layer, "__call__", _calling_layer)
    for optimizer in (BaseOptimizer, keras.optimizers.LossScaleOptimizer):
        replace(optimizer, "apply", _applying)
        replace(optimizer, "stateless_apply", _applying_stateless)
    replace(Trainer, "compute_loss", _computing_loss)
    replace(Trainer, "_compute_loss", _computing_loss)  # which calls those of subclasses


# Layers.


def _calling_layer(original: Callable[..., Any]) -> Callable[..., Any]:
    def __call__(self: Any, *args: Any, **kwargs: Any) -> Any:
        outputs = original(self, *args, **kwargs)
        collector = current()
        if collector is not None and ACTIVATIONS in collector.parts:
            _add_layer(collector, self, args[0] if args else None, outputs)
        return outputs

    return __call__


@faults.guarded("pick up the outputs of a layer of Keras")
def _add_layer(collector: Collector, layer: Any, inputs: Any, outputs: Any) -> None:
    if layer is collector.model or not collector.is_here():
        return
    call = collector.calls.get(id(layer), 0)
    collector.calls[id(layer)] = call + 1
    stem = collector.names.of_layer(layer) + (f"#{call}" if call > 0 else "")
    _add_all(collector, f"{stem}/inputs", inputs, "inputs", *input_kinds(layer))
    _add_all(collector, f"{stem}/outputs", outputs, "outputs", *output_kinds(layer, stem))


def _add_all(collector: Collector, name: str, values: Any, *collections: str) -> None:
    """One tensor by the name, several by their numbers behind it."""
    flat = [each for each in keras.tree.flatten(values) if each is not None]
    for number, value in enumerate(flat):
        collector.add(name if len(flat) == 1 else f"{name}_{number}", value, *collections)


# Gradients.


def _applying(original: Callable[..., Any]) -> Callable[..., Any]:
    def apply(self: Any, grads: Any, trainable_variables: Any = None) -> Any:
        loops = loops_here()
        collector = current() if loops is None else loops.collector(self)
        if collector is None:
            return original(self, grads, trainable_variables)
        grads = list(grads)
        variables = None if trainable_variables is None else list(trainable_variables)
        _add_gradients(collector, self, grads, variables, None)
        with collecting(collector):
            result = _updating(collector, original, self, grads, variables)
        if loops is not None:
            loops.updated(self, collector)
        return result

    return apply


def _applying_stateless(original: Callable[..., Any]) -> Callable[..., Any]:
    def stateless_apply(self: Any, optimizer_variables: Any, grads: Any, trainable_variables: Any) -> Any:
        collector = current()
        if collector is None:
            return original(self, optimizer_variables, grads, trainable_variables)
        grads = list(grads)
        _add_gradients(collector, self, grads, None, optimizer_variables)
        return _updating(collector, original, self, optimizer_variables, grads, trainable_variables)

    return stateless_apply


def _updating(collector: Collector, original: Callable[..., Any], *args: Any) -> Any:
    """An optimizer that holds another one calls that with the same gradients."""
    collector.depth_of_updates += 1
    try:
        return original(*args)
    finally:
        collector.depth_of_updates -= 1


@faults.guarded("pick up the gradients of Keras")
def _add_gradients(
    collector: Collector, optimizer: Any, gradients: list[Any], variables: Optional[list[Any]], state: Any
) -> None:
    if collector.depth_of_updates > 0:
        return
    if not collector.is_here():
        collector.updates_inside += 1
        return
    if variables is None:
        variables = list(getattr(optimizer, "inner_optimizer", optimizer)._trainable_variables)
    collector.updated.append((optimizer, variables))
    if GRADIENTS not in collector.parts:
        return
    scale = _scale_of(optimizer, state)
    for variable, gradient in zip(variables, gradients):
        name = f"gradient/{collector.names.of_variable(variable)}"
        value = collector.backend.as_tensor(gradient)
        if value is not None and scale is not None:
            value = keras.ops.cast(value, "float32") / scale
        collector.add(name, value, "gradients")


def _scale_of(optimizer: Any, state: Any) -> Any:
    """By which losses were multiplied, and gradients are; None: by nothing."""
    dynamic = getattr(optimizer, "dynamic_scale", None)
    if dynamic is None:
        return optimizer.loss_scale_factor
    if state is None:
        return keras.ops.convert_to_tensor(dynamic)
    return next((value for variable, value in zip(optimizer.variables, state) if variable is dynamic), None)


# Losses.


def _computing_loss(original: Callable[..., Any]) -> Callable[..., Any]:
    def compute_loss(self: Any, *args: Any, **kwargs: Any) -> Any:
        collector = current()
        if collector is None:
            return original(self, *args, **kwargs)
        collector.computes_loss = True
        collector.depth_of_losses += 1
        try:
            loss = original(self, *args, **kwargs)
        finally:
            collector.depth_of_losses -= 1
        if collector.depth_of_losses == 0:
            _add_loss(collector, loss, args, kwargs)
        return loss

    return compute_loss


@faults.guarded("pick up the loss of Keras")
def _add_loss(collector: Collector, loss: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    if not collector.is_here():
        return
    collector.add_loss(loss)
    if ACTIVATIONS not in collector.parts:
        return
    given = dict(zip(("x", "y", "y_pred", "sample_weight"), args), **kwargs)
    for key, name, collection in (
        ("x", "inputs", "batch_inputs"),
        ("y", "labels", "labels"),
        ("y_pred", "predictions", "predictions"),
    ):
        _add_all(collector, collector.names.of_loss(name), given.get(key), collection)
