"""The names that programs for TensorFlow import. Runs are read; there are no hooks."""

from typing import Any

from .. import ReductionConfig, SaveConfig, SaveConfigMode, modes
from ..core.absent_hook import SAVE_BY_HAND, AbsentHook, no_hook
from ..core.collection import Collection, CollectionKeys
from ..trials import create_trial

__all__ = [
    "Collection",
    "CollectionKeys",
    "EstimatorHook",
    "Hook",
    "KerasHook",
    "ReductionConfig",
    "SaveConfig",
    "SaveConfigMode",
    "SessionHook",
    "create_trial",
    "get_hook",
    "modes",
]


class _TensorFlowHook(AbsentHook):
    framework = "TensorFlow"
    instead = SAVE_BY_HAND


class KerasHook(_TensorFlowHook):
    pass


class SessionHook(_TensorFlowHook):
    pass


class EstimatorHook(_TensorFlowHook):
    pass


Hook = KerasHook


def get_hook(*args: Any, **kwargs: Any) -> None:
    """None: there is no hook."""
    no_hook("TensorFlow")
