"""What watching costs a training beside one without any hook: whole processes of ten shapes (shapes.py), alone and under
`trainwarden run` with its defaults. The bill that we write ourselves has no part in it."""

from __future__ import annotations

import json
import math
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
PAIRS = 3
SECONDS = 10.0  # of each process after its start, about
# The start has what is done once: the first captures, recorded operators, and the first looks of the examination, which may
# cost a training of three seconds a quarter of one (trainwarden/torch/examination/allowance.py).
START_SECONDS, MIN_START_STEPS = 3.0, 20
# Memory: no more than so many times the peak of the program alone, and so many MiB.
MAX_TIMES, MAX_MORE_MIB = 1.05, 48.0
MAX_TIME = 1.02


class Pair(NamedTuple):
    """Of a program alone and watched."""

    time: float  # CPU time of a step after the start, as a ratio
    memory: float  # peak, as a share of what it may be
    start_seconds: float  # more CPU time until the start was over


def measure(shape: str, environment: dict[str, str]) -> list[Pair]:
    """Both at once, each on a processor of its own, and then with their processors exchanged: what else the machine does, and
    how fast it is just then, is the same for both."""
    step_seconds = _ended(_start(shape, (20, 20), None, None, environment))["step_seconds"]
    steps = max(MIN_START_STEPS, round(START_SECONDS / step_seconds)), max(20, round(SECONDS / step_seconds))
    processors = sorted(os.sched_getaffinity(0))
    first, second = processors[0], processors[-1]
    pairs = []
    for _ in range(PAIRS):
        there, back = (_run_both(shape, steps, places, environment) for places in ((first, second), (second, first)))
        mean = math.sqrt(there.time * back.time)
        pairs.append(Pair(mean, max(there.memory, back.memory), (there.start_seconds + back.start_seconds) / 2))
        print(f"no_hook_bench: {shape}: {pairs[-1]}", file=sys.stderr)
    return pairs


def _run_both(shape: str, steps: tuple[int, int], processors: tuple[int, int], environment: dict[str, str]) -> Pair:
    folder = tempfile.mkdtemp(prefix="no_hook_bench_")
    try:
        started = [_start(shape, steps, runs, on, environment) for runs, on in zip((None, folder), processors)]
        alone, watched = map(_ended, started)
        if not os.path.exists(os.path.join(folder, shape)):
            raise SystemExit(f"no_hook_bench: {shape} left no run")
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    allowed = MAX_TIMES * alone["peak_mib"] + MAX_MORE_MIB
    start = watched["start_seconds"] - alone["start_seconds"]
    return Pair(watched["step_seconds"] / alone["step_seconds"], watched["peak_mib"] / allowed, start)


def _start(
    shape: str, steps: tuple[int, int], runs: str | None, processor: int | None, environment: dict[str, str]
) -> subprocess.Popen[str]:
    """`steps`: of the start, and after it. `runs`: watched, into this folder."""
    command = [sys.executable, str(HERE / "shapes.py"), shape, *map(str, steps)]
    if runs is not None:
        command = [str(PROGRAM), "run", "--runs", runs, "--name", shape, "--", *command]
    if processor is not None:
        command = ["taskset", "--cpu-list", str(processor), *command]
    pipe = subprocess.PIPE
    return subprocess.Popen(command, stdout=pipe, stderr=pipe, text=True, env={**os.environ, **environment})


def _ended(process: subprocess.Popen[str]) -> dict[str, float]:
    out, err = process.communicate()
    if process.returncode != 0:
        raise SystemExit(f"no_hook_bench: exit code {process.returncode}: {err}")
    figures: dict[str, float] = json.loads(out.splitlines()[-1])
    return figures


def shapes() -> list[str]:
    return list(SHAPES)
