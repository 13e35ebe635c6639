"""What a part of an examination has measured, by name."""

from __future__ import annotations

from typing import Any

from trainwarden.torch.examination.numbers import Numbers


def numbers_of(part: Any) -> dict[str, list[float]]:
    numbers = Numbers()
    part.add(numbers)
    return named(numbers)


def named(numbers: Numbers) -> dict[str, list[float]]:
    values, at, result = numbers.tensor().tolist(), 0, {}
    for name, count in numbers._layout:
        assert name not in result, name
        result[name] = values[at : at + count]
        at += count
    return result
