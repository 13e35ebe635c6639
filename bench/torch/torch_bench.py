"""What Trainwarden costs an untouched PyTorch training on the CPU, paired with the same training alone.

Every way of watching is a process of its own that trains the same program; the processes take turns, a block of steps
each, so that whatever disturbs the machine disturbs all of them, and each round gives a ratio. All have one thread and
the same settings of malloc. The figures go out as those of the other benchmarks do: one JSON object a line with
--json, a table otherwise.

    build/venv/bin/python bench/torch/torch_bench.py [--json] [--rival-python PYTHON] [NAME...]

With --rival-python smdebug is measured in the same rounds; PYTHON is that of an environment made with
scripts/rivals.txt.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import budget_bench
import no_hook_bench
import profilers_bench

HERE = Path(__file__).resolve().parent
PARTS = ["weights", "biases", "gradients"]
STATISTICS = {"values": False, "statistics": True}
NEVER = {"save_interval": 1, "end_step": 0}
ROUNDS_OF_A_PROCESS = 5
# With the defaults of malloc a third of a step is page faults, and how many there are depends on what else lies in the
# heap: whoever allocates beside the training may look faster than nobody.
QUIET_MALLOC = "glibc.malloc.mmap_max=0:glibc.malloc.trim_threshold=17179869184:glibc.malloc.top_pad=268435456"



def equal_environment() -> dict[str, str]:
    """In which all arms train."""
    environment = {key: value for key, value in os.environ.items() if not key.startswith("TRAINWARDEN")}
    return environment | {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "GLIBC_TUNABLES": QUIET_MALLOC}


# What the hook is asked to do, by the name of the arm.
CONFIGURATIONS: dict[str, dict[str, object]] = {
    "idle": {"save": NEVER, "collections": [{"name": "losses", "save": NEVER}]},
    "phases": {"save": {"save_interval": 100}, "include_collections": ["scalars"]},
    "statistics": {"save": {"save_interval": 1}, "include_collections": PARTS, "keep": STATISTICS},
    "parts": {"save": {"save_interval": 1}, "include_collections": PARTS, "when_full": "block"},
    "all": {"save": {"save_interval": 1}, "save_all": True, "when_full": "block"},
    "outputs": {"save": {"save_interval": 1}, "include_collections": ["outputs"], "keep": STATISTICS, "dry_run": True},
}


@dataclass
class Figure:
    name: str
    samples: list[float]  # one a round
    unit: str
    goal: float | None
    limit: str
    at_least: bool = False  # the goal, or at most

    def median(self) -> float:
        return statistics.median(self.samples)

    def spread(self) -> str:
        low, _, high = statistics.quantiles(self.samples, n=4)
        return f"middle half of the rounds {low:.4g} to {high:.4g}"

    def ok(self) -> bool:
        if self.goal is None:
            return True
        return self.median() >= self.goal if self.at_least else self.median() <= self.goal

    def goal_in_words(self) -> str:
        return "none" if self.goal is None else f"{'>=' if self.at_least else '<='} {self.goal:g}"

    def as_json(self) -> str:
        limit = f"{self.limit}; {self.spread()}"
        return json.dumps(
            {"name": self.name, "value": self.median(), "unit": self.unit, "goal": self.goal_in_words(), "ok": self.ok(),
             "limit": limit}
        )

    def as_row(self) -> str:
        goal = "" if self.goal is None else self.goal_in_words()
        mark = "" if self.goal is None else "ok" if self.ok() else "MISSED"
        return f"{self.name:<36} {self.median():>10.4g} {self.unit:<6} {goal:<10} {mark:<7} {self.limit}; {self.spread()}"


@dataclass
class Arm:
    """One way of watching the training: `off`, a configuration above, or `smdebug` with its form."""

    name: str
    process: subprocess.Popen[str] = field(init=False)

    def start(self, program: str, folder: Path, rival_python: str | None) -> None:
        environment = equal_environment()
        command = [sys.executable, str(HERE / "training.py"), program]
        run = folder / self.name
        if self.name.startswith("smdebug."):
            assert rival_python is not None
            environment["SMDEBUG_LOG_LEVEL"] = "off"
            command = [rival_python, *command[1:], "smdebug", str(run), self.name.removeprefix("smdebug.")]
        elif self.name != "off":
            config = folder / f"{self.name}.json"
            config.write_text(json.dumps(CONFIGURATIONS[self.name]))
            environment |= {"TRAINWARDEN_ATTACH": "1", "TRAINWARDEN_RUN_DIR": str(run), "TRAINWARDEN_CONFIG": str(config)}
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment, text=True)

    def train(self, steps: int) -> float:
        """Nanoseconds a step."""
        assert self.process.stdin is not None and self.process.stdout is not None
        self.process.stdin.write(f"{steps}\n")
        self.process.stdin.flush()
        answer = self.process.stdout.readline()
        if not answer:
            raise SystemExit(f"torch_bench: the training of arm {self.name} ended early, code {self.process.wait()}")
        return int(answer) / steps

    def stop(self) -> None:
        self.process.communicate()


def measure(
    program: str, names: list[str], steps: int, rounds: int, rival_python: str | None, arm_type: type[Arm] = Arm
) -> dict[str, list[float]]:
    """Nanoseconds a step, of each arm in each round. A fresh set of processes every few rounds: where a process happens
    to lie in memory makes it a percent or two faster or slower than its twin for as long as it lives."""
    samples: dict[str, list[float]] = {name: [] for name in names}
    for _ in range(0, rounds, ROUNDS_OF_A_PROCESS):
        for name, values in run_rounds(
            program, names, steps, ROUNDS_OF_A_PROCESS, rival_python, arm_type
        ).items():
            samples[name] += values
    return samples


def run_rounds(
    program: str, names: list[str], steps: int, rounds: int, rival_python: str | None, arm_type: type[Arm] = Arm
) -> dict[str, list[float]]:
    """Of one set of processes; the first arm of a round is another one each time."""
    folder = Path(tempfile.mkdtemp(prefix="torch_bench_"))
    arms = [arm_type(name) for name in names]
    try:
        for arm in arms:
            arm.start(program, folder, rival_python)
        for arm in arms:
            arm.train(steps)
        samples: dict[str, list[float]] = {name: [] for name in names}
        for number in range(rounds):
            for index in range(len(arms)):
                arm = arms[(number + index) % len(arms)]
                samples[arm.name].append(arm.train(steps))
        for arm in arms:
            arm.stop()
        for name in names:
            check_arm(name, folder)
        return samples
    finally:
        for arm in arms:
            if hasattr(arm, "process"):
                arm.process.kill()
        shutil.rmtree(folder, ignore_errors=True)


def check_arm(name: str, folder: Path) -> None:
    """A figure of an arm that captured nothing, or lost some of it, would be a lie."""
    import trainwarden

    if name not in CONFIGURATIONS or name == "idle" or CONFIGURATIONS[name].get("dry_run"):
        return
    trial = trainwarden.open(folder / name)
    if len(trial.steps()) == 0 or len(trial.losses) > 0:
        raise SystemExit(f"torch_bench: arm {name} kept {len(trial.steps())} steps and lost {trial.losses}")


def percent(samples: dict[str, list[float]], arm: str) -> list[float]:
    return [100 * (with_us / alone - 1) for with_us, alone in zip(samples[arm], samples["off"])]


def factor(samples: dict[str, list[float]], arm: str) -> list[float]:
    return [with_us / alone for with_us, alone in zip(samples[arm], samples["off"])]


def bench_cnn(rival_python: str | None) -> list[Figure]:
    names = ["off", "statistics", "parts", "smdebug.statistics", "smdebug.parts"]
    if rival_python is None:
        names = names[:3]
    samples = measure("cnn", names, 10, 40, rival_python)
    figures = [
        Figure("torch.stats_pct", percent(samples, "statistics"), "%", 2, "one read of 0.8 MB a step"),
        Figure("torch.keep_wgl_pct", percent(samples, "parts"), "%", 3, "one copy and one write of 0.8 MB a step"),
        Figure("torch.cnn_step_ms", [ns / 1e6 for ns in samples["off"]], "ms", None, "LibTorch's convolutions"),
    ]
    if rival_python is not None:
        figures += [
            Figure("torch.stats_pct.smdebug", percent(samples, "smdebug.statistics"), "%", None, "the rival"),
            Figure("torch.keep_wgl_pct.smdebug", percent(samples, "smdebug.parts"), "%", None, "the rival"),
        ]
    return figures


def bench_keep_all(rival_python: str | None) -> list[Figure]:
    names = ["off", "all"] + ([] if rival_python is None else ["smdebug.all"])
    samples = measure("cnn", names, 5, 15, rival_python)
    limit = "every input and output copied once and written, about 100 MB a step"
    figures = [Figure("torch.keep_all_factor", factor(samples, "all"), "ratio", 1.3, limit)]
    if rival_python is not None:
        figures.append(Figure("torch.keep_all_factor.smdebug", factor(samples, "smdebug.all"), "ratio", None, "the rival"))
    return figures


def bench_transformer(rival_python: str | None) -> list[Figure]:
    del rival_python
    samples = measure("transformer", ["off", "statistics"], 20, 40, None)
    return [Figure("torch.transformer_stats_pct", percent(samples, "statistics"), "%", 10, "one read of 3.4 MB a step")]


def added_to_steps(name: str, arm: str, goal: float, limit: str) -> list[Figure]:
    """What an arm adds to a step of next to no work, over a step of the CNN, and in microseconds."""
    cnn_ns = statistics.median(measure("cnn", ["off"], 10, 5, None)["off"])
    samples = measure("small_steps", ["off", arm], 500, 25, None)
    added = [with_us - alone for with_us, alone in zip(samples[arm], samples["off"])]
    return [
        Figure(name, [100 * ns / cnn_ns for ns in added], "%", goal, limit),
        Figure(f"{name}.step_us", [ns / 1e3 for ns in added], "us", None, "the same, in microseconds a step"),
    ]


def bench_idle(rival_python: str | None) -> list[Figure]:
    del rival_python
    return added_to_steps("torch.idle_pct", "idle", 0.1, "the hooks of optimizer and root")


def bench_phases(rival_python: str | None) -> list[Figure]:
    del rival_python
    return added_to_steps("profiler.phases_pct", "phases", 0.2, "the same hooks, clocks, and every 100th step written")


def bench_module_call(rival_python: str | None) -> list[Figure]:
    del rival_python
    samples = measure("small_steps", ["off", "outputs"], 300, 15, None)
    calls = 11  # ten layers and their root
    added = [(with_us - alone) / calls / 1e3 for with_us, alone in zip(samples["outputs"], samples["off"])]
    return [Figure("torch.module_call_us", added, "us", None, "a Python call and the statistics of four numbers")]


def bench_handover(rival_python: str | None) -> list[Figure]:
    del rival_python
    code = "import sys; sys.path.insert(0, sys.argv[1]); import handover; handover.main()"
    answer = subprocess.run([sys.executable, "-c", code, str(HERE)], check=True, capture_output=True, text=True).stdout
    limit = "one call of `save_tensor` with a tensor of 1,024 floats that is kept"
    return [Figure("torch.handover_us", json.loads(answer), "us", None, limit)]


def bench_budget(rival_python: str | None) -> list[Figure]:
    del rival_python
    figures = []
    limit = "all that `trainwarden run` does for an MLP, its first 5 s left out, as CPU time; a sample is a process"
    for steps, program in budget_bench.PROGRAMS.items():
        for arm in budget_bench.ARMS:
            samples = budget_bench.measure(program, arm, equal_environment())
            name = ".".join(["torch.budget_pct", *([] if arm == "run" else [arm]), steps])
            always = statistics.median(sample.always for sample in samples)
            where = f"{limit}; {always:.2g} % of it in each step"
            figures.append(Figure(name, [sample.percent() for sample in samples], "%", budget_bench.GOALS[steps], where))
    return figures


def bench_no_hook(rival_python: str | None) -> list[Figure]:
    """Whole processes beside ones without any hook, of ten shapes of programs."""
    del rival_python
    figures = []
    environment = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    for shape in no_hook_bench.shapes():
        pairs = no_hook_bench.measure(shape, environment)
        start = statistics.median(pair.start_seconds for pair in pairs)
        time = f"CPU time of a step after the start, watched and alone; the start took {start:.2g} s more"
        room = f"peak, as a share of {no_hook_bench.MAX_TIMES:g} times the peak alone and {no_hook_bench.MAX_MORE_MIB:g} MiB"
        figures.append(
            Figure(f"torch.no_hook_time.{shape}", [pair.time for pair in pairs], "x", no_hook_bench.MAX_TIME, time)
        )
        figures.append(Figure(f"torch.no_hook_memory.{shape}", [pair.memory for pair in pairs], "x", 1.0, room))
    return figures


def bench_profilers(rival_python: str | None) -> list[Figure]:
    """`trainwarden run` as it is, beside torch.profiler, py-spy and psutil."""
    figures = []
    for program in profilers_bench.PROGRAMS:
        windows, laters, step_ms = profilers_bench.measure(program, rival_python, equal_environment())
        limit = f"of a step of {step_ms:.3g} ms, in turns with the training alone"
        for tool in laters:
            last = "" if tool == "trainwarden" else f".{tool}"
            name = f"torch.profiling_pct.{program}"
            figures.append(Figure(name + ".window" + last, windows[tool], "%", None, f"steps 5 to 15 {limit}"))
            figures.append(Figure(name + last, laters[tool], "%", None, f"later {limit}"))
    return figures


BENCHMARKS = {
    "torch.stats_pct": bench_cnn,
    "torch.keep_all_factor": bench_keep_all,
    "torch.transformer_stats_pct": bench_transformer,
    "torch.idle_pct": bench_idle,
    "profiler.phases_pct": bench_phases,
    "torch.module_call_us": bench_module_call,
    "torch.handover_us": bench_handover,
    "torch.budget_pct": bench_budget,
    "torch.no_hook": bench_no_hook,
    "torch.profiling_pct": bench_profilers,
}


def run_benchmarks(benchmarks: Mapping[str, Callable[[str | None], list[Figure]]], description: str | None) -> None:
    """What the command line asks for of these."""
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", action="store_true", help="one JSON object a line instead of a table")
    parser.add_argument("--rival-python", metavar="PYTHON", help="the Python of an environment with smdebug")
    parser.add_argument("names", nargs="*", metavar="NAME", help="only figures that begin with it")
    arguments = parser.parse_args()
    for name, benchmark in benchmarks.items():
        if arguments.names and not any(name.startswith(prefix) for prefix in arguments.names):
            continue
        for figure in benchmark(arguments.rival_python):
            print(figure.as_json() if arguments.json else figure.as_row(), flush=True)


if __name__ == "__main__":
    run_benchmarks(BENCHMARKS, __doc__)
