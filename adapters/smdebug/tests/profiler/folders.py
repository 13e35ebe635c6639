"""Small folders as SageMaker's profiler writes them, for tests."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

START_US = 1_594_662_605_425_850  # when the timelines begin


def sample(
    kind: str, name: str, dimension: str, value: float, seconds: float, node: str = "algo-1"
) -> dict[str, Any]:
    return {
        "Type": kind,
        "Name": name,
        "Dimension": dimension,
        "Value": value,
        "NodeId": node,
        "Timestamp": START_US / 1e6 + seconds,
    }


def event(phase: int, name: str, from_us: int, duration_us: int, step: int | None = None) -> dict[str, Any]:
    args = {} if step is None else {"args": {"pid": 7, "step_num": str(step)}}
    return {"name": name, "pid": phase, "ph": "X", "ts": from_us, "dur": duration_us, **args}


def phase(number: int, name: str) -> dict[str, Any]:
    return {"name": "process_name", "ph": "M", "pid": number, "args": {"name": name}}


HEAD = {"name": "process_name", "ph": "M", "pid": 0, "args": {"start_time_since_epoch_in_micros": START_US}}


def put_system(folder: Path, samples: list[dict[str, Any]], node: str = "algo-1") -> Path:
    path = folder / "system" / "incremental" / "2020071317" / f"{START_US // 60_000_000 * 60}.{node}.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(one) + "\n" for one in samples))
    return path


def put_timeline(folder: Path, events: list[dict[str, Any]], end_us: int, suffix: str = "pythontimeline") -> Path:
    """Without the end of its array, as a process leaves it that dies."""
    path = folder / "framework" / "pevents" / "2020071317" / f"{START_US + end_us}_7-host_{suffix}.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("[\n" + ",\n".join(json.dumps(one) for one in [HEAD, *events]))
    return path


def small_profile(folder: Path) -> Path:
    """Three steps of 600 ms a second apart, each with a forward pass of 200 ms and a wait of 100 ms before it; a processor
    and a GPU with a value each second."""
    put_system(
        folder,
        [
            one
            for second in range(4)
            for one in (
                sample("cpu", "cpu0", "CPUUtilization", 10.0 * second, second),
                sample("cpu", "cpu1", "CPUUtilization", 50.0, second),
                sample("gpu", "gpu0", "GPUUtilization", 95.0 if second == 2 else 20.0, second),
            )
        ],
    )
    events = [phase(1, "Step:ModeKeys.TRAIN"), phase(2, "Forward-node"), phase(3, "DataLoaderIter")]
    for step in range(3):
        at = step * 1_000_000
        events.append(event(3, "DataLoaderIter::GetNext", at + 50_000, 100_000))
        events.append(event(2, "Forward-node", at + 200_000, 200_000, step))
        events.append(event(1, "Step:ModeKeys.TRAIN", at + 150_000, 600_000, step))
    put_timeline(folder, events, 2_750_000)
    return folder
