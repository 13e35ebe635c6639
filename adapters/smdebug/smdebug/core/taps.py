"""What a hook hangs on a model. A model that is copied or pickled takes taps along that do nothing: they belong to the
hook of this process."""

from __future__ import annotations

from typing import Any


class DeadTap:
    """The copy of a tap."""

    def __call__(self, *_: Any) -> None:
        return None


class Tap:
    """Something that a model calls."""

    def __reduce__(self) -> tuple[type[DeadTap], tuple[()]]:
        return DeadTap, ()
