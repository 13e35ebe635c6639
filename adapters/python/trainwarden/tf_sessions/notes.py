"""Notes: what is known of a graph from the time when it was built. They lie on the graph and end with it.

Nothing is added to a graph: the random numbers of its operations depend on how many there are.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, Optional

from .variables import variable_behind

_ATTRIBUTE = "_trainwarden_notes"
_MODES = {"train": "train", "eval": "eval", "infer": "predict"}  # by what estimators call them


@dataclass
class GraphNotes:
    """Of one graph."""

    losses: list[Any] = field(default_factory=list)  # numbers that were differentiated with respect to variables
    derived: dict[str, list[Any]] = field(default_factory=dict)  # gradients, by the loss
    gradients: dict[str, Any] = field(default_factory=dict)  # the last, by the variable's operation
    mode: str = ""  # in which an estimator has built it; "": none has
    plans: dict[Any, Any] = field(default_factory=dict)  # what is known of runs of it

    def add_loss(self, loss: Any) -> None:
        if getattr(getattr(loss, "shape", None), "rank", None) == 0 and all(each is not loss for each in self.losses):
            self.losses.append(loss)


def notes_of(graph: Any) -> GraphNotes:
    notes: Optional[GraphNotes] = getattr(graph, _ATTRIBUTE, None)
    if notes is None:
        notes = GraphNotes()
        setattr(graph, _ATTRIBUTE, notes)
    return notes


def note_gradients(targets: Iterable[Any], sources: Iterable[Any], gradients: Iterable[Any]) -> None:
    """`targets` were differentiated with respect to `sources`. Those of a penalty on gradients are no variables."""
    graph, found = None, {}
    for source, gradient in zip(sources, gradients):
        variable = variable_behind(source)
        value = getattr(gradient, "values", gradient)  # of an embedding: some rows
        if variable is None or getattr(value, "graph", None) is None:
            continue
        found[variable.name] = value
        graph = value.graph
    if graph is None or hasattr(graph, "outer_graph"):  # the body of a function: it is no run's
        return
    notes = notes_of(graph)
    notes.gradients.update(found)
    for target in targets:
        notes.add_loss(target)
        notes.derived.setdefault(target.name, []).extend(found.values())


def note_model(mode: str, model: Any) -> None:
    """An estimator's function has built a model in this mode, in the graph that is the current one."""
    from tensorflow.python.framework import ops

    notes = notes_of(ops.get_default_graph())
    notes.mode = _MODES.get(mode, "")
    notes.add_loss(getattr(model, "loss", None))
