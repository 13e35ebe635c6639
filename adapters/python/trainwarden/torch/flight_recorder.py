"""Flight recorder: the last collective operations of this process, as torch itself has noted them.

torch notes them where it was told to: TORCH_FR_BUFFER_SIZE in the environment, in older versions
TORCH_NCCL_TRACE_BUFFER_SIZE. Asked only when a training stands still, by the thread that tells so.
"""

from __future__ import annotations

import json
import pickle
from typing import Any, Iterator, NamedTuple, Optional

_MAX_BYTES = 32 << 20
_MAX_ENTRIES = 20_000
_MAX_SIZES = 8
_MAX_TEXT = 60


class Entry(NamedTuple):
    """One operation of one process group."""

    number: int  # within its group, as torch counts
    operation: str  # "all_reduce"
    sizes: list[list[int]]  # of its inputs
    state: str  # "scheduled", "started", "completed"


def last_entries(most: int) -> dict[str, list[Entry]]:
    """By the name of the process group, the oldest first, at most so many of each. Operations between two processes are
    left out: no two of them need be at the same one."""
    groups: dict[str, list[Entry]] = {}
    for dump in _dumps():
        entries = dump.get("entries") if isinstance(dump, dict) else dump
        for raw in entries[-_MAX_ENTRIES:] if isinstance(entries, list) else ():
            named = _read(raw)
            if named is not None:
                groups.setdefault(named[0], []).append(named[1])
    for name, found in groups.items():
        groups[name] = sorted(found, key=lambda each: each.number)[-most:]
    return groups


def _dumps() -> Iterator[Any]:
    """NCCL has a recorder of its own; the other one is that of all other backends."""
    try:
        from torch._C import _distributed_c10d as c10d
    except ImportError:  # torch without distributed
        return
    nccl_json = getattr(c10d, "_dump_nccl_trace_json", None)
    nccl, others = getattr(c10d, "_dump_nccl_trace", None), getattr(c10d, "_dump_fr_trace_json", None)
    if nccl_json is not None:
        yield _parsed(nccl_json, includeCollectives=True, onlyActive=False)
    elif nccl is not None:
        # Without stacks, which take long to put into words. torch 2.2 knows no such choice, and is not asked.
        yield _parsed(nccl, includeCollectives=True, includeStackTraces=False, onlyActive=False)
    if others is not None:
        yield _parsed(others, includeCollectives=True, onlyActive=False)


def _parsed(dump: Any, **how: bool) -> Any:
    try:
        content = dump(**how)
        if len(content) > _MAX_BYTES:
            return {}
        # What is no JSON is a pickle, which this process has made a moment ago.
        return json.loads(content) if content[:1] in (b"{", b"[", "{", "[") else pickle.loads(content)
    except Exception:  # another version of torch: then it has nothing to say
        return {}


def _read(raw: Any) -> Optional[tuple[str, Entry]]:
    """None for what is not as torch documents it, and for what goes between two processes."""
    if not isinstance(raw, dict) or raw.get("is_p2p"):
        return None
    group, number = raw.get("process_group"), raw.get("collective_seq_id")
    if not isinstance(group, (list, tuple)) or not group or not isinstance(number, int):
        return None
    state = str(raw.get("state", ""))[:_MAX_TEXT]
    if raw.get("retired") and state != "completed":
        state = "completed"  # Gloo never says that an operation has started
    operation = str(raw.get("profiling_name", "")).split(":")[-1].lstrip("_")[:_MAX_TEXT]
    return str(group[0])[:_MAX_TEXT], Entry(number, operation, _sizes(raw.get("input_sizes")), state)


def _sizes(raw: Any) -> list[list[int]]:
    if not isinstance(raw, (list, tuple)):
        return []
    return [[size for size in each[:_MAX_SIZES] if isinstance(size, int)] for each in raw[:2] if isinstance(each, (list, tuple))]
