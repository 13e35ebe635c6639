"""The names that programs for TensorFlow import. Runs are read without TensorFlow, too."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Optional

from .. import ReductionConfig, SaveConfig, SaveConfigMode, modes
from ..core import singleton_utils
from ..core.absent_hook import SAVE_BY_HAND, AbsentHook, no_hook
from ..core.hook import BaseHook
from ..core.hook_utils import PathLike
from ..core.singleton_utils import del_hook, set_hook
from ..trials import create_trial
from .collection import Collection, CollectionKeys

if TYPE_CHECKING:
    from .estimator import EstimatorHook
    from .session import SessionHook

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


class KerasHook(AbsentHook):
    framework = "TensorFlow"
    instead = SAVE_BY_HAND


Hook = KerasHook
_HOOKS = {"session": "SessionHook", "estimator": "EstimatorHook"}


def get_hook(
    hook_type: Optional[str] = None, json_config_path: Optional[PathLike] = None, create_if_not_exists: bool = False
) -> Optional[BaseHook]:
    """The hook of this process, of the type "session" or "estimator"; without a type whichever there is.

    With create_if_not_exists one of the type is made from the JSON file, if there is such a file.
    """
    if hook_type in _HOOKS:
        hook_class = __getattr__(_HOOKS[hook_type])
        made: Optional[BaseHook] = singleton_utils.get_hook_of(hook_class, json_config_path, create_if_not_exists)
        return made
    hook = singleton_utils.get_hook_of(BaseHook, None, False)  # type: ignore[type-abstract]
    if hook is None and create_if_not_exists:
        no_hook("TensorFlow")
    return hook


def __getattr__(name: str) -> Any:
    """What imports TensorFlow."""
    if name == "SessionHook":
        from .session import SessionHook

        return SessionHook
    if name == "EstimatorHook":
        from .estimator import EstimatorHook

        return EstimatorHook
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
