"""Passing: functions of ours between the program and a library, which warnings pass over.

A library says by `stacklevel` whose line a warning is about, and counts frames for that. Python leaves those of its own
importing out of the count, which it knows by the name of their file: so ours have such a name. Otherwise the warning
would be about a line of ours, and the program's filters would not match it.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Callable, TypeVar

    Function = TypeVar("Function", bound=Callable[..., Any])

PASSED_OVER = "<trainwarden, passed over as importlib._bootstrap is>"
_IMPORTING = "<frozen importlib._bootstrap>"


def passed_over(function: Function) -> Function:
    """Decorates one that calls a library's."""
    return _in_file(function, PASSED_OVER)


def part_of_importing(function: Function) -> Function:
    """Decorates one that is called while a module is imported: Python leaves it out of tracebacks, too."""
    return _in_file(function, _IMPORTING)


def _in_file(function: Function, file: str) -> Function:
    function.__code__ = function.__code__.replace(co_filename=file)
    return function
