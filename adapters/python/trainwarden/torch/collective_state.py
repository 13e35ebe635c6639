"""Collective state: how far this process has come in each process group, for the report of a stall.

torch numbers the operations of a group itself, those of DistributedDataParallel with them, and all members count alike:
so nothing is counted here, and a call costs what it costs without us. A member with a lower number is the one that the
others wait for; members at the same number that call different things wait for each other.
"""

from __future__ import annotations

import sys
from types import FrameType
from typing import Any, Iterator, NamedTuple, Optional

import torch

from . import flight_recorder
from .collectives import NAMES
from .contents import is_tensor
from .frames import variables_of

_MAX_GROUPS = 32
_MAX_RECENT = 4
_MAX_TEXT = 120


class Call(NamedTuple):
    """Of torch.distributed, that a thread is in."""

    operation: str
    group: Any  # None: that of all processes
    sizes: Optional[list[int]]  # of the tensor that it is given; None where that is not one


def current_call(frame: Optional[FrameType]) -> Optional[Call]:
    """The outermost operation of torch.distributed that this thread is in."""
    outermost = ""
    frames: dict[str, FrameType] = {}  # by name the innermost: torch's own, where ours stands around it
    while frame is not None:
        is_of_torch = str(frame.f_globals.get("__name__", "")).startswith("torch.distributed")
        if is_of_torch and frame.f_code.co_name in NAMES:
            outermost = frame.f_code.co_name
            frames.setdefault(outermost, frame)
        frame = frame.f_back
    if not outermost:
        return None
    variables = variables_of(frames[outermost])
    tensor = variables.get("tensor")
    sizes = [int(size) for size in tensor.shape][:8] if is_tensor(tensor) else None
    return Call(outermost, variables.get("group"), sizes)


def describe_groups(call: Optional[Call]) -> list[dict[str, Any]]:
    """Of each process group: `group`, `ranks`, `number` of the last operation that has begun, and where it is known
    `operation`, `sizes`, and the `recent` ones. `call`: that which the training is in."""
    c10d: Any = sys.modules.get("torch.distributed.distributed_c10d")
    if c10d is None or not torch.distributed.is_initialized():
        return []
    recorded = flight_recorder.last_entries(_MAX_RECENT)
    described = []
    for group, name in list(getattr(c10d, "_pg_names", {}).items())[:_MAX_GROUPS]:
        number = _number_of(group)
        if number is None:
            continue
        known: dict[str, Any] = {"group": str(name)[:_MAX_TEXT], "ranks": _ranks_of(c10d, group), "number": number}
        _add_operation(known, recorded.get(str(name), []), call if call is not None and _is_of(call, group) else None)
        described.append(known)
    return described


def _add_operation(known: dict[str, Any], recent: list[flight_recorder.Entry], call: Optional[Call]) -> None:
    """Of the last number: what torch has noted of it, else what the training waits in."""
    last = next((each for each in reversed(recent) if each.number == known["number"]), None)
    if last is not None:
        known.update(operation=last.operation, sizes=last.sizes[0] if last.sizes else [], state=last.state)
    elif call is not None:
        known.update(operation=call.operation, **({} if call.sizes is None else {"sizes": call.sizes}))
    if recent:
        known["recent"] = [each._asdict() for each in recent]


def _is_of(call: Call, group: Any) -> bool:
    if call.group is not None:
        return call.group is group
    default = getattr(torch.distributed.group, "WORLD", None)
    return default is group


def _number_of(group: Any) -> Optional[int]:
    """None where this backend does not count, or for a group that this process is not in."""
    for counter in _counters(group):
        try:
            return int(counter._get_sequence_number_for_group())
        except Exception:
            continue
    return None


def _counters(group: Any) -> Iterator[Any]:
    """A group of several backends, as one has that was made without the name of one, is asked by its backends."""
    yield group
    for device in ("cuda", "cpu"):
        try:
            yield group._get_backend(torch.device(device))
        except Exception:
            continue


def _ranks_of(c10d: Any, group: Any) -> str:
    """`0-3,6`: of all members, the same text on each of them."""
    ranks = sorted(getattr(c10d, "_pg_group_ranks", {}).get(group, ()))
    spans: list[list[int]] = []
    for rank in ranks:
        if spans and rank == spans[-1][1] + 1:
            spans[-1][1] = rank
        else:
            spans.append([rank, rank])
    text = ",".join(str(first) if first == last else f"{first}-{last}" for first, last in spans)
    return text[:_MAX_TEXT]
