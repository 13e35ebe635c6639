"""Places of numbers on a picture, and the round numbers that stand beside it."""

from __future__ import annotations

import math
from dataclasses import dataclass


@dataclass(frozen=True)
class Axis:
    """From numbers low..high to pixels begin..end; a logarithmic one takes positive numbers."""

    low: float
    high: float
    begin: float
    end: float
    logarithmic: bool = False

    def place(self, value: float) -> float:
        low, high, value = (self._scaled(each) for each in (self.low, self.high, value))
        share = (value - low) / (high - low) if high > low else 0.5
        return self.begin + share * (self.end - self.begin)

    def _scaled(self, value: float) -> float:
        return math.log10(value) if self.logarithmic else value

    def ticks(self, most: int) -> list[float]:
        """Round numbers within the axis; its ends where there are fewer than two."""
        if self.logarithmic:
            powers = range(math.ceil(math.log10(self.low)), math.floor(math.log10(self.high)) + 1)
            stride = max(1, -(-len(powers) // most))
            found = [10.0**power for power in powers[::stride]]
        else:
            found = _round_numbers(self.low, self.high, most)
        return found if len(found) > 1 else sorted({self.low, self.high})


def _round_numbers(low: float, high: float, most: int) -> list[float]:
    if not high > low:
        return []
    rough = (high - low) / most
    power = 10.0 ** math.floor(math.log10(rough))
    stride = next((factor * power for factor in (1, 2, 5) if factor * power >= rough), 10 * power)
    first = math.ceil(low / stride)
    return [index * stride for index in range(first, math.floor(high / stride) + 1)]
