"""SessionHook: saves what a graph of TensorFlow 1 computes, as a hook of MonitoredSession."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Optional

import numpy as np
import trainwarden
from tensorflow.python.training.session_run_hook import SessionRunArgs, SessionRunHook
from trainwarden import faults

from ..core.collection import CollectionKeys
from ..core.recording import leave_attached
from ..exceptions import SMDebugTypeError
from .base import TensorFlowHook
from .graph_tensors import RunTensors, names_of_losses, names_of_variables, operations_of


@dataclass(frozen=True)
class _Place:
    """A tensor that some collection has."""

    tensor_id: int
    tensor: Any


@dataclass(frozen=True)
class _RunPlaces:
    """Of the tensors of one set of things that a program runs."""

    computed: list[_Place]
    variables: list[_Place]


class SessionHook(TensorFlowHook, SessionRunHook):  # type: ignore[misc]
    """Saves variables, gradients, losses and other tensors of a graph.

        hook = smd.SessionHook("runs/first", save_config=smd.SaveConfig(save_interval=100))
        train = hook.wrap_optimizer(optimizer).minimize(loss)
        with tf.train.MonitoredSession(hooks=[hook]) as session:
            session.run(train)

    Each run of the session is a step. What is saved of it is fetched with it, and only what it computes anyhow;
    variables are saved as they are before it. Arguments and errors: BaseHook.
    """

    captures_itself = True

    def _set_up(self) -> None:
        super()._set_up()
        self._optimizer: Any = None  # the last that has computed gradients
        self._graph: Any = None  # the one that is looked at
        self._runs: dict[Any, _RunPlaces] = {}  # of that graph
        self._fetched: list[_Place] = []  # of the run that has begun
        self._read: list[tuple[int, Any]] = []

    # Optimizers.

    def wrap_optimizer(self, optimizer: Any) -> Any:
        """The same optimizer. Gradients that it computes from now on are in the collection `gradients`, what it keeps
        beside the weights in `optimizer_variables`.

        Raises:
            SMDebugTypeError: it is no optimizer of tf.compat.v1.train, nor one of tf.keras that a graph takes.
        """
        for name in ("compute_gradients", "get_gradients"):
            compute = getattr(optimizer, name, None)
            if compute is not None:
                setattr(optimizer, name, self._noting(optimizer, compute))
                return optimizer
        raise SMDebugTypeError(f"expected an optimizer of tf.compat.v1.train, found {optimizer!r}")

    def _noting(self, optimizer: Any, compute: Any) -> Any:
        def noting(*args: Any, **kwargs: Any) -> Any:
            found = compute(*args, **kwargs)
            self._optimizer = optimizer
            self.set_gradients([each[0] if isinstance(each, tuple) else each for each in found])
            return found

        return noting

    def set_gradients(self, gradients: Iterable[Any]) -> None:
        """Adds these to the collection `gradients`. Of the gradient of an embedding, the rows that were looked up."""
        found = [getattr(gradient, "values", gradient) for gradient in gradients if gradient is not None]
        self.get_collection(CollectionKeys.GRADIENTS).add(found)

    # What TensorFlow calls.

    def begin(self) -> None:
        leave_attached()

    def before_run(self, run_context: Any) -> Optional[SessionRunArgs]:
        """A step begins, and the one before ends."""
        self._fetched, self._read = [], []
        self._look_at(run_context.session.graph)
        try:
            self._begin_step()
        except trainwarden.StopTraining:
            run_context.request_stop()  # the program goes on behind its loop
            self.is_saving = False
        if not self.is_saving:
            return None
        self.last_saved_step = self.step
        self._prepare_run(run_context)
        return SessionRunArgs([place.tensor for place in self._fetched])

    def after_run(self, run_context: Any, run_values: Any) -> None:
        if self.is_saving:
            self._save_run(run_values.results)
        if self.custom_tensors_to_save:
            self._save_custom_tensors_post_step()

    # What is saved.

    @faults.guarded("look for the variables and losses of a graph")
    def _look_at(self, graph: Any) -> None:
        """A new one: each mode of an estimator has its own."""
        if graph is self._graph:
            return
        self._graph, self._runs = graph, {}
        biases = self.get_collection(CollectionKeys.BIASES)
        for name in names_of_variables(graph):
            of = biases if "bias" in name else self.get_collection(CollectionKeys.WEIGHTS)
            of.add_tensor_name(name)
        for name in names_of_losses(graph):
            self.get_collection(CollectionKeys.LOSSES).add_tensor_name(name)
        if self._optimizer is not None:
            variables = self._optimizer.variables
            self.set_optimizer_variables(variables() if callable(variables) else variables)

    @faults.guarded("prepare to save a run of smdebug's hook")
    def _prepare_run(self, run_context: Any) -> None:
        places = self._places_of(run_context.original_args)
        self._fetched = [place for place in places.computed if self._numbers.wants(place.tensor_id)]
        read = [place for place in places.variables if self._numbers.wants(place.tensor_id)]
        values = run_context.session.run([place.tensor for place in read]) if read else []
        # An update changes the memory of a variable in place.
        self._read = [(place.tensor_id, np.array(value)) for place, value in zip(read, values)]

    def _places_of(self, args: Any) -> _RunPlaces:
        operations = operations_of(self._graph, args.fetches)
        fed = frozenset(str(getattr(tensor, "name", tensor)) for tensor in args.feed_dict or ())
        key = (tuple(operation.name for operation in operations), fed)
        places = self._runs.get(key)
        if places is None:
            run = RunTensors(self._graph, operations, lambda tensor: tensor.name in fed)
            losses = run.at_hand(self._losses_of_graph())
            computed = [*self._declared(run.computed()), *self._declared(losses)]
            places = self._runs[key] = _RunPlaces(computed, self._declared(run.variables()))
        return places

    def _losses_of_graph(self) -> list[str]:
        """The collection has those of other graphs, too."""
        return [name for name in sorted(self.get_collection(CollectionKeys.LOSSES).tensor_names) if self._has(name)]

    def _has(self, name: str) -> bool:
        try:
            self._graph.get_tensor_by_name(name)
        except (KeyError, ValueError):
            return False
        return True

    def _declared(self, tensors: Iterable[tuple[str, Any]]) -> list[_Place]:
        use_for = self._numbers.has_use_for
        return [_Place(self._numbers.declare(name), tensor) for name, tensor in tensors if use_for(name)]

    @faults.guarded("save a run of a session")
    def _save_run(self, results: Iterable[Any]) -> None:
        computed = ((place.tensor_id, value) for place, value in zip(self._fetched, results))
        for tensor_id, value in (*computed, *self._read):
            self._save_any(tensor_id, value)
