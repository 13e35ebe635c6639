"""Owners: which trainer owns the training step that runs now, where one framework's adapter sits on another's.

The outermost trainer enters owning() around its step. Adapters beneath it ask is_owned() and stand back, so that
each step is captured once. Each thread has its own answer.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

_inside = threading.local()


@contextmanager
def owning() -> Iterator[None]:
    """While this is open, steps of this thread belong to whoever opened it. It may be entered again inside itself."""
    _inside.depth = getattr(_inside, "depth", 0) + 1
    try:
        yield
    finally:
        _inside.depth -= 1


def is_owned() -> bool:
    """Does a trainer further out own what runs in this thread now?"""
    return getattr(_inside, "depth", 0) > 0
