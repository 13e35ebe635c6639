"""The names that programs for MXNet import. Runs are read; there is no hook."""

from typing import Any

from .. import ReductionConfig, SaveConfig, SaveConfigMode, modes
from ..core.absent_hook import SAVE_BY_HAND, AbsentHook, no_hook
from ..core.collection import Collection, CollectionKeys
from ..trials import create_trial

__all__ = [
    "Collection",
    "CollectionKeys",
    "Hook",
    "ReductionConfig",
    "SaveConfig",
    "SaveConfigMode",
    "create_trial",
    "get_hook",
    "modes",
]


class Hook(AbsentHook):
    framework = "MXNet"
    instead = SAVE_BY_HAND


def get_hook(*args: Any, **kwargs: Any) -> None:
    """None: there is no hook."""
    no_hook("MXNet")
