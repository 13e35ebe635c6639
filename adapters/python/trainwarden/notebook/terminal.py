"""Numbers as characters."""

from __future__ import annotations

import math
from collections.abc import Sequence

_SHADES = " ·░▒▓█"
_BARS = "▁▂▃▄▅▆▇█"


def shade(weight: float) -> str:
    """A character for a weight from 0 to 1; "!" for what is not finite. Its square root: small weights are seen."""
    if not math.isfinite(weight):
        return "!"
    return _SHADES[min(len(_SHADES) - 1, int(math.sqrt(max(weight, 0.0)) * len(_SHADES)))]


def sparkline(values: Sequence[float], width: int = 40) -> str:
    """The values from left to right, from the lowest to the highest; "!" where one in a place is not finite."""
    if not values:
        return ""
    finite = [value for value in values if math.isfinite(value)]
    low, high = (min(finite), max(finite)) if finite else (0.0, 0.0)
    return "".join(_bar(part, low, high) for part in _parts(values, min(width, len(values))))


def _parts(values: Sequence[float], count: int) -> list[Sequence[float]]:
    edges = [index * len(values) // count for index in range(count + 1)]
    return [values[begin:end] for begin, end in zip(edges, edges[1:])]


def _bar(part: Sequence[float], low: float, high: float) -> str:
    if not all(math.isfinite(value) for value in part):
        return "!"
    middle = sum(part) / len(part)
    place = (middle - low) / (high - low) if high > low else 0.5
    return _BARS[min(len(_BARS) - 1, int(place * len(_BARS)))]


def number(value: float) -> str:
    """Four digits that count, as short as they can be."""
    return f"{value:.4g}"
