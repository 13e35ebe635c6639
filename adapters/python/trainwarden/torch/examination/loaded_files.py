"""Loaded files: the states of optimizers that a program reads from checkpoints, and whether it gives them to optimizers.

A training that goes on without them begins with moments of zero.
"""

from __future__ import annotations

from collections import OrderedDict, defaultdict
from typing import Any, NamedTuple, Optional

from torch.optim import Optimizer

from ..exchange import innermost, is_plain, put_around
from ..gates import Around
from .weights import settings_of

_MAX_FOUND = 8
_MAX_ENTRIES = 64
_DEPTH = 3
_DICTS = (dict, OrderedDict, defaultdict)  # a class of the program's is not asked


class _State(NamedTuple):
    """Of one optimizer: how many parameters each group has, and its learning rate."""

    groups: tuple[tuple[int, Optional[float]], ...]


_found: list[_State] = []
_given = 0


def watch() -> None:
    """Once."""
    inner = innermost(Optimizer.load_state_dict)
    if is_plain(inner):
        put_around(inner, Around(_note_given))


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


def _note_given(*args: Any, **kwargs: Any) -> None:
    global _given
    _given += 1


def _states_in(content: Any, depth: int) -> list[_State]:
    if type(content) not in _DICTS or depth == 0:
        return []
    groups, state = content.get("param_groups"), content.get("state")
    if type(groups) is list and type(state) in _DICTS:
        return [_state_of(groups)] if state else []
    return [each for value in list(content.values())[:_MAX_ENTRIES] for each in _states_in(value, depth - 1)]


def _state_of(groups: list[Any]) -> _State:
    read = [group for group in groups[:_MAX_ENTRIES] if type(group) in _DICTS]
    return _State(tuple((len(group.get("params", ())), _number(group.get("initial_lr", group.get("lr")))) for group in read))


def _number(value: Any) -> Optional[float]:
    return float(value) if isinstance(value, (int, float)) else None
