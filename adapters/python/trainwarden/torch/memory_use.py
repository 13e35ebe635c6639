"""Memory use: how much this process has taken, on the host and on accelerators, asked in a few microseconds."""

from __future__ import annotations

import os
from typing import Optional

import torch

_PAGE_BYTES = os.sysconf("SC_PAGE_SIZE") if hasattr(os, "sysconf") else 4096
# The allocator's own account of an accelerator costs tens of microseconds: it is asked once in so many times.
_DEVICE_INTERVAL = 8
_MOST_FIRST_NUMBER = 3584


class _Statm:
    """What the kernel says of this process's memory. The file stays open, which saves 3 microseconds a step. But a
    program may close descriptors that it knows nothing of, and open files of its own: this one has a high number, which
    those hardly ever get, and is opened anew when its number stands for another file or none."""

    def __init__(self) -> None:
        self._number = -1
        self._identity = (0, 0)

    def __del__(self) -> None:
        if self._is_ours():
            os.close(self._number)

    def read(self) -> Optional[bytes]:
        """None where the system does not say."""
        try:
            if not self._is_ours():
                self._open()
            return os.pread(self._number, 64, 0)
        except (OSError, ImportError):  # not Linux, or there is no descriptor more
            return None

    def _is_ours(self) -> bool:
        if self._number < 0:
            return False
        try:
            found = os.fstat(self._number)
        except OSError:
            return False
        return (found.st_dev, found.st_ino) == self._identity

    def _open(self) -> None:
        self._number = -1
        low = os.open("/proc/self/statm", os.O_RDONLY | os.O_CLOEXEC)
        try:
            number = _high_number(low)
        finally:
            os.close(low)
        found = os.fstat(number)
        self._number, self._identity = number, (found.st_dev, found.st_ino)


def _high_number(number: int) -> int:
    """As src/core/base/owned_descriptor.h has it; one above the standard streams where there is none."""
    import fcntl
    import resource

    first = max(3, min(resource.getrlimit(resource.RLIMIT_NOFILE)[0] // 8 * 7, _MOST_FIRST_NUMBER))
    try:
        return fcntl.fcntl(number, fcntl.F_DUPFD_CLOEXEC, first)
    except OSError:
        return fcntl.fcntl(number, fcntl.F_DUPFD_CLOEXEC, 3)


class MemoryUse:
    """Of one process; not of a child that it forks."""

    def __init__(self) -> None:
        self._statm = _Statm()
        self._asked = 0

    def resident_bytes(self) -> Optional[int]:
        """What of this process is in memory, with what it shares; None where the system does not say."""
        found = self._read()
        return None if found is None else found[0]

    def _read(self) -> Optional[tuple[int, int]]:
        """Bytes in memory, and those of them that are shared."""
        text = self._statm.read()
        if text is None:
            return None
        _, resident, shared = text.split(b" ", 3)[:3]
        return int(resident) * _PAGE_BYTES, int(shared) * _PAGE_BYTES

    def now(self) -> dict[str, float]:
        """By the name of the signal; unknown ones are left out."""
        found = {}
        memory = self._read()
        if memory is not None:
            found["memory/host_bytes"] = float(memory[0] - memory[1])
        if self._asked % _DEVICE_INTERVAL == 0 and torch.cuda.is_initialized():
            found.update(_device_bytes())
        self._asked += 1
        return found


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
