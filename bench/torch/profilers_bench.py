"""What profiling costs a training from its first step to its last: `trainwarden run` as it is, and others beside it.

Every tool has a process of its own with the same training; the processes take turns, a few steps each, so that whatever
disturbs the machine disturbs all of them. The steps 5 to 15, which torch.profiler and Trainwarden record call by call,
and the steps after them are figures of their own: a sample of the first is a set of processes, of the second a round.
"""

from __future__ import annotations

import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Optional

HERE = Path(__file__).resolve().parent
TRAINWARDEN = HERE.parents[1] / "build/release/bin/trainwarden"
PROGRAMS = ("mlp_3ms", "transformer")
WARM_UP, WINDOW, BLOCK = 4, 11, 15  # steps
SETS, ROUNDS = 7, 12
PROFILER_STARTS_S = 2.0


def program_path() -> str:
    return os.environ.get("TRAINWARDEN_PROGRAM", str(TRAINWARDEN))


class Arm:
    """One tool with its training."""

    def __init__(
        self, tool: str, program: str, folder: Path, rival_python: Optional[str], environment: dict[str, str]
    ) -> None:
        self.tool = tool
        way = tool if tool in ("torch_profiler", "psutil") else "off"
        command = [sys.executable, str(HERE / "profiled_training.py"), program, way]
        if tool == "trainwarden":
            command = [program_path(), "run", "--runs", str(folder), "--name", "run", "--", *command]
        self._folder = folder
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL}
        self._training = subprocess.Popen(command, env=environment, text=True, **pipes)
        self._spy: Optional[subprocess.Popen[bytes]] = None
        if tool == "py_spy":
            assert rival_python is not None
            self._attach_spy(Path(rival_python).parent / "py-spy")

    def _attach_spy(self, program: Path) -> None:
        command = [program, "record", "--pid", str(self._training.pid), "--output", self._folder / "stacks.svg"]
        self.train(1)  # Python has started
        quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        self._spy = subprocess.Popen([*command, "--duration", "3600"], **quiet)
        time.sleep(PROFILER_STARTS_S)
        if self._spy.poll() is not None:
            raise SystemExit(f"profilers_bench: py-spy ended with code {self._spy.returncode}; may it trace this process?")

    def train(self, steps: int) -> float:
        """Nanoseconds a step."""
        assert self._training.stdin is not None and self._training.stdout is not None
        self._training.stdin.write(f"{steps}\n")
        self._training.stdin.flush()
        answer = self._training.stdout.readline()
        if not answer:
            raise SystemExit(f"profilers_bench: the training of {self.tool} ended early, code {self._training.wait()}")
        return int(answer) / steps

    def stop(self) -> None:
        if self._spy is not None:
            self._spy.kill()
            self._spy.wait()
        assert self._training.stdin is not None
        self._training.stdin.close()
        self._training.wait()


def tools(rival_python: Optional[str]) -> list[str]:
    return ["off", "trainwarden", "torch_profiler", "psutil"] + (["py_spy"] if rival_python else [])


def run_set(
    program: str, names: list[str], rival_python: Optional[str], environment: dict[str, str]
) -> tuple[dict[str, float], dict[str, list[float]]]:
    """Nanoseconds a step of each tool: in the steps 5 to 15, and in each round after them."""
    folder = Path(tempfile.mkdtemp(prefix="profilers_bench_"))
    arms: list[Arm] = []
    try:
        for name in names:
            (folder / name).mkdir()
            arms.append(Arm(name, program, folder / name, rival_python, environment))
        for arm in arms:
            arm.train(WARM_UP - (arm.tool == "py_spy"))
        window = {arm.tool: arm.train(WINDOW) for arm in arms}
        for arm in arms:
            arm.train(BLOCK)
        later: dict[str, list[float]] = {name: [] for name in names}
        for number in range(ROUNDS):
            for index in range(len(arms)):
                arm = arms[(number + index) % len(arms)]
                later[arm.tool].append(arm.train(BLOCK))
        for arm in arms:
            arm.stop()
        check_recorded(folder / "trainwarden" / "run")
        return window, later
    finally:
        for arm in arms:
            arm._training.kill()
            arm._training.wait()
            if arm._spy is not None:
                arm._spy.kill()
        shutil.rmtree(folder, ignore_errors=True)


def check_recorded(run: Path) -> None:
    """A figure of a run that recorded nothing would be a lie."""
    done = subprocess.run([program_path(), "operators", str(run)], capture_output=True, text=True)
    if done.returncode != 0 or "aten::" not in done.stdout:
        raise SystemExit(f"profilers_bench: {run} has no recorded operators: {done.stdout}{done.stderr}")


def measure(
    program: str, rival_python: Optional[str], environment: dict[str, str]
) -> tuple[dict[str, list[float]], dict[str, list[float]], float]:
    """Percent by which each tool slows a training, in its window and later, and the median step alone in ms."""
    names = tools(rival_python)
    windows: dict[str, list[float]] = {name: [] for name in names[1:]}
    laters: dict[str, list[float]] = {name: [] for name in names[1:]}
    alone: list[float] = []
    for number in range(SETS):
        turned = names[number % len(names) :] + names[: number % len(names)]
        window, later = run_set(program, turned, rival_python, environment)
        alone += later["off"]
        for name in names[1:]:
            windows[name].append(100 * (window[name] / window["off"] - 1))
            laters[name] += [100 * (with_it / off - 1) for with_it, off in zip(later[name], later["off"])]
    return windows, laters, statistics.median(alone) / 1e6
