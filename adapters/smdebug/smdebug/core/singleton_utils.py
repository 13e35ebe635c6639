"""The one hook of this process."""

from __future__ import annotations

from typing import Optional

from ..exceptions import SMDebugTypeError
from .hook import BaseHook
from .hook_utils import PathLike

_hook: Optional[BaseHook] = None


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
