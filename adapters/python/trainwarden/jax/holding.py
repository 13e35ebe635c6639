"""Holding: gradients that may be kept when a step ends, as long as the program has them, or while they are small."""

from __future__ import annotations

import weakref
from typing import Any, Callable

import jax

_MAX_BYTES = 32 << 20  # of all of a step

Held = list[tuple[str, Callable[[], Any]]]


def held(tensors: list[tuple[str, Any]], is_wanted: bool) -> Held:
    """Each with a function that gives it, or None when it is gone."""
    size = sum(getattr(value, "nbytes", 0) for _, value in tensors)
    hold = _firmly if is_wanted and size <= _MAX_BYTES else _loosely
    return [(name, hold(value)) for name, value in tensors]


def those_left(tensors: Held) -> list[tuple[str, Any]]:
    values = [(name, value()) for name, value in tensors]
    return [(name, value) for name, value in values if value is not None]


def _firmly(value: Any) -> Callable[[], Any]:
    return lambda: value


def _loosely(value: Any) -> Callable[[], Any]:
    return weakref.ref(value) if isinstance(value, jax.Array) else _gone


def _gone() -> None:
    return None
