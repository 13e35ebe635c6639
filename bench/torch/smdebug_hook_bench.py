"""What the hook of our package `smdebug` costs a training, and what that of smdebug 1.0.34 costs the same program.

As torch_bench.py: processes that take turns, one for each way of watching, and a ratio from each round. The program is
the same for both packages; only the interpreter and what it finds under the name `smdebug` differ.

    build/venv/bin/python bench/torch/smdebug_hook_bench.py --rival-python PYTHON [--json] [NAME...]
"""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from torch_bench import HERE, QUIET_MALLOC, Arm, Figure, measure, percent, run_benchmarks

PACKAGE = HERE.parents[1] / "adapters" / "smdebug"
FEW_ROUNDS, MANY_ROUNDS = 15, 25


@dataclass
class HookArm(Arm):
    """`off`, or `ours.FORM` or `original.FORM` with what training.py knows as FORM."""

    def start(self, program: str, folder: Path, rival_python: str | None) -> None:
        ours_and_theirs = ("TRAINWARDEN", "SMDEBUG")
        environment = {key: value for key, value in os.environ.items() if not key.startswith(ours_and_theirs)}
        environment |= {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "GLIBC_TUNABLES": QUIET_MALLOC}
        environment |= {"SMDEBUG_LOG_LEVEL": "off", "TRAINWARDEN_WHEN_FULL": "block"}  # both keep everything
        whose, _, form = self.name.partition(".")
        python = sys.executable
        if whose == "original":
            if rival_python is None:
                sys.exit("these figures compare: --rival-python is needed")
            python = rival_python
        elif whose == "ours":
            environment["PYTHONPATH"] = os.pathsep.join([str(PACKAGE), os.environ.get("PYTHONPATH", "")])
        command = [python, str(HERE / "training.py"), program]
        if form:
            command += ["smdebug", str(folder / self.name), form]
        pipe = subprocess.PIPE
        self.process = subprocess.Popen(command, stdin=pipe, stdout=pipe, env=environment, text=True)


def share(samples: dict[str, list[float]], form: str) -> list[float]:
    """What we add to a step over what the original adds, neither counted as less than a thousandth of the step."""
    rounds = zip(samples["off"], samples[f"ours.{form}"], samples[f"original.{form}"])
    return [max(ours - off, off / 1000) / max(original - off, off / 1000) for off, ours, original in rounds]


def bench_parts(rival_python: str | None) -> list[Figure]:
    samples = measure("cnn", ["off", "ours.parts", "original.parts"], 10, MANY_ROUNDS, rival_python, HookArm)
    limit = "weights, biases, gradients and losses of the CNN at every step; one copy and one write"
    return [
        Figure("smdebug.hook_parts_pct", percent(samples, "ours.parts"), "%", 5, limit),
        Figure("smdebug.hook_parts_pct.smdebug", percent(samples, "original.parts"), "%", None, "the rival"),
    ]


def bench_all(rival_python: str | None) -> list[Figure]:
    samples = measure("cnn", ["off", "ours.all", "original.all"], 4, FEW_ROUNDS, rival_python, HookArm)
    name = "smdebug.hook_all"
    return [
        Figure(f"{name}_pct", percent(samples, "ours.all"), "%", 50, "every tensor whole, about 100 MB a step"),
        Figure(f"{name}_pct.smdebug", percent(samples, "original.all"), "%", None, "the rival"),
        Figure(f"{name}_share", share(samples, "all"), "ratio", 1 / 3, "of what the rival costs"),
    ]


def bench_small_steps(rival_python: str | None) -> list[Figure]:
    """Microseconds that a hook adds to a step of ten small layers, which has next to no work of its own."""
    arms = ["off", *(f"{whose}.{form}" for form in ("nothing", "parts") for whose in ("ours", "original"))]
    samples = measure("small_steps", arms, 100, MANY_ROUNDS, rival_python, HookArm)
    return [
        *small_steps("nothing", samples, 20, "a step of which nothing is saved; torch's call of one hook"),
        *small_steps("parts", samples, 200, "10 parameters, their gradients and a loss, of a few bytes each"),
    ]


def small_steps(form: str, samples: dict[str, list[float]], goal_us: float, limit: str) -> list[Figure]:
    name = f"smdebug.hook_step_{form}"
    added = {
        whose: [(with_hook - off) / 1e3 for with_hook, off in zip(samples[f"{whose}.{form}"], samples["off"])]
        for whose in ("ours", "original")
    }
    return [
        Figure(f"{name}_us", added["ours"], "us", goal_us, limit),
        Figure(f"{name}_us.smdebug", added["original"], "us", None, "the rival"),
        Figure(f"{name}_share", share(samples, form), "ratio", 1 / 3, "of what the rival costs"),
    ]


BENCHMARKS = {
    "smdebug.hook_parts": bench_parts,
    "smdebug.hook_all": bench_all,
    "smdebug.hook_step": bench_small_steps,
}


if __name__ == "__main__":
    run_benchmarks(BENCHMARKS, __doc__)
