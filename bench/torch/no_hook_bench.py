"""What watching costs a training beside one without any hook: whole processes of ten shapes (shapes.py) in turns, alone and
under `trainwarden run` with its defaults. The bill that we write ourselves has no part in it."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

from shapes import SHAPES

HERE = Path(__file__).resolve().parent
PROGRAM = HERE.parents[1] / "build/release/bin/trainwarden"
PAIRS = 5
# Memory: no more than so many times the peak of the program alone, and so many MiB.
MAX_TIMES, MAX_MORE_MIB = 1.05, 48.0
MAX_TIME = 1.02


class Pair(NamedTuple):
    """Of a program alone and watched."""

    time: float  # CPU time of a step after the start, as a ratio
    memory: float  # peak, as a share of what it may be
    start_seconds: float  # more until the first step had ended


def measure(shape: str, environment: dict[str, str]) -> list[Pair]:
    pairs = []
    for number in range(PAIRS):
        ways = [False, True] if number % 2 == 0 else [True, False]
        taken = {watched: _run(shape, watched, environment) for watched in ways}
        alone, watched = taken[False], taken[True]
        allowed = MAX_TIMES * alone["peak_mib"] + MAX_MORE_MIB
        start = watched["start_seconds"] - alone["start_seconds"]
        pairs.append(Pair(watched["step_seconds"] / alone["step_seconds"], watched["peak_mib"] / allowed, start))
        print(f"no_hook_bench: {shape}: {pairs[-1]}", file=sys.stderr)
    return pairs


def _run(shape: str, watched: bool, environment: dict[str, str]) -> dict[str, float]:
    folder = tempfile.mkdtemp(prefix="no_hook_bench_")
    command = [sys.executable, str(HERE / "shapes.py"), shape]
    try:
        if watched:
            command = [str(PROGRAM), "run", "--runs", folder, "--name", shape, "--", *command]
        ended = subprocess.run(command, capture_output=True, text=True, check=True, env={**os.environ, **environment})
        if watched and not os.path.exists(os.path.join(folder, shape)):
            raise SystemExit(f"no_hook_bench: {shape} left no run: {ended.stderr}")
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    figures: dict[str, float] = json.loads(ended.stdout.splitlines()[-1])
    return figures


def shapes() -> list[str]:
    return list(SHAPES)
