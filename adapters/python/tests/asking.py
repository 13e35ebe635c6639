"""Asks a training for a checkpoint, a stop or a closer look, as an action would, and reads what it answered from its journal."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

_ANSWER = re.compile(rb'\{"type":"checkpoint_[^\n\0]*?\}(?=[^",\w]|$)')


def ask_for_checkpoint(run_dir: Path, key: str = "k", reason: str = "just so") -> None:
    request = {"type": "checkpoint", "key": key, "reason": reason, "rule": "", "global_step": -1,
               "requested_by": "user", "unix_ns": 1}  # fmt: skip
    _put(run_dir, f"checkpoint-{key}", request)


def ask_for_stop(run_dir: Path) -> None:
    _put(run_dir, "stop-s", {"type": "stop", "key": "s", "reason": "enough", "requested_by": "user", "unix_ns": 2})


def ask_for_examination(run_dir: Path, steps: int) -> None:
    request = {"type": "examine", "key": "k", "reason": "r", "steps": steps, "requested_by": "test", "unix_ns": 1}
    _put(run_dir, "examine-k", request)


def _put(run_dir: Path, name: str, request: dict[str, Any]) -> None:
    """Under another name first: who polls would take a file that is not whole yet for a wrong request."""
    control = run_dir / "control"
    control.mkdir(parents=True, exist_ok=True)
    beside = control / f"{name}.tmp"
    beside.write_text(json.dumps(request))
    beside.rename(control / f"{name}.json")


def answers(run_dir: Path, rank: int = 0) -> list[dict[str, Any]]:
    """The checkpoint events of a worker, in the order of writing, each with its type without "checkpoint_"."""
    found = []
    for segment in sorted((run_dir / "journal" / f"rank-{rank:05}").glob("seg-*.tw")):
        for text in _ANSWER.findall(segment.read_bytes()):
            event = json.loads(text)
            found.append({**event, "type": event["type"].removeprefix("checkpoint_")})
    return found
