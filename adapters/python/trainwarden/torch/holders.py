"""Holders: which thread trains with an optimizer. No other thread looks at it or at what it trains: a gradient that one
thread reads while another drops it is a race inside torch, which ends the process."""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterable

from torch.optim import Optimizer

from .identity import ByIdentity

_thread = threading.get_ident


class Holders:
    """Threads by their ids. The last one that stepped with an optimizer holds it; before its first step, the one that
    made it."""

    def __init__(self) -> None:
        self._made: ByIdentity[int] = ByIdentity()
        self._used: ByIdentity[int] = ByIdentity()

    def made(self, optimizer: Optimizer) -> None:
        """It is made in this thread."""
        self._made[optimizer] = _thread()

    def used(self, optimizer: Optimizer) -> bool:
        """This thread trains with it. Did another one hold it until now?"""
        known = self.is_here(optimizer)
        self._used[optimizer] = _thread()
        return not known

    def is_here(self, optimizer: Optimizer) -> bool:
        """Does this thread hold it, or none that lives?"""
        holder = self._used.get(optimizer) or self._made.get(optimizer)
        return holder is None or holder == _thread() or holder not in sys._current_frames()

    def takeable(self, optimizers: Iterable[Optimizer]) -> list[Optimizer]:
        """The ones that the main thread has made for others: no thread has trained with them."""
        main = threading.main_thread().ident
        return [each for each in optimizers if each not in self._used and self._made.get(each) == main]
