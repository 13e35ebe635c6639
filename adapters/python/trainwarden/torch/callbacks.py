"""Callbacks: the run of a training that a library's trainer starts and ends, for those who write a line of code."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from typing import Any, Optional

from .._arguments import know
from .._run_names import new_run_dir
from .. import faults
from .attach import attach, detach, is_attached

_runs = 0  # that callbacks have begun in this process


class CallbackRun:
    """Attaches while a training goes on. In a program that is attached anyway it does nothing."""

    def __init__(self, run_dir: Optional[str]) -> None:
        self._run_dir = run_dir
        self._is_ours = False

    @faults.guarded("begin the run of a callback")
    def begin(self, program: str, length: Mapping[str, str]) -> None:
        """On all ranks. `program`: what the run is named after, unless it has a folder. `length`: labels that say how
        long the training will be; a run that is attached anyway has them too, unless it has begun."""
        know(length)
        if is_attached():
            return
        self._is_ours = True
        attach(_agreed(self._run_dir or os.environ.get("TRAINWARDEN_RUN_DIR") or new_run_dir(program)))

    def end(self) -> None:
        know({})
        if self._is_ours:
            self._is_ours = False
            detach()


def _agreed(run_dir: str) -> str:
    """What rank 0 says: names have the time in them."""
    global _runs
    _runs += 1
    distributed: Any = sys.modules.get("torch.distributed")
    if distributed is None or not distributed.is_available() or not distributed.is_initialized():
        return run_dir
    store, key = distributed.distributed_c10d._get_default_store(), f"trainwarden/run_dir/{_runs}"
    if distributed.get_rank() == 0:
        store.set(key, run_dir)
    return os.fsdecode(store.get(key))
