"""LateLosses: losses that an accelerator computes, as numbers, once they have come over. Nobody waits for them.

A loss is copied into pinned memory in the accelerator's own time, behind the work that makes it, and is read at a later
step, when the event behind that copy says that it is there.
"""

from __future__ import annotations

from collections import deque
from typing import Any, Callable, Optional

import torch

from ..device_times import is_recorded

# Losses that may be under way; where there are more one is left out.
_MAX_WAITING = 16


class LateLosses:
    """Of the thread that trains, and the first accelerator that a loss of it was on. Gives up after a fault."""

    def __init__(self, make_event: Optional[Callable[[], Any]] = None) -> None:
        """`make_event`: in place of torch.cuda's, wherever the program computes."""
        self._given = make_event
        self._device: Optional[torch.device] = None
        self._free: list[tuple[Any, torch.Tensor]] = []
        self._waiting: deque[tuple[Any, torch.Tensor]] = deque()
        self.is_broken = False

    def exchange(self, loss: torch.Tensor) -> list[float]:
        """Sends this loss, of one element and any real dtype, and gives those that have come over, oldest first.

        Does not throw: a failed accelerator is the program's to deal with.
        """
        if self.is_broken:
            return []
        try:
            if self._given is None and not _can_be_sent(loss):
                return []
            come = self._come()
            self._send(loss)
            return come
        except Exception:
            self.is_broken = True
            return []

    def _come(self) -> list[float]:
        come = []
        while self._waiting and self._waiting[0][0].query():
            self._free.append(self._waiting.popleft())
            come.append(float(self._free[-1][1]))
        return come

    def _send(self, loss: torch.Tensor) -> None:
        if self._device is None:
            self._begin(loss.device)
        if not self._free or loss.device != self._device:
            return
        event, place = self._free.pop()
        place.copy_(loss.detach().reshape(()), non_blocking=True)
        event.record()
        self._waiting.append((event, place))

    def _begin(self, device: torch.device) -> None:
        self._device = device
        places = torch.empty(_MAX_WAITING, dtype=torch.float32, pin_memory=self._given is None)
        self._free = [(self._make(), place) for place in places]

    def _make(self) -> Any:
        return self._given() if self._given is not None else torch.cuda.Event()


def _can_be_sent(loss: torch.Tensor) -> bool:
    """By the stream that an event is recorded on."""
    return loss.device.type == "cuda" and loss.device.index == torch.cuda.current_device() and not is_recorded()
