"""smdebug.mxnet: the hook for Gluon, and what programs configure it with. Runs are read without MXNet, too."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..core.collection import CollectionKeys
from ..core.modes import ModeKeys as modes
from ..core.reduction_config import ReductionConfig
from ..core.save_config import SaveConfig, SaveConfigMode
from ..core.singleton_utils import del_hook, set_hook
from ..trials import create_trial
from .collection import Collection

if TYPE_CHECKING:
    from .hook import Hook
    from .singleton_utils import get_hook

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


def __getattr__(name: str) -> Any:
    """Hook and get_hook, which import MXNet."""
    if name == "Hook":
        from .hook import Hook

        return Hook
    if name == "get_hook":
        from .singleton_utils import get_hook

        return get_hook
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
