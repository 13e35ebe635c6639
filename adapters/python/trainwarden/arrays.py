"""Values of a run as NumPy arrays, without a copy."""

from __future__ import annotations

import contextlib
import importlib
from typing import Any

import numpy as np

from . import _core

_ml_dtypes: Any = None
with contextlib.suppress(ImportError):
    _ml_dtypes = importlib.import_module("ml_dtypes")

Array = np.ndarray[Any, np.dtype[Any]]

# What NumPy calls our dtypes where the names differ; the small floats are those of ml_dtypes.
_SMALL_FLOATS = {"bfloat16": "bfloat16", "float8_e4m3": "float8_e4m3fn", "float8_e5m2": "float8_e5m2"}


def array_of(value: _core.Value) -> Array:
    """The value as a read-only array over the same memory, which it keeps.

    Without ml_dtypes, bfloat16 and float8 become float32, which holds all their numbers exactly: a copy. Texts become
    an array of objects (str).
    """
    shape = tuple(value.shape)
    if value.dtype == "string":
        return _texts(value.strings, shape)
    raw = value.bytes
    if value.dtype not in _SMALL_FLOATS:
        plain: Array = raw.view(value.dtype).reshape(shape)
        return plain
    if _ml_dtypes is None:
        return _as_float32(raw, value.dtype).reshape(shape)
    small: Array = raw.view(getattr(_ml_dtypes, _SMALL_FLOATS[value.dtype])).reshape(shape)
    return small


def _texts(texts: list[str], shape: tuple[int, ...]) -> Array:
    array = np.empty(len(texts), dtype=object)
    array[:] = texts
    array.flags.writeable = False
    return array.reshape(shape)


def _as_float32(raw: Array, dtype: str) -> Array:
    if dtype == "bfloat16":
        numbers: Array = (raw.view(np.uint16).astype(np.uint32) << 16).view(np.float32)
    else:
        exponent_bits = 4 if dtype == "float8_e4m3" else 5
        numbers = _float8_table(exponent_bits)[raw]
    numbers.flags.writeable = False
    return numbers


def _float8_table(exponent_bits: int) -> Array:
    """The 256 numbers of a float8: e4m3 has no infinity and one NaN in each sign, e5m2 is as IEEE has it."""
    mantissa_bits = 7 - exponent_bits
    bias = (1 << (exponent_bits - 1)) - 1
    pattern = np.arange(128)
    exponent = pattern >> mantissa_bits
    fraction = (pattern & ((1 << mantissa_bits) - 1)) / (1 << mantissa_bits)
    normal = np.ldexp(1.0 + fraction, exponent - bias)
    subnormal = np.ldexp(fraction, 1 - bias)
    half = np.where(exponent == 0, subnormal, normal)
    if exponent_bits == 4:
        half[127] = np.nan
    else:
        half[124] = np.inf
        half[125:] = np.nan
    table: Array = np.concatenate([half, -half]).astype(np.float32)
    return table
