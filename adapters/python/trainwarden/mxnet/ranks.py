"""The place of this process among those that train one model together."""

from __future__ import annotations

from typing import Any, Optional

from .._horovod import rank_and_size as horovod_rank_and_size

__all__ = ["horovod_rank_and_size", "rank_and_size"]


def rank_and_size(trainer: Any) -> Optional[tuple[int, int]]:
    """As Horovod says, else the store of the trainer, where the program has made it; None when neither does."""
    place = horovod_rank_and_size()
    if place is not None:
        return place
    store: Any = trainer._kvstore or trainer._kvstore_params["kvstore"]  # a name, until the first step
    size = getattr(store, "num_workers", 1)
    return (store.rank, size) if size > 1 else None
