"""AbsentHook: replaces smdebug's hook for a framework that Trainwarden captures in another way."""

from __future__ import annotations

from typing import Any

from ..exceptions import SMDebugNotImplementedError
from .logger import get_logger


class AbsentHook:
    """Cannot be created: the error says how this framework is captured.

    Class attributes of a subclass:
        framework: "TensorFlow", ...
        instead: how its tensors are captured here.
    """

    framework = ""
    instead = ""

    def __init__(self, *args: Any, **kwargs: Any):
        raise SMDebugNotImplementedError(self._words())

    @classmethod
    def create_from_json_file(cls, json_file_path: str | None = None) -> AbsentHook:
        raise SMDebugNotImplementedError(cls._words())

    hook_from_config = create_from_json_file

    @classmethod
    def _words(cls) -> str:
        return (
            f"there is no {cls.__name__} for {cls.framework} here; {cls.instead}. "
            "PyTorch has smdebug.pytorch.Hook, and runs of every framework are read by smdebug.trials.create_trial()"
        )


# What trainwarden's own hook takes: arrays of any framework.
SAVE_BY_HAND = "save its arrays with trainwarden.Hook: hook.save_tensor(name, array), hook.save_scalar(name, number)"


def no_hook(framework: str) -> None:
    """What get_hook() gives: there is none. Said once on the log, as training goes on without being captured."""
    get_logger().warning("smdebug has no hook for %s here: %s", framework, SAVE_BY_HAND)
