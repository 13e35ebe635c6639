"""SavedHooks: does the program pack what autograd saves, as activation checkpointing and offloading do?

Whoever reads a saved tensor then has it unpacked by a function of the program's, which may compute a forward pass anew. In
such a program no saved tensor is read.
"""

from __future__ import annotations

from typing import Any

import torch

from ..exchange import is_plain, put_around
from ..gates import Around

_are_used = False


def watch() -> None:
    """Once."""
    enter = torch.autograd.graph.saved_tensors_hooks.__enter__
    if is_plain(enter):
        put_around(enter, Around(_note))


def are_used() -> bool:
    """Has the program used such hooks so far?"""
    return _are_used


def _note(*_: Any) -> None:
    global _are_used
    _are_used = True
