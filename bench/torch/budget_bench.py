"""Does the budget of one percent hold: what `trainwarden run` with its defaults costs an untouched training, all in all.

Three programs take turns, a block of steps each: the training alone, under `trainwarden run`, and under `trainwarden run
--rules default`. A figure is how much longer they take, or how much more CPU time: that of the training's process, with
the writer thread in it, and that of the program beside it, which judges. The first steps, in which capture has an
allowance, are not counted. Steps that are kept are rare, so a figure is made of sums over all blocks of a set of
processes, of which there are some, and not of the usual block.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

HERE = Path(__file__).resolve().parent
PROGRAM = HERE.parents[1] / "build/release/bin/trainwarden"
# Names of programs of training.py, by what a step of them takes.
PROGRAMS = {"0.2ms": "mlp_tiny", "2ms": "mlp_small", "20ms": "mlp_large"}
GOALS = {"0.2ms": 3.0, "2ms": 1.0, "20ms": 1.0}  # percent
ARMS = {"off": None, "run": [], "rules": ["--rules", "default"]}
WARM_UP_SECONDS = 4.0
BLOCK_SECONDS = 0.75
BLOCKS_OF_A_SET = 4
SETS = 7  # a process is a percent or two faster or slower than its twin, for as long as it lives


class Cost(NamedTuple):
    """Of a block of steps, in seconds."""

    wall: float
    cpu: float


@dataclass
class Watched:
    """The training, alone or under watch."""

    name: str
    process: subprocess.Popen[str] = field(init=False)
    total: Cost = Cost(0, 0)

    def start(self, program: str, folder: Path, environment: dict[str, str]) -> None:
        command = [sys.executable, str(HERE / "training.py"), program, "cpu"]
        options = ARMS[self.name]
        if options is not None:
            command = [str(PROGRAM), "run", "--runs", str(folder), "--name", self.name, *options, "--", *command]
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=environment, text=True
        )

    def train(self, steps: int) -> Cost:
        assert self.process.stdin is not None and self.process.stdout is not None
        before = self._beside()
        self.process.stdin.write(f"{steps}\n")
        self.process.stdin.flush()
        answer = self.process.stdout.readline()
        if not answer:
            raise SystemExit(f"budget_bench: the training of arm {self.name} ended early, code {self.process.wait()}")
        wall_ns, cpu_ns = map(int, answer.split())
        return Cost(wall_ns / 1e9, cpu_ns / 1e9 + self._beside() - before)

    def _beside(self) -> float:
        """CPU seconds of the process that watches, so far."""
        if ARMS[self.name] is None:
            return 0.0
        return time.clock_gettime(((~self.process.pid) << 3) | 2)  # as clock_getcpuclockid() makes it

    def add(self, cost: Cost) -> None:
        self.total = Cost(self.total.wall + cost.wall, self.total.cpu + cost.cpu)

    def stop(self) -> None:
        self.process.communicate()


def _train_set(program: str, folder: Path, environment: dict[str, str]) -> dict[str, Cost]:
    arms = [Watched(name) for name in ARMS]
    try:
        for arm in arms:
            arm.start(program, folder, environment)
        step_s = min(arm.train(200).wall for arm in arms) / 200
        for arm in arms:
            arm.train(max(200, round(WARM_UP_SECONDS / step_s)))
        steps = max(1, round(BLOCK_SECONDS / step_s))
        for number in range(BLOCKS_OF_A_SET):
            for index in range(len(arms)):
                arm = arms[(number + index) % len(arms)]
                arm.add(arm.train(steps))
        for arm in arms:
            arm.stop()
        for arm in arms:
            _check(arm.name, folder)
        return {arm.name: arm.total for arm in arms} | {"step": Cost(step_s, step_s)}
    finally:
        for arm in arms:
            if hasattr(arm, "process"):
                arm.process.kill()


def _check(name: str, folder: Path) -> None:
    """A figure of an arm that captured nothing would be a lie."""
    if ARMS[name] is None:
        return
    shown = subprocess.run(
        [str(PROGRAM), "show", str(folder / name), "--json"], check=True, capture_output=True, text=True
    ).stdout
    run = json.loads(shown)
    bill = run["bills"][-1]
    print(f"budget_bench: {name}: {run['modes'].get('train')}, bill {100 * bill['share']:.3g} %, {bill['modes']}", file=sys.stderr)
    if run["modes"].get("train", {"steps": 0})["steps"] < 5:
        raise SystemExit(f"budget_bench: arm {name} kept next to nothing: {run['modes']}")


class Samples(NamedTuple):
    """Percent that an arm costs more than none, one a set."""

    wall: list[float]
    cpu: list[float]


def measure(program: str, busy: bool, environment: dict[str, str]) -> dict[str, Samples]:
    """`busy`: one CPU is kept busy by somebody else."""
    samples = {name: Samples([], []) for name in ARMS if name != "off"}
    spinner = subprocess.Popen([sys.executable, "-c", "while True: pass"]) if busy else None
    try:
        for _ in range(SETS):
            folder = Path(tempfile.mkdtemp(prefix="budget_bench_"))
            try:
                costs = _train_set(program, folder, environment)
            finally:
                shutil.rmtree(folder, ignore_errors=True)
            print(f"budget_bench: {program}: a step takes {1e3 * costs['step'].wall:.3g} ms", file=sys.stderr)
            for name, (wall, cpu) in samples.items():
                wall.append(100 * (costs[name].wall / costs["off"].wall - 1))
                cpu.append(100 * (costs[name].cpu / costs["off"].cpu - 1))
                print(f"budget_bench: {name}: {wall[-1]:+.3g} %, of CPU time {cpu[-1]:+.3g} %", file=sys.stderr)
        return samples
    finally:
        if spinner is not None:
            spinner.kill()
            spinner.wait()
