"""The names that programs for XGBoost import. Runs are read; there is no hook."""

from typing import Any

from .. import SaveConfig, SaveConfigMode, modes
from ..core.absent_hook import SAVE_BY_HAND, AbsentHook, no_hook
from ..core.collection import Collection, CollectionKeys
from ..trials import create_trial

__all__ = [
    "Collection",
    "CollectionKeys",
    "Hook",
    "SaveConfig",
    "SaveConfigMode",
    "create_trial",
    "get_hook",
    "modes",
]


class Hook(AbsentHook):
    framework = "XGBoost"
    instead = f"in a callback, after each iteration, {SAVE_BY_HAND}"


def get_hook(*args: Any, **kwargs: Any) -> None:
    """None: there is no hook."""
    no_hook("XGBoost")
