"""JAX under Keras: the state of a model goes through its step, and what is computed for a gradient is a trace within."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import nullcontext
from typing import Any, Callable

import jax
import keras
from jax.extend.core import get_opaque_trace_state

from .._replacing import replace
from ..hook import Hook
from .beside import Beside, TrackedLoss
from .collecting import Collector, collecting, current
from .handing import hand_out, take
from .optimizers import variables_of
from .vetoing import optimizers_of, scales_of


class HeldState:
    """Copies of the arrays, since a compiled step gives away those that it gets."""

    def __init__(self, model: Any, state: Any) -> None:
        self._state = jax.tree_util.tree_map(lambda leaf: leaf.copy() if isinstance(leaf, jax.Array) else leaf, state)
        variables = variables_of(model.optimizer)
        scales = {id(each) for each in scales_of(optimizers_of(model))}
        self._scales = [number for number, each in enumerate(variables) if id(each) in scales]

    def give_back(self, result: Any) -> Any:
        trainable, non_trainable, optimizer, *rest = self._state
        new = result[1][2]
        optimizer = type(optimizer)(new[n] if n in self._scales else old for n, old in enumerate(optimizer))
        return result[0], (trainable, non_trainable, optimizer, *rest)


class JaxBackend:
    name = "jax"
    steps_in_python = True

    def steps_of_call(self, function: Any, args: tuple[Any, ...]) -> int:
        return 1

    def steps_so_far(self, function: Any) -> None:
        return None

    def pick_up(self) -> None:
        replace(jax, "value_and_grad", _with_gradient)

    def loops_of(self, session: Any) -> None:
        return None  # they are the adapter of JAX's

    def unheard(self) -> Any:
        return nullcontext()  # who looks at JAX asks is_owned()

    def saver(self, hook: Hook) -> Callable[[int, Any], None]:
        return hook.save_tensor

    def runs_beside(self, function: Any) -> bool:
        """Is it compiled? A step that is not computes the same, whatever else it hands out."""
        return hasattr(function, "trace")

    def beside(self, step: Any) -> Beside:
        return Beside(step)

    def tracked_loss(self, model: Any, args: tuple[Any, ...]) -> TrackedLoss:
        return TrackedLoss(model, args)

    def trace(self) -> Any:
        return get_opaque_trace_state()

    def is_in(self, trace: Any) -> bool:
        return bool(get_opaque_trace_state() == trace)

    def as_tensor(self, value: Any) -> Any:
        """None for what is no array of numbers."""
        if not isinstance(value, jax.Array) or jax.dtypes.issubdtype(value.dtype, jax.dtypes.extended):
            return None
        return value

    def flatten(self, values: Any) -> list[Any]:
        return list(keras.tree.flatten(values))

    def unscaled(self, gradient: Any, scale: Any) -> Any:
        return gradient.astype("float32") / scale

    def can_leave(self, value: Any, trace: Any) -> bool:
        return self.is_in(trace)

    def draws_here(self) -> bool:
        return False  # random numbers of JAX have no state

    def replicas(self) -> int:
        return 1

    def hand_out(self, kind: str, result: Any, collector: Collector) -> Any:
        outputs, state = result
        return hand_out(kind, outputs, collector), state

    def take(self, kind: str, result: Any) -> tuple[Any, dict[str, Any]]:
        outputs, found = take(kind, result[0])
        return (outputs, result[1]), found

    def logs(self, result: Any) -> dict[str, Any]:
        return result[0] if isinstance(result[0], dict) else {}

    def set_apart(self, function: Any) -> None:
        """JAX counts nothing."""

    def show_compiled(self, model: Any, function: Any) -> None:
        """Nobody looks at it."""

    def batches_of_generator(self, args: tuple[Any, ...], model: Any) -> None:
        return None  # a step gets its batch

    def was_running(self, error: Exception, model: Any) -> bool:
        return True

    def trace_only(self, function: Any, args: tuple[Any, ...]) -> None:
        """Of a compiled step; its call need not do it again."""
        if hasattr(function, "trace"):
            function.trace(*args)

    def hold(self, model: Any, args: tuple[Any, ...]) -> HeldState:
        return HeldState(model, args[0])

    def weights(self, model: Any, result: Any) -> Iterator[tuple[Any, Any]]:
        trainable, non_trainable = result[1][:2]
        yield from zip(model.trainable_variables, trainable)
        yield from zip(model.non_trainable_variables, non_trainable)

    def optimizer_state(self, model: Any, result: Any) -> Iterator[tuple[Any, Any]]:
        yield from zip(model.optimizer.variables, result[1][2])

    def learning_rate(self, model: Any, result: Any) -> Any:
        """None where a schedule computes it: that would be one more computation on the device."""
        variable = getattr(model.optimizer, "_learning_rate", None)
        for each, value in self.optimizer_state(model, result):
            if each is variable:
                return value
        return None


def _with_gradient(original: Any) -> Any:
    def value_and_grad(fun: Any, argnums: Any = 0, has_aux: bool = False, **kwargs: Any) -> Any:
        collector = current()
        if collector is None:
            return original(fun, argnums, has_aux, **kwargs)
        return _handing_out(original, collector, fun, argnums, has_aux, kwargs)

    return value_and_grad


def _handing_out(original: Any, collector: Collector, fun: Any, argnums: Any, has_aux: bool, options: Any) -> Any:
    """What is computed inside leaves it as a further result beside the loss."""
    inner = collector.inner()

    def differentiated(*args: Any, **kwargs: Any) -> Any:
        inner.start_anew()
        with collecting(inner):
            result = fun(*args, **kwargs)
        loss, aux = result if has_aux else (result, None)
        return loss, (aux, dict(inner.found))

    with_gradient = original(differentiated, argnums, True, **options)

    def call(*args: Any, **kwargs: Any) -> Any:
        (loss, (aux, found)), gradients = with_gradient(*args, **kwargs)
        if collector.is_here():
            collector.merge(inner, found)
            if not collector.computes_loss:
                collector.add_loss(loss)
        return ((loss, aux) if has_aux else loss), gradients

    return call
