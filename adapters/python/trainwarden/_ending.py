"""Ending: what is done when the interpreter ends, behind all that the program itself does then.

In an attached program this module is imported before the program begins, so that its turn comes last.
"""

from __future__ import annotations

import atexit

TYPE_CHECKING = False  # a program that trains nothing does not pay for typing
if TYPE_CHECKING:
    from collections.abc import Callable

_actions: list[Callable[[], None]] = []


def at_end(action: Callable[[], None]) -> Callable[[], None]:
    """Decorates what is called then: the last that came is the first."""
    _actions.append(action)
    return action


@atexit.register
def _end() -> None:
    """An exception of one keeps none of the others from being called."""
    if _actions:
        try:
            _actions.pop()()
        finally:
            _end()
