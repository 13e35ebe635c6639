"""Horovod: the place of this process among those that it connects."""

from __future__ import annotations

import sys
from typing import Any, Optional

_MODULES = ("horovod.torch", "horovod.tensorflow", "horovod.tensorflow.keras", "horovod.keras", "horovod.mxnet")


def rank_and_size() -> Optional[tuple[int, int]]:
    """None where the program has not initialised it."""
    for name in _MODULES:
        module: Any = sys.modules.get(name)
        try:
            if module is not None and module.is_initialized():
                return int(module.rank()), int(module.size())
        except Exception:  # half imported, or an older one
            continue
    return None


def sums_up_in_step(optimizer: Any) -> bool:
    """Does step() of this optimizer wait for gradients of other processes, and then call that of its own class?"""
    kind = type(optimizer)
    return kind.__module__.partition(".")[0] == "horovod" and hasattr(kind, "skip_synchronize")
