"""Numbers as colours. What is not finite has a colour of its own, which no number has."""

from __future__ import annotations

import numpy as np

from ..arrays import Array

NOT_FINITE = (176, 0, 176)
# Positive is blue and negative orange, as in BertViz; lightness alone tells them from zero as well.
_NEGATIVE, _ZERO, _POSITIVE = (179, 88, 6), (247, 247, 247), (33, 102, 172)
_MAGNITUDE = ((68, 1, 84), (59, 82, 139), (33, 145, 140), (94, 201, 98), (253, 231, 37))  # viridis

# Okabe and Ito's, without yellow, which is too light for a line on white.
CATEGORIES = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#56b4e9", "#e69f00", "#000000")


def signed_colours(values: Array, limit: float) -> Array:
    """uint8 [..., 3]: orange at -limit, near white at 0, blue at +limit; beyond it as at it."""
    ramp = (_NEGATIVE, _ZERO, _POSITIVE)
    return _on_ramp(values, -limit, limit, ramp)


def magnitude_colours(values: Array, low: float, high: float) -> Array:
    """uint8 [..., 3]: viridis from `low` to `high`."""
    return _on_ramp(values, low, high, _MAGNITUDE)


def gray_colours(values: Array, low: float, high: float) -> Array:
    return _on_ramp(values, low, high, ((0, 0, 0), (255, 255, 255)))


def _on_ramp(values: Array, low: float, high: float, ramp: tuple[tuple[int, int, int], ...]) -> Array:
    numbers = np.asarray(values, dtype=np.float64)
    finite = np.isfinite(numbers)
    span = high - low
    place = np.where(finite, (numbers - low) / span if span > 0 else 0.5, 0.0).clip(0, 1)
    stops = np.linspace(0, 1, len(ramp))
    channels = [np.interp(place, stops, [colour[channel] for colour in ramp]) for channel in range(3)]
    colours: Array = np.stack(channels, axis=-1).round().astype(np.uint8)
    colours[~finite] = NOT_FINITE
    return colours


def largest(values: Array) -> float:
    """The largest finite magnitude; 0 when there is none."""
    magnitudes = np.abs(np.asarray(values, dtype=np.float64))
    finite = magnitudes[np.isfinite(magnitudes)]
    return float(finite.max()) if finite.size else 0.0
