"""Frames: the stack of the program, looked at without a trace."""

from __future__ import annotations

import os
import sys
from types import FrameType
from typing import Any, Iterator, Optional

from .._core import frame_variables

# Deeper than this in the stack nobody looks.
_MAX_FRAMES = 50


def frames() -> Iterator[FrameType]:
    """The frames that called the caller, the innermost first."""
    frame: Optional[FrameType] = sys._getframe(2)
    for _ in range(_MAX_FRAMES):
        if frame is None:
            return
        yield frame
        frame = frame.f_back


def variables_of(frame: FrameType) -> dict[str, Any]:
    """A dict of the frame's variables, to be dropped soon. What locals() gave the program stays as it is."""
    return frame_variables(frame)


def module_name_of(frame: FrameType) -> str:
    """Its __name__; the globals of code that exec() runs may be a dict of the program's own kind."""
    name = dict.get(frame.f_globals, "__name__")
    return name if type(name) is str else ""


def is_program(frame: FrameType) -> bool:
    """Is it the program's own, neither torch's nor ours?"""
    return module_name_of(frame).split(".")[0] not in ("torch", "trainwarden")


def is_of_python(file: str) -> bool:
    """A file of Python's own, of an installed package, or none at all."""
    return file.startswith("<") or "site-packages" in file or file.startswith(os.path.dirname(os.__file__))


def place_in_program() -> Optional[str]:
    """`train.py:42`, where the program called what has led here; a place in a package where only that did."""
    other = None
    for frame in frames():
        if not is_program(frame) or frame.f_code.co_filename.startswith("<"):
            continue
        place = f"{frame.f_code.co_filename}:{frame.f_lineno}"
        if not is_of_python(frame.f_code.co_filename):
            return place
        other = other or place
    return other
