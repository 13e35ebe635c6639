"""What judging with a diagnosis costs a training, and whether memory stays flat.

    python3 tests/diagnosis/overhead.py --cli build/release/bin/trainwarden --python build/venv/bin/python3

Trains the same small network for some seconds, by turns alone and under `trainwarden run --rules default`, and compares
how many steps were made. The first seconds are left out, in which the examination may cost a quarter of a second. Prints
medians over the pairs, and how the memory of the watched training grew from a quarter of its time to the end.

With --beside both train at once, each on a core of its own, on which the watched one is also judged: for a training of an
hour, which a machine does not keep its speed for. Processor time a step is compared, too, of all processes of each.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import tempfile
from pathlib import Path
from typing import Any, Optional

TRAINING = """
import os, sys, time
import torch

torch.set_num_threads(1)
torch.manual_seed(0)
width, seconds, first = int(sys.argv[1]), float(sys.argv[2]), float(sys.argv[3])
inputs = torch.randn(4096, 64)
labels = (inputs[:, :8].sum(1) > 0).long()
net = torch.nn.Sequential(torch.nn.Linear(64, width), torch.nn.ReLU(), torch.nn.Linear(width, width), torch.nn.ReLU(),
                          torch.nn.Linear(width, 2))
optimizer = torch.optim.AdamW(net.parameters(), lr=1e-4)


def memory():
    return int(open("/proc/self/statm").read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


begin = time.perf_counter()
steps = counted = 0
quarter = 0
while (now := time.perf_counter() - begin) < seconds:
    chosen = torch.randint(0, 4096, (64,))
    loss = torch.nn.functional.cross_entropy(net(inputs[chosen]), labels[chosen])
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    steps += 1
    counted += now >= first
    if quarter == 0 and now > seconds / 4:
        quarter = memory()
print("RESULT", steps, counted / (seconds - first), quarter, memory())
"""


class Training:
    """One that was started; `core`: the only one that it and what it starts may use."""

    def __init__(self, command: list[str], options: argparse.Namespace, folder: Path, core: Optional[int] = None) -> None:
        program = folder / "train.py"
        program.write_text(TRAINING)
        self._process = subprocess.Popen(
            [*command, options.python, str(program), str(options.width), str(options.seconds), str(options.first)],
            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, env={**os.environ, "OMP_NUM_THREADS": "1"},
            cwd=folder, preexec_fn=None if core is None else lambda: os.sched_setaffinity(0, {core}),
        )  # fmt: skip

    def result(self) -> dict[str, float]:
        assert self._process.stdout is not None
        words = next(line for line in self._process.stdout if line.startswith("RESULT")).split()
        self._process.stdout.read()
        _, _, used = os.wait4(self._process.pid, 0)  # with what it has waited for itself
        steps = float(words[1])
        cpu_ms = 1000 * (used.ru_utime + used.ru_stime) / steps
        return {"steps": steps, "rate": float(words[2]), "grown": float(words[4]) - float(words[3]), "cpu_ms": cpu_ms}


def train_pair(options: argparse.Namespace, folder: Path, number: int) -> tuple[dict[str, float], dict[str, float]]:
    watched = [options.cli, "run", "--runs", str(folder / "runs"), "--name", f"r{number}", "--rules", "default", "--"]
    if not options.beside:
        return Training([], options, folder).result(), Training(watched, options, folder).result()
    cores = sorted(os.sched_getaffinity(0))
    both = [Training([], options, folder, cores[0]), Training(watched, options, folder, cores[1])]
    alone, judged = (each.result() for each in both)
    return alone, judged


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cli", required=True)
    parser.add_argument("--python", required=True)
    parser.add_argument("--width", type=int, default=256, help="of the layers: decides how long a step takes")
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--first", type=float, default=10, help="seconds that are left out")
    parser.add_argument("--pairs", type=int, default=3)
    parser.add_argument("--beside", action="store_true", help="both of a pair at once, each on a core of its own")
    options = parser.parse_args()
    options.cli, options.python = os.path.abspath(options.cli), os.path.abspath(options.python)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        pairs = [train_pair(options, folder, number) for number in range(options.pairs)]
        overheads = [100 * (alone["rate"] / watched["rate"] - 1) for alone, watched in pairs]
        print(json.dumps(_figures(pairs, overheads), indent=2))


def _figures(pairs: list[Any], overheads: list[float]) -> dict[str, Any]:
    return {
        "step_ms": round(1000 / statistics.median(alone["rate"] for alone, _ in pairs), 3),
        "overhead_pct": round(statistics.median(overheads), 2),
        "overheads_pct": [round(each, 2) for each in overheads],
        "grown_bytes_alone": statistics.median(alone["grown"] for alone, _ in pairs),
        "grown_bytes_watched": statistics.median(watched["grown"] for _, watched in pairs),
        "cpu_overhead_pct": round(
            statistics.median(100 * (watched["cpu_ms"] / alone["cpu_ms"] - 1) for alone, watched in pairs), 2
        ),
        "steps": statistics.median(watched["steps"] for _, watched in pairs),
    }


if __name__ == "__main__":
    main()
