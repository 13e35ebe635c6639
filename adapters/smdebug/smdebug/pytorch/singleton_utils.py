"""The one hook of this process, for programs of PyTorch."""

from __future__ import annotations

import os
from typing import Optional

from ..core import singleton_utils
from ..core.config_constants import USE_SMDEBUG_ENV_STR
from ..core.hook_utils import PathLike
from ..core.singleton_utils import del_hook, set_hook
from .hook import Hook

__all__ = ["del_hook", "get_hook", "set_hook"]

_OFF = ("0", "false", "f", "no", "n", "off")


def get_hook(json_config_path: Optional[PathLike] = None, create_if_not_exists: bool = False) -> Optional[Hook]:
    """The hook of this process; None when there is none, or USE_SMDEBUG is 0.

    With create_if_not_exists one is made from the JSON file, if there is such a file.
    """
    if os.environ.get(USE_SMDEBUG_ENV_STR, "true").lower() in _OFF:
        return None
    hook = singleton_utils.get_hook(
        json_config_path=json_config_path, hook_class=Hook, create_if_not_exists=create_if_not_exists
    )
    return hook if isinstance(hook, Hook) else None
