"""The one hook of this process, for programs of MXNet."""

from __future__ import annotations

from typing import Optional

from ..core.hook_utils import PathLike
from ..core.singleton_utils import del_hook, get_hook_of, set_hook
from .hook import Hook

__all__ = ["del_hook", "get_hook", "set_hook"]


def get_hook(json_config_path: Optional[PathLike] = None, create_if_not_exists: bool = False) -> Optional[Hook]:
    """The hook of this process; None when there is none, or USE_SMDEBUG is 0.

    With create_if_not_exists one is made from the JSON file, if there is such a file.
    """
    return get_hook_of(Hook, json_config_path, create_if_not_exists)
