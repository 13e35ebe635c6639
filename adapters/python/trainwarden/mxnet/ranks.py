"""The place of this process among those that train one model together."""

from __future__ import annotations

import sys
from typing import Any, Optional


def horovod_rank_and_size() -> Optional[tuple[int, int]]:
    """None where the program trains without Horovod."""
    horovod = sys.modules.get("horovod.mxnet")
    return None if horovod is None else (horovod.rank(), horovod.size())


def rank_and_size(trainer: Any) -> Optional[tuple[int, int]]:
    """As Horovod says, else the store of the trainer, where the program has made it; None when neither does."""
    place = horovod_rank_and_size()
    if place is not None:
        return place
    store: Any = trainer._kvstore or trainer._kvstore_params["kvstore"]  # a name, until the first step
    size = getattr(store, "num_workers", 1)
    return (store.rank, size) if size > 1 else None
