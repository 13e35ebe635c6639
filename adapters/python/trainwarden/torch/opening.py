"""Opening: the hook of an untouched program, when its training begins."""

from __future__ import annotations

import atexit
import sys
from typing import Any, Optional, Protocol

import torch

from .._opening import open_for_attach
from ..hook import Hook
from . import resuming


class Closing(Protocol):
    def close(self) -> None: ...


def close_at_exit(session: Closing) -> None:
    """Also in children of multiprocessing, which do not run atexit."""
    atexit.register(session.close)
    util = sys.modules.get("multiprocessing.util")
    if util is not None:
        util.Finalize(session, type(session).close, args=(session,), exitpriority=100)


def is_data_worker() -> bool:
    """Does this process only load data for another one?"""
    data = sys.modules.get("torch.utils.data")
    return data is not None and data.get_worker_info() is not None


def open_hook(run_dir: Optional[str]) -> Optional[Hook]:
    """The hook for this worker; None, said once on standard error, when there can be none."""
    options: dict[str, Any] = _place_in_job()
    position = resuming.first_position()
    if position is not None:
        options.update(first_global_step=position.global_step, first_mode_steps=position.mode_steps)
    return open_for_attach(run_dir, ["torch"], **options)


def _place_in_job() -> dict[str, int]:
    """The rank that torch.distributed gives; without it the environment has the word."""
    distributed = torch.distributed
    if not (distributed.is_available() and distributed.is_initialized()):
        return {}
    return {"rank": distributed.get_rank(), "world_size": distributed.get_world_size()}
