"""Ids: what the API calls tensors, worked out from their names as the server does (src/ui/views/shelf.h)."""

from __future__ import annotations


def tensor_id_of(name: str) -> str:
    """FNV-1a of 64 bits over the name's UTF-8, as 16 hexadecimal digits."""
    state = 0xCBF29CE484222325
    for byte in name.encode("utf-8", "surrogateescape"):
        state = (state ^ byte) * 0x100000001B3 % (1 << 64)
    return f"{state:016x}"
