"""The one hook of this process."""

from __future__ import annotations

import os
from typing import Optional, TypeVar

from ..exceptions import SMDebugTypeError
from .config_constants import USE_SMDEBUG_ENV_STR
from .hook import BaseHook
from .hook_utils import PathLike

_hook: Optional[BaseHook] = None
_OFF = ("0", "false", "f", "no", "n", "off")
_AnyHook = TypeVar("_AnyHook", bound=BaseHook)


def get_hook_of(
    hook_class: type[_AnyHook], json_config_path: Optional[PathLike], create_if_not_exists: bool
) -> Optional[_AnyHook]:
    """get_hook() of a framework: None too when USE_SMDEBUG is 0."""
    if os.environ.get(USE_SMDEBUG_ENV_STR, "true").lower() in _OFF:
        return None
    hook = get_hook(
        json_config_path=json_config_path, hook_class=hook_class, create_if_not_exists=create_if_not_exists
    )
    return hook if isinstance(hook, hook_class) else None


def get_hook(
    *, json_config_path: Optional[PathLike], hook_class: Optional[type[BaseHook]], create_if_not_exists: bool
) -> Optional[BaseHook]:
    """The hook of this process; None when there is none of this class.

    With create_if_not_exists one is made from the JSON file, if there is such a file.
    """
    if hook_class is None:
        if create_if_not_exists:
            raise ValueError("expected the class of the hook that is to be created, found None")
        return _hook
    if isinstance(_hook, hook_class):
        return _hook
    del_hook()
    if create_if_not_exists:
        try:
            set_hook(hook_class.create_from_json_file(json_config_path))
        except FileNotFoundError:
            return None
    return _hook


def set_hook(custom_hook: BaseHook) -> None:
    """Makes it the hook of this process. SMDebugTypeError when it is none."""
    if not isinstance(custom_hook, BaseHook):
        raise SMDebugTypeError(f"expected a hook, found {custom_hook!r}")
    global _hook
    _hook = custom_hook


def del_hook() -> None:
    """This process has no hook any more; its previous hook works until it is closed."""
    global _hook
    _hook = None
