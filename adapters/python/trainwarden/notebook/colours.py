"""Numbers as colours. What is not finite has a colour of its own, which no number has."""

from __future__ import annotations

import numpy as np

from ..arrays import Array

# All as in the page (web/src/draw/colours.ts).
NOT_FINITE = (204, 47, 180)
NOT_FINITE_HEX = "#cc2fb4"
_SIGNED = "0b3c6f2a6bac6ea6d6b9d4eaf3f2eff5cf9ee59a4bb96414703605"  # blue, near white, orange
_VIRIDIS = "440154482878 3e4989 31688e 26828e 1f9e89 35b779 6ece58 b5de2b fde725".replace(" ", "")
_GRAY = "000000ffffff"

# Okabe and Ito's, without yellow, which is too light for a line on white.
CATEGORIES = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#56b4e9", "#e69f00", "#000000")


def signed_colours(values: Array, limit: float) -> Array:
    """uint8 [..., 3]: blue at -limit, near white at 0, orange at +limit; beyond it as at it."""
    return _on_ramp(values, -limit, limit, _SIGNED)


def magnitude_colours(values: Array, low: float, high: float) -> Array:
    """uint8 [..., 3]: viridis from `low` to `high`."""
    return _on_ramp(values, low, high, _VIRIDIS)


def gray_colours(values: Array, low: float, high: float) -> Array:
    return _on_ramp(values, low, high, _GRAY)


def _on_ramp(values: Array, low: float, high: float, ramp: str) -> Array:
    """`ramp`: colours at equal distances, six hexadecimal digits each."""
    numbers = np.asarray(values, dtype=np.float64)
    finite = np.isfinite(numbers)
    span = high - low
    place = np.where(finite, (numbers - low) / span if span > 0 else 0.5, 0.0).clip(0, 1)
    levels = np.frombuffer(bytes.fromhex(ramp), dtype=np.uint8).reshape(-1, 3)
    stops = np.linspace(0, 1, len(levels))
    channels = [np.interp(place, stops, levels[:, channel]) for channel in range(3)]
    colours: Array = np.stack(channels, axis=-1).round().astype(np.uint8)
    colours[~finite] = NOT_FINITE
    return colours


def largest(values: Array) -> float:
    """The largest finite magnitude; 0 when there is none."""
    magnitudes = np.abs(np.asarray(values, dtype=np.float64))
    finite = magnitudes[np.isfinite(magnitudes)]
    return float(finite.max()) if finite.size else 0.0
