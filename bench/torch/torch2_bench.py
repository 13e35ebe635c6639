"""What Trainwarden costs on PyTorch 2 as users have it, at the defaults: a loop of one's own, a compiled model, and the
Trainer of transformers. How it is measured: budget_bench.py.

    build/torch2/newest/bin/python bench/torch/torch2_bench.py [--json] [NAME...]

The Python is that of an environment with the packages of scripts/torch2/newest.txt and ours: `./dev bench torch2` makes
it.
"""

from __future__ import annotations

import statistics

import budget_bench
import torch_bench
from torch_bench import Figure, equal_environment

LIMIT = "all that `trainwarden run` does at its defaults, its first 5 s left out, as CPU time; a sample is a process"


def figure(name: str, program: str, arm: str = "run") -> Figure:
    samples = budget_bench.measure(program, arm, equal_environment())
    always = statistics.median(sample.always for sample in samples)
    step_ms = statistics.median(sample.step_ms for sample in samples)
    where = f"{LIMIT}; a step takes {step_ms:.3g} ms; {always:.2g} % in each step"
    return Figure(name, [sample.percent() for sample in samples], "%", 1.0, where)


def single(name: str, program: str, arm: str = "run") -> object:
    return lambda rival_python: [figure(name, program, arm)]


BENCHMARKS = {
    "torch2.budget_pct.3ms": single("torch2.budget_pct.3ms", "mlp_3ms"),
    "torch2.budget_pct.25ms": single("torch2.budget_pct.25ms", "mlp_25ms"),
    "torch2.budget_pct.rules.25ms": single("torch2.budget_pct.rules.25ms", "mlp_25ms", "rules"),
    "torch2.compile_pct": single("torch2.compile_pct", "mlp_25ms compiled"),
    "hf.trainer_pct": single("hf.trainer_pct", "hf_training.py"),
}

if __name__ == "__main__":
    torch_bench.run_benchmarks(BENCHMARKS, __doc__)
