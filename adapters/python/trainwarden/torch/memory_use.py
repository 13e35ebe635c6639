"""Memory use: how much this process has taken, on the host and on accelerators, asked in a few microseconds."""

from __future__ import annotations

import os
from typing import Optional

import torch

_PAGE_BYTES = os.sysconf("SC_PAGE_SIZE") if hasattr(os, "sysconf") else 4096
# The allocator's own account of an accelerator costs tens of microseconds: it is asked once in so many times.
_DEVICE_INTERVAL = 8


class MemoryUse:
    """Of one process; not of a child that it forks."""

    def __init__(self) -> None:
        self._statm: Optional[int] = _open_statm()
        self._asked = 0

    def __del__(self) -> None:
        if self._statm is not None:
            os.close(self._statm)

    def resident_bytes(self) -> Optional[int]:
        """What of this process is in memory, with what it shares; None where the system does not say."""
        return self._read()[0] if self._statm is not None else None

    def _read(self) -> tuple[int, int]:
        """Bytes in memory, and those of them that are shared."""
        assert self._statm is not None
        _, resident, shared = os.pread(self._statm, 64, 0).split(b" ", 3)[:3]
        return int(resident) * _PAGE_BYTES, int(shared) * _PAGE_BYTES

    def now(self) -> dict[str, float]:
        """By the name of the signal; unknown ones are left out."""
        found = {}
        if self._statm is not None:
            resident, shared = self._read()
            found["memory/host_bytes"] = float(resident - shared)
        if self._asked % _DEVICE_INTERVAL == 0 and torch.cuda.is_initialized():
            found.update(_device_bytes())
        self._asked += 1
        return found


def _open_statm() -> Optional[int]:
    try:
        return os.open("/proc/self/statm", os.O_RDONLY | os.O_CLOEXEC)
    except OSError:  # not Linux
        return None


def _device_bytes() -> dict[str, float]:
    """Of the current device: what tensors hold, the most that they held at once, and the most that is kept for them."""
    stats = torch.cuda.memory_stats_as_nested_dict()
    if not stats:
        return {"memory/device_bytes": 0.0}
    allocated, reserved = stats["allocated_bytes"]["all"], stats["reserved_bytes"]["all"]
    return {
        "memory/device_bytes": float(allocated["current"]),
        "memory/device_peak_bytes": float(allocated["peak"]),
        "memory/device_reserved_bytes": float(reserved["peak"]),
    }


def device_memory() -> list[tuple[int, int]]:
    """The current accelerator and what tensors hold of it, if one is in use."""
    if not torch.cuda.is_initialized():
        return []
    return [(torch.cuda.current_device(), int(_device_bytes()["memory/device_bytes"]))]
