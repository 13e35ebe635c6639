"""Captures PyTorch: `attach` for a whole unchanged program, `watch` for a model in a loop of your own."""

import torch  # first: a program that is attached to is so when torch has been imported, and needs attach() then

from .attach import attach, detach
from ..faults import failures
from .resuming import checkpoint_loaded, checkpoint_saved
from .saving import restore
from .watcher import Watcher, watch

__all__ = [
    "Watcher",
    "attach",
    "checkpoint_loaded",
    "checkpoint_saved",
    "detach",
    "failures",
    "restore",
    "watch",
]
