"""Reach: which operations a run of a graph runs."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator
from typing import Any

# Of loops and conditions, in graphs of TensorFlow 1.
_SWITCHES = ("Switch", "RefSwitch")
_MERGES = ("Merge", "RefMerge")
_ENTRANCES = ("Enter", "RefEnter")
_EXITS = ("Exit", "RefExit")
_FEW = 20  # operations


def operations_behind(last: Iterable[Any], is_fed: Callable[[Any], bool]) -> list[Any]:
    """All that must run for these operations, themselves too, inputs first. What is fed is not computed."""
    order: list[Any] = []
    seen: set[Any] = set()
    for operation in last:
        if operation in seen:
            continue
        seen.add(operation)
        stack = [(operation, _needs(operation, is_fed))]
        while stack:
            current, needs = stack[-1]
            following = next((each for each in needs if each not in seen), None)
            if following is None:
                order.append(current)
                stack.pop()
            else:
                seen.add(following)
                stack.append((following, _needs(following, is_fed)))
    return order


def _needs(operation: Any, is_fed: Callable[[Any], bool]) -> Iterator[Any]:
    for tensor in operation.inputs:
        if not is_fed(tensor):
            yield tensor.op
    yield from operation.control_inputs


def is_at_hand(operation: Any, running: Collection[Any], is_fed: Callable[[Any], bool]) -> bool:
    """Does a run that runs these have all that this one needs, but for a few operations that leave no trace? A run that
    trains needs the gradient of a loss, and often not the number itself."""
    more = [each for each in operations_behind([operation], is_fed) if each not in running]
    return len(more) <= _FEW and all(_leaves_no_trace(each) for each in more)


def _leaves_no_trace(operation: Any) -> bool:
    tensors = (*operation.inputs, *operation.outputs)
    return not (
        operation.op_def.is_stateful  # random numbers, variables
        or operation.type == "Placeholder"  # the run would fail, as it is not fed
        or operation._get_control_flow_context() is not None
        or operation.control_inputs
        or any(tensor.dtype._is_ref_dtype for tensor in tensors)
    )


def insides(order: Iterable[Any]) -> set[Any]:
    """Those of operations, inputs first, whose outputs cannot be fetched: they are in loops, or in branches of
    conditions that may not be taken. An imported graph does not say which those are, so each is looked at."""
    depth: dict[Any, int] = {}  # of loops
    idle: set[Any] = set()  # those that may not run
    inside: set[Any] = set()
    for operation in order:
        kind = operation.type
        before = [tensor.op for tensor in operation.inputs]
        loops = max((depth.get(each, 0) for each in before), default=0)
        depth[operation] = loops + (kind in _ENTRANCES) - (kind in _EXITS)
        may_idle = any(each in idle for each in (*before, *operation.control_inputs))
        if kind in _SWITCHES or (may_idle and kind not in (*_MERGES, *_EXITS)):
            idle.add(operation)
        if operation in idle or depth[operation] > 0 or operation._get_control_flow_context() is not None:
            inside.add(operation)
    return inside
