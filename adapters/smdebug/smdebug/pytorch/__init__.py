"""smdebug.pytorch: the hook for PyTorch, and what programs configure it with."""

from __future__ import annotations

from ..core.collection import CollectionKeys
from ..core.modes import ModeKeys as modes
from ..core.reduction_config import ReductionConfig
from ..core.save_config import SaveConfig, SaveConfigMode
from ..trials import create_trial
from .collection import Collection
from .hook import Hook
from .singleton_utils import del_hook, get_hook, set_hook

__all__ = [
    "Collection",
    "CollectionKeys",
    "Hook",
    "ReductionConfig",
    "SaveConfig",
    "SaveConfigMode",
    "create_trial",
    "del_hook",
    "get_hook",
    "modes",
    "set_hook",
]
