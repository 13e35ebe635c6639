"""Picking: stands in for functions of Keras through which gradients, losses and outputs of layers pass.

Each does what the function does; while a step is traced that hands something out, it shows the collector what passes.
Where Keras has these functions is for keras3.py and keras2.py to say.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Callable

from .. import faults
from .collecting import ACTIVATIONS, GRADIENTS, Collector, collecting, current, expect_updates, loops_here
from .kinds import input_kinds, output_kinds
from .names import kind_of_weight

# Layers.


def calling_layer(original: Callable[..., Any]) -> Callable[..., Any]:
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
    flat = [each for each in collector.backend.flatten(values) if each is not None]
    for number, value in enumerate(flat):
        collector.add(name if len(flat) == 1 else f"{name}_{number}", value, *collections)


# Gradients.


def making_optimizer(original: Callable[..., Any]) -> Callable[..., Any]:
    def __init__(self: Any, *args: Any, **kwargs: Any) -> None:
        original(self, *args, **kwargs)
        expect_updates(self)

    return __init__


def watched_update(optimizer: Any, gradients: Any, variables: Any, update: Callable[[], Any], scale: Any = None) -> Any:
    """Runs the update and gives its result. Somebody may be told of it, in a step of a model or in a loop of one's own.
    None: a rule inside the training vetoes it.

    Arguments:
        variables: None: those that the optimizer was built for.
        scale: a function that gives what gradients are multiplied by; None: nothing.
    """
    loops = loops_here()
    collector = current() if loops is None else loops.collector(optimizer)
    if collector is None:
        return update()
    add_gradients(collector, optimizer, gradients, variables, scale)
    if loops is not None and not loops.may_update(collector):
        loops.updated(optimizer, collector)
        return None
    with collecting(collector):
        result = inner_update(collector, update)
    end_inside(collector, variables)
    if loops is not None:
        loops.updated(optimizer, collector)
    return result


def inner_update(collector: Collector, update: Callable[[], Any]) -> Any:
    """An optimizer that holds another one calls that with the same gradients."""
    collector.depth_of_updates += 1
    try:
        return update()
    finally:
        collector.depth_of_updates -= 1


@faults.guarded("pick up the gradients of Keras")
def add_gradients(collector: Collector, optimizer: Any, gradients: Any, variables: Any, scale: Any = None) -> None:
    if collector.depth_of_updates > 0:
        return
    if variables is None:
        variables = getattr(optimizer, "inner_optimizer", optimizer)._trainable_variables
    if not collector.is_here():
        collector.updated_inside.append((optimizer, list(variables)))
        if collector.rings is not None:
            collector.rings.begin_update(optimizer, _named(collector, gradients, variables, scale), collector.names)
        return
    collector.updated.append((optimizer, list(variables)))
    if GRADIENTS not in collector.parts:
        return
    for name, value in _named(collector, gradients, variables, scale):
        collector.add(name, value, "gradients")


def _named(collector: Collector, gradients: Any, variables: Any, scale: Any) -> list[tuple[str, Any]]:
    factor = None if scale is None else scale()
    named = []
    for variable, gradient in zip(variables, gradients):
        value = collector.backend.as_tensor(gradient)
        if value is not None and factor is not None:
            value = collector.backend.unscaled(value, factor)
        named.append((f"gradient/{collector.names.of_variable(variable)}", value))
    return named


@faults.guarded("keep what a step within a loop of a compiled function computes")
def end_inside(collector: Collector, variables: Any) -> None:
    """Behind an update."""
    if collector.rings is None or collector.depth_of_updates > 0 or collector.is_here():
        return
    known = collector.updated_inside[-1][1] if variables is None else variables
    names = collector.names
    weights = [(each, collector.backend.weight(each)) for each in known]
    collector.rings.end_update([(names.of_variable(each), value, kind_of_weight(each)) for each, value in weights])


# Losses.


def computing_loss(original: Callable[..., Any]) -> Callable[..., Any]:
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
    if collector.takes_losses():
        collector.add_loss(loss)
    if collector.is_here():
        add_batch(collector, dict(zip(("x", "y", "y_pred", "sample_weight"), args), **kwargs))


def add_batch(collector: Collector, given: Mapping[str, Any]) -> None:
    """What a loss is computed of, by the names that Keras has for it."""
    if ACTIVATIONS not in collector.parts:
        return
    for key, name, collection in (
        ("x", "inputs", "batch_inputs"),
        ("y", "labels", "labels"),
        ("y_pred", "predictions", "predictions"),
    ):
        _add_all(collector, collector.names.of_loss(name), given.get(key), collection)
