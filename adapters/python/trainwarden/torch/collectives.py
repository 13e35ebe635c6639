"""Collectives: operations of torch.distributed that a program calls itself, and what a backward pass waits for at its end.

That the gradients of a backward pass are computed is seen by a function that the engine calls when it is done, before it
calls those in which DistributedDataParallel and others wait for what is still on its way: they ask for that later.
"""

from __future__ import annotations

from typing import Any, Callable, Optional

import torch
from torch.autograd import Variable

from .._imports import when_imported
from .contents import tensors_in
from .exchange import innermost, is_plain, put_around
from .gates import Around

NAMES = (
    "all_gather", "all_gather_into_tensor", "all_reduce", "all_reduce_coalesced", "all_to_all", "all_to_all_single",
    "barrier", "batch_isend_irecv", "broadcast", "broadcast_object_list", "all_gather_object", "gather", "monitored_barrier",
    "recv", "reduce", "reduce_scatter", "reduce_scatter_tensor", "scatter", "send",
)  # fmt: skip

_switches: list[Callable[[bool], None]] = []


def switch(on: bool) -> None:
    """While it is off the functions are torch's own, and cost what they cost without us."""
    for each in _switches:
        each(on)


def wrap(is_timed: Callable[[], bool], tell: Callable[..., None]) -> None:
    """`tell(method, phase)` stands around a call while `is_timed()`."""

    def begins(*args: Any, **kwargs: Any) -> Any:
        if not is_timed():
            return None
        tell("phase_begins", "gradient_sync")
        return True

    def ends(note: Any, result: Any = None) -> None:
        tell("phase_ends", "gradient_sync")

    when_imported("torch.distributed.distributed_c10d", lambda: _wrap_functions(Around(begins, ends, ends)))


def _wrap_functions(around: Around) -> None:
    from torch.distributed import distributed_c10d

    for name in NAMES:
        function = innermost(getattr(distributed_c10d, name, None))
        if is_plain(function):
            _switches.append(put_around(function, around))


class EndOfBackward:
    """Calls `computed` in each backward pass of several processes, when all gradients of this one are computed."""

    def __init__(self, computed: Callable[[], None]) -> None:
        self._computed = computed
        self._handle: Optional[Any] = None

    def begin(self, tensors: Any) -> None:
        """backward() is called on these, or on the only one."""
        self.end()
        root = next(iter(tensors_in(tensors)), None)
        if root is not None and root.requires_grad and _has_others():
            self._handle = root.register_hook(self._ask)

    def _ask(self, gradient: torch.Tensor) -> None:
        engine: Any = Variable._execution_engine
        engine.queue_callback(self._computed)

    def end(self) -> None:
        handle, self._handle = self._handle, None
        if handle is not None:
            handle.remove()


def _has_others() -> bool:
    distributed = torch.distributed
    return bool(distributed.is_available() and distributed.is_initialized() and distributed.get_world_size() > 1)
