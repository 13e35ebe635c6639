"""Loaded files: the states of optimizers that a program reads from checkpoints, and whether it gives them to optimizers.

A training that goes on without them begins with moments of zero.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Callable, NamedTuple, Optional

from torch.optim import Optimizer

from ..exchange import innermost, is_plain, put_around
from .weights import settings_of

_MAX_FOUND = 8
_MAX_ENTRIES = 64
_DEPTH = 3


class _State(NamedTuple):
    """Of one optimizer: how many parameters each group has, and its learning rate."""

    groups: tuple[tuple[int, Optional[float]], ...]


_found: list[_State] = []
_given = 0


def watch() -> list[Callable[..., Any]]:
    """Once. Gives the functions put into torch."""
    inner = innermost(Optimizer.load_state_dict)
    if not is_plain(inner):
        return []
    put_around(inner, _load_state_dict)
    return [_load_state_dict]


def note(content: Any) -> None:
    """torch.load() has given this."""
    for state in _states_in(content, _DEPTH):
        if len(_found) < _MAX_FOUND:
            _found.append(state)


def describe(optimizers: list[Optimizer]) -> Optional[dict[str, Any]]:
    """None where no state of an optimizer was read. `fits`: one of them is that of an optimizer of the training, as far as
    its groups and their rates go."""
    if not _found:
        return None
    trained = [_state_of([{**group, **settings_of(group)} for group in each.param_groups]) for each in optimizers]
    return {"optimizers": len(_found), "given": _given, "fits": any(each in trained for each in _found)}


def _load_state_dict(torch_function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    global _given
    _given += 1
    return torch_function(*args, **kwargs)


def _states_in(content: Any, depth: int) -> list[_State]:
    if not isinstance(content, Mapping) or depth == 0:
        return []
    groups = content.get("param_groups")
    if isinstance(groups, list) and isinstance(content.get("state"), Mapping):
        return [_state_of(groups)] if content["state"] else []
    return [state for value in list(content.values())[:_MAX_ENTRIES] for state in _states_in(value, depth - 1)]


def _state_of(groups: list[Any]) -> _State:
    read = [group for group in groups[:_MAX_ENTRIES] if isinstance(group, Mapping)]
    return _State(tuple((len(group.get("params", ())), _number(group.get("initial_lr", group.get("lr")))) for group in read))


def _number(value: Any) -> Optional[float]:
    return float(value) if isinstance(value, (int, float)) else None
