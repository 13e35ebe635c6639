"""Updates: which variables a run trains, and what each update takes: a gradient, a learning rate, an optimizer's state.

They are found among the operations that run, not asked of optimizers: a graph may have been imported, and an optimizer
may be of the program's own.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Optional

from .notes import GraphNotes
from .variables import variable_behind

_APPLYING = re.compile(r"^(Resource)?(Sparse)?Apply")
_WRITING = re.compile(r"^(Assign|Scatter|ResourceScatter)")
_GRADIENTS = ("grad", "delta")
_RATES = ("lr", "alpha")
_NOT_STATE = ("var", *_GRADIENTS, *_RATES)
_MAX_DEPTH = 4  # of functions within each other


@dataclass(frozen=True)
class Update:
    """Of one variable. Variables are the names of their operations."""

    variable: str
    optimizer: str  # the part of the name that its updates share
    gradient: Optional[Any] = None
    rate: Optional[Any] = None
    state: tuple[str, ...] = ()


def updates_in(order: list[Any], inside: set[Any], notes: GraphNotes) -> dict[str, Update]:
    """By variable. What is updated in the branch of a condition has the gradient that the graph's builder got."""
    computed = {id(tensor) for operation in order for tensor in operation.outputs}
    noted = {name: gradient for name, gradient in notes.gradients.items() if id(gradient) in computed}
    found: dict[str, Update] = {}
    for operation in order:
        if operation in inside:
            continue
        if _APPLYING.match(operation.type):
            update = _applied(operation)
            if update is not None:
                found[update.variable] = update
        elif _WRITING.match(operation.type):
            variable = variable_behind(operation.inputs[0])
            if variable is not None and variable.name in noted:
                found.setdefault(variable.name, Update(variable.name, "", noted[variable.name]))
    if not found and any(_applies_inside(each) for each in order):
        found = {name: Update(name, "", gradient) for name, gradient in noted.items()}
    return found


def can_train(graph: Any, notes: GraphNotes) -> bool:
    """Has the graph anything that updates?"""
    return bool(notes.gradients) or any(_APPLYING.match(each.type) for each in graph.get_operations())


def optimizers_of(graph: Any) -> list[str]:
    """All that it has, but for those of the program's own, in the order in which they were built."""
    applying = (each for each in graph.get_operations() if _APPLYING.match(each.type))
    updates = (_applied(each) for each in applying if each._get_control_flow_context() is None)
    return list(dict.fromkeys(update.optimizer for update in updates if update is not None))


def _applied(operation: Any) -> Optional[Update]:
    inputs = dict(_inputs(operation))
    variable = variable_behind(inputs.get("var"))
    if variable is None:
        return None
    scope, is_built_in, _ = operation.name.partition("/update_")
    optimizer = scope if is_built_in else operation.name.rpartition("/")[0]
    others = (variable_behind(value) for name, value in inputs.items() if name not in _NOT_STATE)
    return Update(
        variable.name,
        optimizer,
        next((inputs[name] for name in _GRADIENTS if name in inputs), None),
        next((inputs[name] for name in _RATES if name in inputs), None),
        tuple(each.name for each in others if each is not None),
    )


def _inputs(operation: Any) -> Iterator[tuple[str, Any]]:
    """By the names that the operation has for them."""
    return zip((argument.name for argument in operation.op_def.input_arg), operation.inputs)


def _applies_inside(operation: Any) -> bool:
    """In a branch of a condition, of either kind."""
    if _APPLYING.match(operation.type):
        return True
    return any(_function_applies(operation.graph, name) for name in _functions_of(operation))


def _functions_of(operation: Any) -> Iterator[str]:
    definition = operation.op_def
    for attribute in definition.attr if definition is not None else ():
        if attribute.type == "func":
            yield operation.get_attr(attribute.name).name


def _function_applies(graph: Any, name: str, depth: int = 0) -> bool:
    function = graph._get_function(name)
    definition = getattr(function, "cached_definition", None) or getattr(function, "definition", None)
    if definition is None or depth == _MAX_DEPTH:
        return False
    for node in definition.node_def:
        if _APPLYING.match(node.op):
            return True
        called = (value.func.name for value in node.attr.values() if value.HasField("func"))
        if any(_function_applies(graph, each, depth + 1) for each in called):
            return True
    return False
