"""Opening: the hook of an untouched program, when its training begins."""

from __future__ import annotations

import os
import secrets
import sys
from typing import Any, Optional

import torch

from .._arguments import parsed_parameters
from ..errors import AlreadyExists
from ..hook import Hook
from . import resuming
from .faults import say


def is_data_worker() -> bool:
    """Does this process only load data for another one?"""
    data = sys.modules.get("torch.utils.data")
    return data is not None and data.get_worker_info() is not None


def open_hook(run_dir: Optional[str]) -> Optional[Hook]:
    """The hook for this worker; None, said once on standard error, when there can be none."""
    options: dict[str, Any] = {**_place_in_job(), "labels": parsed_parameters()}
    position = resuming.first_position()
    if position is not None:
        options.update(first_global_step=position.global_step, first_mode_steps=position.mode_steps)
    if run_dir is not None:
        options["run_dir"] = run_dir
    try:
        return _open(options)
    except Exception as error:
        say(f"error: nothing is captured of process {os.getpid()}: {error}")
        return None


def _place_in_job() -> dict[str, int]:
    """The rank that torch.distributed gives; without it the environment has the word."""
    distributed = torch.distributed
    if not (distributed.is_available() and distributed.is_initialized()):
        return {}
    return {"rank": distributed.get_rank(), "world_size": distributed.get_world_size()}


def _open(options: dict[str, Any]) -> Hook:
    try:
        return Hook.for_attach(**options)
    except AlreadyExists as error:
        taken = options.get("run_dir") or os.environ.get("TRAINWARDEN_RUN_DIR")
        if not taken:
            raise
        beside = f"{str(taken).rstrip('/')}-p{os.getpid()}"
        alone = {**options, "rank": 0, "world_size": 1}
        try:
            hook = Hook.for_attach(**{**alone, "run_dir": beside})
        except AlreadyExists:  # of a process with the same id in another container
            beside = f"{beside}-{secrets.token_hex(8)}"
            hook = Hook.for_attach(**{**alone, "run_dir": beside})
        say(f"process {os.getpid()} is captured in {beside}: {error}")
        return hook
