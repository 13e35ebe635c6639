"""smdebug.tensorflow: the hooks, and what programs configure them with. Runs are read without TensorFlow, too."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from ..core.collection import CollectionKeys
from ..core.modes import ModeKeys as modes
from ..core.reduction_config import ReductionConfig
from ..core.save_config import SaveConfig, SaveConfigMode
from ..core.singleton_utils import del_hook, set_hook
from ..trials import create_trial
from .collection import Collection

if TYPE_CHECKING:
    from .estimator import EstimatorHook
    from .keras import KerasHook
    from .keras import KerasHook as Hook
    from .session import SessionHook
    from .singleton_utils import get_hook

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
    "del_hook",
    "get_hook",
    "modes",
    "set_hook",
]

# What imports TensorFlow: the module that has it, and its name there.
_LAZY = {
    "EstimatorHook": ("estimator", "EstimatorHook"),
    "Hook": ("keras", "KerasHook"),
    "KerasHook": ("keras", "KerasHook"),
    "SessionHook": ("session", "SessionHook"),
    "get_hook": ("singleton_utils", "get_hook"),
}


def __getattr__(name: str) -> Any:
    if name not in _LAZY:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    module, attribute = _LAZY[name]
    return getattr(importlib.import_module(f".{module}", __name__), attribute)
