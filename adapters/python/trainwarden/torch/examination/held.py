"""Held: tensors of the program that an examination looks at again later in the same step.

They are held without their graph, and those that are large weakly: most programs keep their batch until the next one, and
one that does not has its memory back.
"""

from __future__ import annotations

import weakref
from typing import Callable, Optional

import torch

# So much is kept in all of one step; beyond that nothing is kept alive.
_MAX_BYTES = 32 << 20


class Held:
    """Of one step."""

    def __init__(self) -> None:
        self._bytes = 0

    def hold(self, tensor: torch.Tensor) -> Callable[[], Optional[torch.Tensor]]:
        """Gives what gives the tensor, detached, or None once the program has dropped it."""
        size = tensor.numel() * tensor.element_size()
        if self._bytes + size > _MAX_BYTES:
            reference = weakref.ref(tensor)
            return lambda: _detached(reference())
        self._bytes += size
        kept = tensor.detach()
        return lambda: kept


def _detached(tensor: Optional[torch.Tensor]) -> Optional[torch.Tensor]:
    return None if tensor is None else tensor.detach()
