"""Plans: what a run of a session is, and what can be had of it. Made once for each set of things that a program runs.

All of it is computed by the run anyhow, or is a variable: to fetch it changes nothing of what the program computes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, Optional

from .layers import layer_tensors
from .notes import GraphNotes, notes_of
from .reach import insides, is_at_hand, operations_behind
from .updates import Update, can_train, optimizers_of, updates_in
from .variables import collection_of, is_moving, is_variable, readable_variables, trainable_variables, variable_behind

# Programs that build on while they train run something new each time.
_MAX_PLANS = 200
_SOURCES = ("IteratorGetNext", "QueueDequeue", "ReaderRead")  # what their names begin with


@dataclass(frozen=True)
class Slot:
    """A tensor of the run, under its name there."""

    name: str
    collections: tuple[str, ...]
    tensor: Any


@dataclass(eq=False)
class RunPlan:
    """Of one set of things that are run together."""

    mode: str = ""  # "": neither training nor a pass of data through a model
    optimizers: frozenset[str] = frozenset()  # that step in it
    others: frozenset[str] = frozenset()  # that the graph has beside them
    computed: list[Slot] = field(default_factory=list)  # fetched with the run
    read: list[Slot] = field(default_factory=list)  # variables, read before it
    has_metrics: bool = False  # an estimator's, which come when it has evaluated
    kept: tuple[Any, ...] = ()  # what the plan is known by: alive, so that no other thing gets its id


def plan_of(graph: Any, targets: list[Any], fetches: list[Any], feeds: Iterable[Any]) -> Optional[RunPlan]:
    """Operations, tensors, and the references of tensors that are fed. None: too many plans."""
    notes = notes_of(graph)
    key = (tuple(map(id, targets)), tuple(map(id, fetches)), frozenset(feeds))
    plan = notes.plans.get(key)
    if plan is None and len(notes.plans) < _MAX_PLANS:
        fed = {id(reference.deref()) for reference in feeds}
        plan = notes.plans[key] = _Maker(graph, notes, targets, fetches, fed).plan()
        plan.kept = (*targets, *fetches)
    return plan


class _Maker:
    """Looks at what runs."""

    def __init__(self, graph: Any, notes: GraphNotes, targets: list[Any], fetches: list[Any], fed: set[int]) -> None:
        self._graph = graph
        self._notes = notes
        self._fed = fed
        self._is_fed: Callable[[Any], bool] = lambda tensor: id(tensor) in fed
        self._order = operations_behind([*targets, *(tensor.op for tensor in fetches)], self._is_fed)
        self._inside = insides(self._order)
        self._outside = set(self._order) - self._inside

    def plan(self) -> RunPlan:
        trained = trainable_variables(self._graph)
        updates = updates_in(self._order, self._inside, self._notes)
        losses = [loss for loss in self._losses() if self._is_had(loss)]
        flowing, has_data = self._flow(trained | set(updates))
        passes_data = has_data and any(map(_computes, flowing))
        mode = "train" if updates else self._mode_without_updates(bool(losses), passes_data)
        if not mode:
            return RunPlan()
        forward = self._forward(losses) if updates else self._order
        layers = layer_tensors(forward, flowing, updates or trained)
        optimizers = frozenset(update.optimizer for update in updates.values())
        plan = RunPlan(mode, optimizers, frozenset(optimizers_of(self._graph)) - optimizers)
        plan.has_metrics = self._notes.mode == "eval"
        plan.computed = self._computed(losses, updates.values(), layers)
        plan.read = list(self._read(updates)) if updates else []
        return plan

    def _mode_without_updates(self, has_loss: bool, passes_data: bool) -> str:
        mode = self._notes.mode or ("eval" if can_train(self._graph, self._notes) else "train")
        return mode if mode != "train" and (has_loss or passes_data) else ""

    def _losses(self) -> list[Any]:
        """Those that are differentiated first, the innermost of them last: an estimator's before its parts."""
        from tensorflow.python.framework import ops

        listed = [each for each in self._graph.get_collection(ops.GraphKeys.LOSSES) if each.shape.rank == 0]
        return [*self._notes.losses, *listed]

    def _is_had(self, loss: Any) -> bool:
        """Also one whose gradient the run computes, and only its own number is missing."""
        gradients = self._notes.derived.get(loss.name, ())
        if loss.op not in self._outside and any(each.op in self._outside for each in gradients):
            if is_at_hand(loss.op, self._outside, self._is_fed):
                self._outside.add(loss.op)
        return self._can_be_fetched(loss)

    def _can_be_fetched(self, tensor: Any) -> bool:
        kind = tensor.dtype
        return (
            tensor.op in self._outside
            and not self._is_fed(tensor)
            and (kind.is_floating or kind.is_integer or kind.is_bool or kind.is_complex)
            and not kind._is_ref_dtype
            and self._graph.is_fetchable(tensor)
        )

    def _flow(self, weights: set[str]) -> tuple[set[Any], bool]:
        """The operations that data go through which have met a weight; where no data come in, those behind weights."""
        with_data, with_weights = set(), set()
        for operation in self._order:
            inputs = [tensor for tensor in operation.inputs if not self._is_fed(tensor)]
            if operation.name in weights or any(tensor.op in with_weights for tensor in inputs):
                with_weights.add(operation)
            is_source = len(inputs) < len(operation.inputs) or operation.type.startswith(_SOURCES)
            if is_source or any(tensor.op in with_data for tensor in inputs):
                with_data.add(operation)
        return (with_weights & with_data if with_data else with_weights), bool(with_data)

    def _forward(self, losses: list[Any]) -> list[Any]:
        """Of a run that goes back and updates, too. A graph that was imported does not know where that begins."""
        if not losses:
            return [each for each in self._order if not f"/{each.name}".count("/gradients")]
        return operations_behind([loss.op for loss in losses], self._is_fed)

    def _computed(self, losses: list[Any], updates: Iterable[Update], layers: list[tuple[Any, str]]) -> list[Slot]:
        by_name: dict[str, Slot] = {}

        def add(tensor: Any, name: str, *collections: str) -> None:
            before = by_name.get(name)
            if before is not None and before.tensor is tensor:
                collections = tuple(dict.fromkeys((*before.collections, *collections)))
            elif before is not None or not self._can_be_fetched(tensor):
                return
            by_name[name] = Slot(name, collections, tensor)

        for loss in losses:
            add(loss, _name_of(loss), "losses")
        for update in updates:
            if update.gradient is not None:
                add(update.gradient, f"gradient/{update.variable}", "gradients")
        for update in updates:
            if update.rate is not None:
                add(update.rate, self._name_of_rate(update.optimizer), "scalars")
        for tensor, collection in layers:
            add(tensor, _name_of(tensor), collection)
        return list(by_name.values())

    def _name_of_rate(self, optimizer: str) -> str:
        """Where there are several optimizers, the first has the name that the only one would have."""
        first = next(iter(optimizers_of(self._graph)), optimizer)
        return "learning_rate" if optimizer == first else f"learning_rate/{optimizer}"

    def _read(self, updates: dict[str, Update]) -> Iterator[Slot]:
        readable = readable_variables(self._graph)
        moving = {each.name for each in self._order if is_variable(each) and is_moving(each.name)}
        for name in dict.fromkeys((*updates, *sorted(moving))):
            if name in readable:
                yield Slot(name, (collection_of(name),), readable[name])
        state = dict.fromkeys(name for update in updates.values() for name in update.state)
        for name in state:
            if name in readable and name not in updates:
                yield Slot(f"optimizer_state/{name}", ("optimizer_state",), readable[name])


def _computes(operation: Any) -> bool:
    """To restore or to save a variable takes data, too: the name of a file."""
    return any(tensor.dtype.is_floating and not tensor.dtype._is_ref_dtype for tensor in operation.outputs)


def _name_of(tensor: Any) -> str:
    name = str(tensor.name)
    return name[: -len(":0")] if name.endswith(":0") else name
