"""The one hook of this process, for programs of TensorFlow."""

from __future__ import annotations

from typing import Optional

from ..core.hook import BaseHook
from ..core.hook_utils import PathLike
from ..core.singleton_utils import del_hook, get_hook_of, set_hook
from ..exceptions import SMDebugValueError

__all__ = ["del_hook", "get_hook", "set_hook"]

_TYPES = '"keras", "session" or "estimator"'


def get_hook(
    hook_type: Optional[str] = None, json_config_path: Optional[PathLike] = None, create_if_not_exists: bool = False
) -> Optional[BaseHook]:
    """The hook of this process; None when there is none of this type, or USE_SMDEBUG is 0.

    Arguments:
        hook_type: "keras", "session" or "estimator"; None: of any.
        create_if_not_exists: one of this type is made from the JSON file, if there is such a file.

    Raises:
        SMDebugValueError: the type is none of these, or missing where a hook is to be created.
    """
    if hook_type is None and create_if_not_exists:
        raise SMDebugValueError(f"expected {_TYPES} as the type of the hook to create, found None")
    return get_hook_of(_class_of(hook_type), json_config_path, create_if_not_exists)


def _class_of(hook_type: Optional[str]) -> type[BaseHook]:
    if hook_type is None:
        return BaseHook
    if hook_type == "keras":
        from .keras import KerasHook

        return KerasHook
    if hook_type == "session":
        from .session import SessionHook

        return SessionHook
    if hook_type == "estimator":
        from .estimator import EstimatorHook

        return EstimatorHook
    raise SMDebugValueError(f"expected {_TYPES} as the type of a hook, found {hook_type!r}")
