"""State: what a run of a graph may change, and by what that can be written without an operation more."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Optional

from .reach import operations_behind
from .variables import is_variable, scope_and_name

# Operations that take a variable and leave it as it is. One that hands on its handle may be written by that.
_READING = re.compile(r"^(Identity|ReadVariableOp|VarIsInitializedOp|VariableShape|ResourceGather(Nd)?)$")
_WRITING = ("Assign", "AssignVariableOp")
# What holds something else than the values of a variable. To take a batch from one of these is never undone; others
# might collect what the run computes.
_SOURCES = re.compile(r"Iterator|Queue|Reader|SummaryWriter|^HashTable|TensorArray|Stack|Placeholder|SeedGenerator")
# Of the scale of a loss: a batch that is too large for it makes it smaller, whoever vetoes the step.
_OF_SCALES = ("current_loss_scale", "good_steps")


class NotPossible(Exception):
    """What a run changes cannot be taken back. Says why."""


@dataclass(frozen=True)
class WritableVariable:
    name: str  # of its operation
    reading: Any  # the tensor that reads it and nothing else
    writing: Any  # an operation that writes what it is fed and nothing else

    @property
    def value(self) -> Any:
        """What is to be fed."""
        return self.writing.inputs[1]


def changed_by_run(targets: list[Any], fetches: list[Any], feeds: Iterable[Any]) -> list[WritableVariable]:
    """The variables that a run may change, but for the scale of a loss.

    Raises:
        NotPossible: it may change something else, too, or a variable that cannot be written.
    """
    fed = {id(reference.deref()) for reference in feeds}
    order = operations_behind([*targets, *(each.op for each in fetches)], lambda tensor: id(tensor) in fed)
    holder = next((each for each in order if _holds_more(each)), None)
    if holder is not None:
        raise NotPossible(f"{holder.name} holds more than a variable")
    found = []
    for variable in _changed(order):
        if scope_and_name(variable.name)[1] in _OF_SCALES:
            continue
        writable = _writable(variable)
        if writable is None:
            raise NotPossible(f"the variable {variable.name} cannot be written")
        found.append(writable)
    return found


def _changed(order: list[Any]) -> list[Any]:
    """The variables that anything may write to which runs: all that go to more than what reads them."""
    found = {}
    for operation in order:
        if _READING.match(operation.type) and operation.outputs[0].dtype.name != "resource":
            continue
        for tensor in operation.inputs:
            if is_variable(tensor.op):
                found[tensor.op.name] = tensor.op
    return list(found.values())


def _holds_more(operation: Any) -> bool:
    if not operation.outputs or operation.inputs or is_variable(operation) or _SOURCES.search(operation.type):
        return False
    kind = operation.outputs[0].dtype
    return bool(kind.name in ("resource", "string_ref"))


def _writable(variable: Any) -> Optional[WritableVariable]:
    """By what the graph has: Keras lists the variables of its metrics nowhere, nor does an imported graph all."""
    handle = variable.outputs[0]
    users = handle.consumers()
    readers = [handle] if handle.dtype._is_ref_dtype else [each.outputs[0] for each in users if _only_reads(each)]
    writing = next((each for each in users if _only_writes(each, handle)), None)
    return WritableVariable(variable.name, readers[0], writing) if readers and writing is not None else None


def _only_reads(operation: Any) -> bool:
    return operation.type == "ReadVariableOp" and _is_free(operation)


def _only_writes(operation: Any, handle: Any) -> bool:
    """Once its value is fed."""
    is_one = operation.type in _WRITING and operation.inputs[0] is handle and _is_free(operation)
    return is_one and bool(operation.graph.is_feedable(operation.inputs[1]))


def _is_free(operation: Any) -> bool:
    """It waits for nothing else."""
    return not operation.control_inputs and operation._get_control_flow_context() is None
