"""Where a hook writes."""

from __future__ import annotations

import os
from typing import Optional, Union

import trainwarden
from trainwarden import _spool

from ..exceptions import SMDebugRuntimeError
from .config_constants import END_OF_JOB_FILENAME

PathLike = Union[str, "os.PathLike[str]"]
_RUN_DIR_VARIABLE = "TRAINWARDEN_RUN_DIR"
_FINISHED = ("completed", "stopped")  # one that died may be gone on with


def verify_and_get_out_dir(out_dir: Optional[PathLike]) -> str:
    """The folder that the hook writes to, or the place in a bucket to which its run is sent: under `trainwarden run` that of
    the run, else the one that was asked for.

    Raises:
        RuntimeError: none was given.
        SMDebugRuntimeError: it holds a finished run, which is never overwritten.
        ValueError: an address of a bucket without a prefix.
    """
    if out_dir is None:
        raise RuntimeError("out_dir is missing: name the folder that the hook writes to")
    folder = os.environ.get(_RUN_DIR_VARIABLE) or os.path.expanduser(os.fspath(out_dir))
    local = _spool.folder_of(folder) if _spool.is_in_bucket(folder) else folder
    if holds_finished_run(local):
        raise SMDebugRuntimeError(f"{folder} holds a finished run, which is not overwritten; choose another out_dir")
    return folder


def holds_finished_run(folder: str) -> bool:
    """Of ours, or of smdebug's."""
    if os.path.exists(os.path.join(folder, END_OF_JOB_FILENAME)):
        return True
    if not os.path.exists(os.path.join(folder, "run.json")):
        return False
    try:
        return trainwarden.open(folder).state.value in _FINISHED
    except (trainwarden.Error, OSError):
        return False  # whether it can be written to, opening it will show


def get_tensorboard_dir(export_tensorboard: bool, tensorboard_dir: Optional[PathLike], out_dir: str) -> Optional[str]:
    """Where TensorBoard looks: a folder that is named is used in any case. None: nothing is exported."""
    if tensorboard_dir:
        return os.path.expanduser(os.fspath(tensorboard_dir))
    local = _spool.folder_of(out_dir) if _spool.is_in_bucket(out_dir) else out_dir
    return os.path.join(local, "tensorboard") if export_tensorboard else None
