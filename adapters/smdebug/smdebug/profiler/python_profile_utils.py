"""Modes and phases of a Python profile, as smdebug numbers and names them."""

from __future__ import annotations

from enum import Enum, IntEnum

from .profiler_constants import CPROFILE_NAME, PYINSTRUMENT_NAME


class PythonProfileModes(IntEnum):
    TRAIN = 1
    EVAL = 2
    PREDICT = 3
    GLOBAL = 4
    PRE_STEP_ZERO = 5
    POST_HOOK_CLOSE = 6


class StepPhase(Enum):
    START = "start"
    STEP_START = "stepstart"
    FORWARD_PASS_END = "forwardpassend"
    STEP_END = "stepend"
    END = "end"


class PythonProfilerName(Enum):
    CPROFILE = CPROFILE_NAME
    PYINSTRUMENT = PYINSTRUMENT_NAME


class cProfileTimer(Enum):  # noqa: N801
    TOTAL_TIME = "total_time"
    CPU_TIME = "cpu_time"
    OFF_CPU_TIME = "off_cpu_time"
    DEFAULT = "default"


_NAMES = {
    "train": PythonProfileModes.TRAIN,
    "eval": PythonProfileModes.EVAL,
    "predict": PythonProfileModes.PREDICT,
    "global": PythonProfileModes.GLOBAL,
    "prestepzero": PythonProfileModes.PRE_STEP_ZERO,
    "posthookclose": PythonProfileModes.POST_HOOK_CLOSE,
}


def str_to_python_profile_mode(mode_str: str) -> PythonProfileModes:
    """
    Raises:
        ValueError: there is no such mode.
    """
    if mode_str not in _NAMES:
        raise ValueError(f"expected one of {', '.join(_NAMES)}, found {mode_str!r}")
    return _NAMES[mode_str]


def python_profile_mode_to_str(mode: PythonProfileModes) -> str:
    return next(name for name, one in _NAMES.items() if one is mode)
