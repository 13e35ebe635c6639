"""SessionHook: saves what a graph of TensorFlow 1 computes, as a hook of MonitoredSession."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Optional, cast

import numpy as np
import trainwarden
from tensorflow.python.training.session_run_hook import SessionRunArgs, SessionRunHook
from trainwarden import faults
from trainwarden._cluster import rank_and_size

from ..core.collection import DEFAULT_TF_COLLECTIONS, CollectionKeys
from ..core.hook import CallbackHook, SaveConfigLike
from ..core.hook_utils import PathLike
from ..core.recording import Place, leave_attached
from ..core.reduction_config import ReductionConfig
from ..core.singleton_utils import set_hook
from ..core.tensor_numbers import TensorNumbers
from ..exceptions import SMDebugTypeError
from .collection import Collection, CollectionManager
from .graph_tensors import RunTensors, names_of_losses, names_of_variables, operations_of

DEFAULT_INCLUDE_COLLECTIONS = [CollectionKeys.LOSSES, CollectionKeys.METRICS, CollectionKeys.SM_METRICS]
_MATCHES_NOTHING = "(?!)"


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


class SessionHook(CallbackHook, SessionRunHook):  # type: ignore[misc]
    """Saves variables, gradients, losses and other tensors of a graph.

        hook = smd.SessionHook("runs/first", save_config=smd.SaveConfig(save_interval=100))
        train = hook.wrap_optimizer(optimizer).minimize(loss)
        with tf.train.MonitoredSession(hooks=[hook]) as session:
            session.run(train)

    Each run of the session is a step. What is saved of it is fetched with it, and only what it computes anyhow;
    variables are saved as they are before it. Arguments and errors: BaseHook.
    """

    captures_itself = True

    def __init__(
        self,
        out_dir: Optional[PathLike] = None,
        export_tensorboard: bool = False,
        tensorboard_dir: Optional[PathLike] = None,
        dry_run: bool = False,
        reduction_config: Optional[ReductionConfig] = None,
        save_config: SaveConfigLike = None,
        include_regex: Optional[list[str]] = None,
        include_collections: Optional[list[str]] = None,
        save_all: bool = False,
        include_workers: str = "one",
    ) -> None:
        super().__init__(
            CollectionManager(),
            DEFAULT_INCLUDE_COLLECTIONS,
            out_dir=out_dir,
            export_tensorboard=export_tensorboard,
            tensorboard_dir=tensorboard_dir,
            dry_run=dry_run,
            reduction_config=reduction_config,
            save_config=save_config,
            include_regex=include_regex,
            include_collections=include_collections,
            save_all=save_all,
            include_workers=include_workers,
        )
        self._numbers = TensorNumbers(self._recording)
        self._graph: Any = None  # the one that is looked at
        self._runs: dict[Any, _RunPlaces] = {}  # of that graph
        self._fetched: list[_Place] = []  # of the run that has begun
        self._read: list[tuple[int, Any]] = []
        set_hook(self)

    def get_collection(self, name: str, create: bool = True) -> Collection:
        """The collection of that name, created when missing."""
        return cast(Collection, super().get_collection(name, create))

    def add_to_collection(self, collection_name: str, arg: Any) -> None:
        """Adds a tensor, a variable or an operation to the collection. SMDebugTypeError: it is none."""
        self.get_collection(collection_name).add(arg)

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

    _optimizer: Any = None  # the last that has computed gradients

    def set_gradients(self, gradients: Iterable[Any]) -> None:
        """Adds these to the collection `gradients`. Of the gradient of an embedding, the rows that were looked up."""
        found = [getattr(gradient, "values", gradient) for gradient in gradients if gradient is not None]
        self.get_collection(CollectionKeys.GRADIENTS).add(found)

    def set_optimizer_variables(self, optimizer_variables: Iterable[Any]) -> None:
        """Adds these to the collection `optimizer_variables`."""
        self.get_collection(CollectionKeys.OPTIMIZER_VARIABLES).add(list(optimizer_variables))

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
            array = np.atleast_1d(np.asarray(value))
            self._recording.save_value(tensor_id, array)
            self._numbers.save_numbers(tensor_id, array)

    # What BaseHook asks for.

    def _place_in_job(self) -> Place:
        return Place(*(rank_and_size() or (0, 1)))

    def _get_default_collections(self) -> Iterable[str]:
        return DEFAULT_TF_COLLECTIONS

    def _prepare_collections(self) -> None:
        """A collection may get its tensors with the next graph: one without any is one to be. `all` is all."""
        everything = self.collection_manager.get(CollectionKeys.ALL)
        if CollectionKeys.ALL in self.include_collections and not (everything.include_regex or everything.tensor_names):
            everything.include(".*")
        for name, collection in self.collection_manager.get_collections().items():
            if name in DEFAULT_TF_COLLECTIONS and not (collection.include_regex or collection.tensor_names):
                collection.include(_MATCHES_NOTHING)
        super()._prepare_collections()

    def _open(self) -> None:
        super()._open()
        self._numbers = TensorNumbers(self._recording, self._collections_to_save)

    def _save_any(self, tensor_id: int, value: Any) -> None:
        self._recording.save_value(tensor_id, np.atleast_1d(np.asarray(value)))

    @staticmethod
    def _scalar_of(value: Any) -> float:
        try:
            return float(np.asarray(value).reshape(()))
        except (TypeError, ValueError):
            raise SMDebugTypeError(f"expected one number, found {value!r}") from None
