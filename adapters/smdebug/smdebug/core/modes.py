"""ModeKeys: what the model is used for in a step."""

from __future__ import annotations

from enum import Enum


class ModeKeys(Enum):
    """The mode of a step. The numbers are those in files of smdebug's.

    GLOBAL: steps are counted over all modes; also the mode of a program that never sets one.
    """

    TRAIN = 1
    EVAL = 2
    PREDICT = 3
    GLOBAL = 4


ALLOWED_MODES = list(ModeKeys)
ALLOWED_MODE_NAMES = [mode.name for mode in ALLOWED_MODES]

# What trainwarden calls them.
_CORE_MODES = {mode: mode.name.lower() for mode in ModeKeys}


def core_mode(mode: ModeKeys) -> str:
    """The name of the mode in trainwarden: "train", "eval", "predict", "global".

    Raises:
        TypeError: it is no ModeKeys.
    """
    try:
        return _CORE_MODES[mode]
    except (KeyError, TypeError):
        names = ", ".join(f"modes.{name}" for name in ALLOWED_MODE_NAMES)
        raise TypeError(f"expected a mode, one of {names}, found {mode!r}; modes is in smdebug") from None


def str_to_mode_keys(mode_str: str) -> ModeKeys:
    """Of "train", "eval", "predict" or "global"."""
    for mode, name in _CORE_MODES.items():
        if name == mode_str:
            return mode
    raise ValueError(f"expected train, eval, predict or global, found {mode_str!r}")
