"""Ranks: the processes of a training that torch.distributed connects end it at the same step, or those that go on would
wait for the others for ever.

They agree through the key-value store that torch.distributed has set up for itself, and only once somebody has asked the
training to stop. When all ranks know of that, the first of them to see it names the next step as the last: ranks that
add up gradients in every step are never more than one apart.
"""

from __future__ import annotations

import sys
import time
from typing import Any, NamedTuple, Optional

from .. import faults

# What the keys in the store begin with.
_PREFIX = "trainwarden/stop/"
# A rank that has not heard of the stop by then does not watch its training.
_PATIENCE_S = 60.0


class _Group(NamedTuple):
    store: Any
    ranks: int


class LastStep:
    """The step that is the last one for all ranks, once somebody has asked them to stop."""

    def __init__(self) -> None:
        self._group: Optional[_Group] = None
        self._asked_at: Optional[float] = None
        self._step: Optional[int] = None

    def has_come(self, step: int) -> bool:
        """This rank has ended the training step of this number, and knows that it shall stop: shall it stop now?"""
        try:
            if self._asked_at is None:
                self._asked_at = time.monotonic()
                self._group = _group()
                self._report()
            return self._group is None or self._is_agreed(self._group, step) or self._is_too_late()
        except Exception as error:  # the store has gone, with the rank that had it
            faults.report("agree with the other ranks on the last step", error)
            return True

    def _report(self) -> None:
        if self._group is not None:
            self._group.store.add(_PREFIX + "ranks", 1)

    def _is_agreed(self, group: _Group, step: int) -> bool:
        store = group.store
        if self._step is None and store.add(_PREFIX + "ranks", 0) >= group.ranks:
            if store.add(_PREFIX + "decided", 1) == 1:
                store.add(_PREFIX + "step", step + 1)
            self._step = store.add(_PREFIX + "step", 0) or None
        return self._step is not None and step >= self._step

    def _is_too_late(self) -> bool:
        late = self._asked_at is not None and time.monotonic() - self._asked_at > _PATIENCE_S and self._step is None
        if late:
            faults.say(f"warning: not all ranks have heard of the stop in {_PATIENCE_S:.0f} s; this one stops alone")
        return late


def _group() -> Optional[_Group]:
    """None where this process trains alone."""
    distributed: Any = sys.modules.get("torch.distributed")
    if distributed is None or not distributed.is_available() or not distributed.is_initialized():
        return None
    ranks = distributed.get_world_size()
    return _Group(distributed.distributed_c10d._get_default_store(), ranks) if ranks > 1 else None
