"""Does the budget of one percent hold: what `trainwarden run` with its defaults costs an untouched training, all in all.

Two processes of the same program differ by some percent, for as long as they live: memory lies elsewhere. So the
training is compared with itself: every other block of steps is watched, and before those between torch's own functions
are put back where ours stand. A figure has two parts. What every step pays, and what is left in the caches by those that
are kept, is the usual difference between two blocks that follow each other. What comes now and then is measured by
clocks: the time inside the hook and its adapter, and the CPU time beside the training, of the writer thread and of the
program that reads the run and judges it. All is CPU time; a training whose machine has a CPU to spare loses less.

The first steps, in which capture has an allowance, are not counted. Between watched blocks the hook takes the time in
which it sees nothing for that of a long step, so it may spend twice as much as it would: what comes now and then is
counted against all of the time, as the budget is.
"""

from __future__ import annotations

import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

HERE = Path(__file__).resolve().parent
PROGRAM = HERE.parents[1] / "build/release/bin/trainwarden"
# Names of programs of training.py, by what a step of them takes.
PROGRAMS = {"0.2ms": "mlp_tiny", "2ms": "mlp_small", "20ms": "mlp_large"}
GOALS = {"0.2ms": 3.0, "2ms": 1.0, "20ms": 1.0}  # percent
ARMS: dict[str, list[str]] = {"run": [], "rules": ["--rules", "default"]}
WARM_UP_SECONDS = 5.0
BLOCK_SECONDS = 0.02
ROUNDS = 300
SETS = 5  # processes
CPU = max(os.sched_getaffinity(0))  # of the training and of all beside it


class Block(NamedTuple):
    """What some steps took, in nanoseconds."""

    wall: int
    thread: int  # CPU time of the training thread
    process: int  # CPU time of all threads
    hook: int  # inside the hook and its adapter


class Sample(NamedTuple):
    """Of one process: percent that watching costs."""

    always: float
    inside: float  # now and then, in the training thread
    beside: float  # now and then, elsewhere
    step_ms: float

    def percent(self) -> float:
        return self.always + self.inside + self.beside


class Training:
    """A process that trains under watch, a block of steps at a time, on request."""

    def __init__(self, program: str, arm: str, folder: Path, environment: dict[str, str]) -> None:
        command = [str(PROGRAM), "run", "--runs", str(folder), "--name", arm, *ARMS[arm], "--"]
        words = program.split()  # a program of training.py and how it is run, or a file beside it
        words = [str(HERE / words[0]), *words[1:]] if words[0].endswith(".py") else [str(HERE / "training.py"), *words]
        command += [sys.executable, *words, "switched"]
        self.process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=environment,
            text=True,
            preexec_fn=lambda: os.sched_setaffinity(0, {CPU}),
        )

    def train(self, steps: int, watched: bool) -> Block:
        assert self.process.stdin is not None and self.process.stdout is not None
        self.process.stdin.write(f"{'watched' if watched else 'alone'} {steps}\n")
        self.process.stdin.flush()
        answer = self.process.stdout.readline()
        if not answer:
            raise SystemExit(f"budget_bench: the training ended early, code {self.process.wait()}")
        return Block(*map(int, answer.split()))

    def beside(self) -> int:
        """CPU time of the program that watches, so far, in nanoseconds."""
        return time.clock_gettime_ns(((~self.process.pid) << 3) | 2)  # as clock_getcpuclockid() makes it


def _measure_process(program: str, arm: str, folder: Path, environment: dict[str, str]) -> Sample:
    training = Training(program, arm, folder, environment)
    try:
        step_ns = training.train(200, True).wall / 200
        training.train(max(200, round(WARM_UP_SECONDS * 1e9 / step_ns)), True)
        steps = max(2, round(BLOCK_SECONDS * 1e9 / step_ns))
        watcher_ns = -training.beside()
        blocks = [training.train(steps, number % 2 == 0) for number in range(2 * ROUNDS)]
        watcher_ns += training.beside()
        training.process.communicate()
    finally:
        training.process.kill()
    _check(arm, folder)
    return _sample(blocks, watcher_ns, steps)


def _sample(blocks: list[Block], watcher_ns: int, steps: int) -> Sample:
    """Each block alone is compared with the one before it and the one after it."""
    pairs = [(blocks[i], blocks[i + 1]) if i % 2 == 0 else (blocks[i + 1], blocks[i]) for i in range(len(blocks) - 1)]
    ratio = statistics.median(watched.thread / alone.thread for watched, alone in pairs)
    wall_ns = sum(block.wall for block in blocks)
    writer_ns = sum(block.process - block.thread for block in blocks)
    step_ns = statistics.median(block.thread for block in blocks[1::2]) / steps
    return Sample(
        always=100 * (ratio - 1),
        inside=100 * sum(block.hook for block in blocks) / wall_ns,
        beside=100 * (watcher_ns + writer_ns) / wall_ns,
        step_ms=step_ns / 1e6,
    )


def _check(arm: str, folder: Path) -> None:
    """A figure of an arm that captured nothing would be a lie."""
    shown = subprocess.run(
        [str(PROGRAM), "show", str(folder / arm), "--json"], check=True, capture_output=True, text=True
    ).stdout
    run = json.loads(shown)
    bill = run["bills"][-1]
    print(f"budget_bench: {arm}: {run['modes'].get('train')}, bill {100 * bill['share']:.3g} %, {bill['modes']}", file=sys.stderr)
    if run["modes"].get("train", {"steps": 0})["steps"] < 5:
        raise SystemExit(f"budget_bench: arm {arm} kept next to nothing: {run['modes']}")


def measure(program: str, arm: str, environment: dict[str, str]) -> list[Sample]:
    """One sample for each of some processes."""
    samples = []
    for _ in range(SETS):
        folder = Path(tempfile.mkdtemp(prefix="budget_bench_"))
        try:
            samples.append(_measure_process(program, arm, folder, environment))
        finally:
            shutil.rmtree(folder, ignore_errors=True)
        print(f"budget_bench: {program}: {arm}: {samples[-1]}", file=sys.stderr)
    return samples
