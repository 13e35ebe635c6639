"""Safetensors documents in memory: how numbers go between a view and whoever answers it."""

from __future__ import annotations

import json
import struct
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..arrays import Array
from ..errors import DataLoss, InvalidArgument

_NAMES = {"float32": "F32", "float64": "F64", "uint8": "U8", "int64": "I64", "int32": "I32", "bool": "BOOL"}
_DTYPES = {name: dtype for dtype, name in _NAMES.items()}


@dataclass(frozen=True)
class Arrays:
    """Named arrays and words about them. A word is a text; what is more than a text is JSON in a text."""

    arrays: dict[str, Array]
    words: dict[str, str] = field(default_factory=dict)

    def __getitem__(self, name: str) -> Array:
        return self.arrays[name]

    def json(self, word: str, fallback: Any = None) -> Any:
        text = self.words.get(word)
        return fallback if text is None else json.loads(text)


def to_bytes(arrays: Mapping[str, Array], words: Mapping[str, str]) -> bytes:
    """The document: the length of the header in 8 bytes, the header padded to 8 with spaces, the arrays packed in the
    order of what one element takes, largest first, so that each is aligned."""
    packed = {name: np.ascontiguousarray(array) for name, array in arrays.items()}
    names = sorted(packed, key=lambda name: -packed[name].itemsize)
    header: dict[str, Any] = {"__metadata__": dict(words)}
    end = 0
    for name in names:
        array = packed[name]
        if array.dtype.name not in _NAMES:
            raise InvalidArgument(f"expected an array of {', '.join(_NAMES)}, got {name!r} of {array.dtype}")
        begin, end = end, end + array.nbytes
        header[name] = {"dtype": _NAMES[array.dtype.name], "shape": list(array.shape), "data_offsets": [begin, end]}
    text = json.dumps(header).encode("utf-8")
    text += b" " * (-len(text) % 8)
    return b"".join([struct.pack("<Q", len(text)), text, *(packed[name].tobytes() for name in names)])


def from_bytes(document: bytes) -> Arrays:
    """The arrays lie over the document's bytes: nothing is copied, and they are read-only."""
    try:
        (length,) = struct.unpack_from("<Q", document)
        header = json.loads(document[8 : 8 + length])
        words = header.pop("__metadata__", {})
        return Arrays({name: _array(document, 8 + length, entry) for name, entry in header.items()}, words)
    except (struct.error, ValueError, KeyError, TypeError) as error:
        raise DataLoss(f"expected a safetensors document, got {len(document)} bytes that are none: {error}") from error


def _array(document: bytes, start: int, entry: dict[str, Any]) -> Array:
    begin, end = entry["data_offsets"]
    dtype = np.dtype(_DTYPES[entry["dtype"]])
    array: Array = np.frombuffer(document, dtype, (end - begin) // dtype.itemsize, start + begin)
    return array.reshape(entry["shape"])
