"""TensorFlow under Keras: each trace of a tf.function is a graph, and its tensors know theirs."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Generator, Iterable, Iterator
from contextlib import nullcontext
from typing import Any, Callable, Optional

import tensorflow as tf

from .. import faults
from .._replacing import replace
from ..hook import Hook
from .call_steps import steps_of, steps_per_call, steps_so_far
from .collecting import Collector, current, loops_here
from .functions import Followed
from .handing import hand_out, take
from .loops import Loops, pick_up_loops
from .optimizers import learning_rate_of, variables_of
from .rings import Rings
from .session import Session
from .vetoing import optimizers_of, scales_of
from .whole_loops import rows_asked_for

# Functions within each other, as Keras makes them: several steps, one step, conversions.
_MAX_DEPTH = 6


class _Apart:
    """As what a compiled function is counted."""


class HeldResources:
    """The values of variables. They are held, not copied: whoever overwrites one does not overwrite its memory."""

    def __init__(self, resources: Iterable[Any]) -> None:
        different = {id(each): each for each in resources}
        self._values = [(each, _value_in(each)) for each in different.values()]

    def give_back(self, result: Any) -> Any:
        for resource, value in self._values:
            tf.raw_ops.AssignVariableOp(resource=resource, value=value)
        return result


class TensorFlowBackend:
    """For Keras 3 and 2."""

    name = "tensorflow"
    steps_in_python = False  # of one call of a function: with steps_per_execution they are one graph

    def pick_up(self) -> None:
        replace(tf.GradientTape, "gradient", _taking_gradient)
        pick_up_loops()

    def loops_of(self, session: Session) -> Loops:
        return Loops(session, self)

    def unheard(self) -> Any:
        return nullcontext()  # who looks at TensorFlow asks is_owned()

    def saver(self, hook: Hook) -> Callable[[int, Any], None]:
        return hook.save_tensor

    def can_follow(self, model: Any) -> bool:
        """Workers of a ParameterServerStrategy run a step when they come to it, and nobody here sees what it gives."""
        if getattr(model, "_cluster_coordinator", None) is None:
            return True
        faults.say_once("a model under a ParameterServerStrategy is not captured")
        return False

    def say_what_is_seen(self, model: Any) -> None:
        steps = steps_per_call(model)
        if steps > 1:
            faults.say_once(f"of {steps} steps that are one call (steps_per_execution) the last is seen")

    def steps_of_call(self, function: Followed, args: tuple[Any, ...]) -> int:
        return steps_of(function, args)

    def steps_so_far(self, function: Followed) -> Optional[int]:
        return steps_so_far(function)

    def runs_beside(self, function: Any) -> bool:
        return False

    def trace(self) -> Any:
        return None if tf.executing_eagerly() else tf.compat.v1.get_default_graph()

    def is_in(self, trace: Any) -> bool:
        return self.trace() is trace

    def as_tensor(self, value: Any) -> Any:
        """None for what is no tensor of numbers. Gradients of embeddings are some rows: these."""
        if isinstance(value, tf.IndexedSlices):
            value = value.values
        if not isinstance(value, tf.Tensor):
            return None
        kind = value.dtype
        return value if kind.is_floating or kind.is_integer or kind.is_bool or kind.is_complex else None

    def flatten(self, values: Any) -> list[Any]:
        return list(tf.nest.flatten(values))

    def unscaled(self, gradient: Any, scale: Any) -> Any:
        return tf.cast(gradient, tf.float32) / scale

    def can_leave(self, value: Any, trace: Any) -> bool:
        return bool(tf.executing_eagerly()) if trace is None else getattr(value, "graph", None) is trace

    def draws_here(self) -> bool:
        """Such an operation keeps its place in its stream itself: each compiled function has a stream of its own."""
        graph = self.trace()
        if graph is None:
            return False
        return any("Random" in each.type and each.op_def.is_stateful for each in graph.get_operations())

    def replicas(self) -> int:
        return int(tf.distribute.get_strategy().num_replicas_in_sync)

    def hand_out(self, kind: str, result: Any, collector: Collector) -> Any:
        """Keras gives the mean over replicas; losses and gradients of these are parts of a sum."""
        if collector.replicas > 1:
            collector.found = {name: value * collector.replicas for name, value in collector.found.items()}
        return hand_out(kind, result, collector)

    def take(self, kind: str, result: Any) -> tuple[Any, dict[str, Any]]:
        return take(kind, result)

    def logs(self, result: Any) -> dict[str, Any]:
        return result if isinstance(result, dict) else {}

    def set_apart(self, function: Any) -> None:
        """TensorFlow warns of a function that is traced again and again, and takes all of one source for the same."""
        for compiled in _functions_in(function):
            if hasattr(compiled, "_key_for_call_stats"):
                compiled._key_for_call_stats = _Apart()

    def show_compiled(self, model: Any, function: Any) -> None:
        """Keras 2 keeps the compiled training step, of which its callback for TensorBoard writes the graph: that is to
        be one that has been traced."""
        own = getattr(model, "train_tf_function", None)
        if own is not None and not hasattr(own, "_concrete_variable_creation_fn"):
            model.train_tf_function = next(_functions_in(function), own)

    def batches_of_generator(self, args: tuple[Any, ...], model: Any) -> Optional[list[Any]]:
        """Those of one call, of train_on_batch() and its like: they can be taken only once. None: of another kind."""
        if len(args) != 1 or not isinstance(args[0], Generator):
            return None
        return list(itertools.islice(args[0], model.steps_per_execution))

    def was_running(self, error: Exception, model: Any) -> bool:
        """Did the step fail while it ran, or already when it was traced?"""
        return bool(model.run_eagerly) or isinstance(error, (StopIteration, tf.errors.OpError))

    def trace_only(self, function: Any, args: tuple[Any, ...]) -> None:
        """A call traces too, but when it fails, a batch may have been taken and the step may have run."""
        compiled = next(_functions_in(function), None)
        if compiled is not None:  # else the model runs eagerly
            compiled.get_concrete_function(*args)

    def hold(self, model: Any, args: tuple[Any, ...]) -> HeldResources:
        optimizers = optimizers_of(model)
        variables = [*model.variables, *(v for each in [*model.metrics, *optimizers] for v in variables_of(each))]
        scales = {id(each) for each in scales_of(optimizers)}
        return self.hold_resources(self.resources_of(each for each in variables if id(each) not in scales))

    def hold_resources(self, resources: Iterable[Any]) -> HeldResources:
        return HeldResources(resources)

    def resources_of(self, variables: Iterable[Any]) -> Iterator[Any]:
        """Those of a variable of several replicas are several."""
        for variable in variables:
            inner = variable if isinstance(variable, tf.Variable) else variable.value
            for each in getattr(inner, "values", None) or [inner]:
                yield each.handle

    def resources_here(self) -> list[Any]:
        """Of the variables that the function uses which is traced now."""
        graph = self.trace()
        captured = () if graph is None else graph.external_captures
        return [each for each in captured if _type_of(each) is not None]

    def weight(self, variable: Any) -> Any:
        """As it is where code is traced now."""
        return (variable if isinstance(variable, tf.Variable) else variable.value).read_value()

    def rings(self, will_want: Callable[..., bool]) -> Optional[Rings]:
        """None: nothing is asked for of steps in a loop within a compiled function."""
        rows = rows_asked_for()
        return Rings(rows, will_want) if rows > 0 else None

    def weights(self, model: Any, result: Any) -> Iterator[tuple[Any, Any]]:
        for variable in model.variables:
            yield variable, _value_of(variable)

    def optimizer_state(self, model: Any, result: Any) -> Iterator[tuple[Any, Any]]:
        for variable in variables_of(model.optimizer):
            yield variable, _value_of(variable)

    def learning_rate(self, model: Any, result: Any) -> Any:
        rate = learning_rate_of(model.optimizer)
        return _value_of(rate) if hasattr(rate, "assign") else rate


def _type_of(resource: Any) -> Any:
    """Of the values of a variable; None: it is none, or not there yet."""
    data = getattr(resource, "_handle_data", None)
    if resource.dtype != tf.resource or data is None or not data.is_set or len(data.shape_and_type) != 1:
        return None
    return tf.dtypes.as_dtype(data.shape_and_type[0].dtype)


def _value_in(resource: Any) -> Any:
    return tf.raw_ops.ReadVariableOp(resource=resource, dtype=_type_of(resource))


def _functions_in(function: Any, depth: int = 0) -> Iterator[Any]:
    """The compiled functions that a function calls, by what it has of its surroundings."""
    if depth == _MAX_DEPTH:
        return
    if hasattr(function, "_python_function"):
        yield function
        function = function._python_function
    for cell in getattr(function, "__closure__", None) or ():
        try:
            inside = cell.cell_contents
        except ValueError:  # not yet filled
            continue
        if callable(inside):
            yield from _functions_in(inside, depth + 1)


def _value_of(variable: Any) -> Any:
    """The memory of the variable, not a copy of it."""
    inner = variable if isinstance(variable, tf.Variable) else variable.value
    return inner.value() if isinstance(inner, tf.Variable) else inner


def _taking_gradient(original: Any) -> Any:
    @functools.wraps(original)
    def gradient(self: Any, target: Any, *args: Any, **kwargs: Any) -> Any:
        collector = current()
        loops = loops_here()
        if collector is not None:
            _add_target(collector, target)
        elif loops is not None:
            loops.differentiated(target)
        return original(self, target, *args, **kwargs)

    return gradient


@faults.guarded("pick up the loss of a step of one's own")
def _add_target(collector: Collector, target: Any) -> None:
    """A step that does not call compute_loss(): what it differentiates is its loss."""
    if collector.computes_loss or not isinstance(target, tf.Tensor) or target.shape.rank != 0:
        return
    if collector.takes_losses():
        collector.add_loss(target)
