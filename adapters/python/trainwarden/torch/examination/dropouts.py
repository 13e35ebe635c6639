"""Dropouts: where a program calls a dropout that drops although its model is evaluated, as F.dropout(x) does."""

from __future__ import annotations

from typing import Any, Callable, Optional

import torch.nn.functional as functional

from .. import gates
from ..exchange import innermost, is_plain, put_around
from ..gates import Around
from .structure import caller_place

_NAMES = ("dropout", "dropout1d", "dropout2d", "dropout3d")  # which drop unless they are told not to
_switches: list[Callable[[bool], None]] = []
_place: Optional[str] = None
_is_armed = False


def watch() -> None:
    """Once. Ours stand in torch only from begin() to end()."""
    for name in _NAMES:
        inner = innermost(getattr(functional, name, None))
        if is_plain(inner):
            switch = put_around(inner, Around(_drop))
            switch(False)
            _switches.append(switch)


def begin() -> None:
    """A model in evaluation mode is called. What torch.compile looks at stays as it is."""
    global _is_armed, _place
    _place = None
    if gates.are_removed():
        return
    _is_armed = True
    for switch in _switches:
        switch(True)


def end() -> Optional[str]:
    """It has answered. Gives the place of the first call that dropped something."""
    global _is_armed
    if _is_armed:
        _is_armed = False
        for switch in _switches:
            switch(False)
    return _place


def _drop(*args: Any, **kwargs: Any) -> None:
    global _place
    if _is_armed and _place is None:
        p = args[1] if len(args) > 1 else kwargs.get("p", 0.5)
        if (args[2] if len(args) > 2 else kwargs.get("training", True)) and p:
            _place = caller_place()
