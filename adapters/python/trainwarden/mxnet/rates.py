"""Rates: which learning rate an optimizer took."""

from __future__ import annotations

from typing import Any, Optional

from mxnet import lr_scheduler

# They keep what they said last. One of the program's own is not asked: it may count how often it is.
_KNOWN = (
    lr_scheduler.FactorScheduler, lr_scheduler.MultiFactorScheduler, lr_scheduler.PolyScheduler,
    lr_scheduler.CosineScheduler,
)  # fmt: skip


def rate_of(optimizer: Any) -> Optional[float]:
    """Of its last step; None: only its schedule knows."""
    schedule = getattr(optimizer, "lr_scheduler", None)
    if schedule is None:
        return float(optimizer.lr)
    if type(schedule) not in _KNOWN or optimizer.num_update < 1:  # which a copy on a server has, not this one
        return None
    if optimizer.num_update < schedule.warmup_steps:
        return float(schedule.get_warmup_lr(optimizer.num_update))
    return float(schedule.base_lr)
