"""Jumps: has the loss just left the range that it was in? Then the next steps are worth a closer look."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Iterable

_REMEMBERED = 32
_ENOUGH = 8
# So many medians of the absolute deviations, and so large a share of the median, must lie between.
_DEVIATIONS = 12.0
_SHARE = 0.5
# One closer look is followed by none for so many losses.
_REST = 64


def _median(values: Iterable[float]) -> float:
    """The upper one of two. The module statistics is not imported: the program may have one of that name."""
    ordered = sorted(values)
    return ordered[len(ordered) // 2]


class Jumps:
    """Of the losses of one training. Knows nothing of torch."""

    def __init__(self) -> None:
        self._last: deque[float] = deque(maxlen=_REMEMBERED)
        self._rest = 0

    def sees(self, loss: float) -> bool:
        """Does this loss lie far above those before it, or is it no number?"""
        has_jumped = self._has_jumped(loss) if self._rest == 0 else False
        self._rest = _REST if has_jumped else max(0, self._rest - 1)
        if math.isfinite(loss):
            self._last.append(loss)
        return has_jumped

    def _has_jumped(self, loss: float) -> bool:
        if len(self._last) < _ENOUGH:
            return False
        if not math.isfinite(loss):
            return True
        middle = _median(self._last)
        if loss - middle <= _SHARE * abs(middle):
            return False  # which is what nearly all are
        deviation = _median(abs(each - middle) for each in self._last)
        return loss - middle > _DEVIATIONS * deviation
