#!/usr/bin/env python3
"""What Trainwarden costs a training of BERT: alone, captured, judged, and profiled, one after another, again and again.

    python3 trainers/bert/cli/cost_of_watching.py --model FOLDER --train FILE --dev FILE

Each training makes the same steps from the same seed. Printed are medians over the rounds: windows a second of the
steps, as `bert` itself counts them, and the processor time of its whole process, start and evaluations included; and
how much more time each takes than the training alone of the same round.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
RULE_FIRED = 3  # exit code of `trainwarden run`
# What goes before `bert`, and its arguments besides. {runs}: a folder for runs.
VARIANTS = {
    "alone": ([], ["--no-hook"]),
    "captured": ([], []),
    "judged": (["run", "--runs", "{runs}", "--no-sample", "--rules", "default"], []),
    "judged and profiled": (["run", "--runs", "{runs}", "--rules", "default", "--rules", "profiler"], []),
}


@dataclass
class Taken:
    windows_per_second: float
    processor_seconds: float


def train(variant: str, arguments: argparse.Namespace) -> Taken:
    before, besides = VARIANTS[variant]
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "out"
        watcher = [part.format(runs=Path(folder) / "runs") for part in before]
        command = [str(arguments.bin / "trainwarden"), *watcher, "--"] if watcher else []
        command += [str(arguments.bin / "bert"), "train-spans", "--model", str(arguments.model), "--dev-size", "8"]
        command += ["--train", str(arguments.train), "--dev", str(arguments.dev), "--out", str(out)]
        command += ["--max-steps", str(arguments.steps), "--batch-size", str(arguments.batch_size)]
        command += ["--threads", str(arguments.threads), "--train-size", "2000", "--checkpoint-interval", "0", *besides]
        used = os.times()
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        now = os.times()
        if done.returncode not in (0, RULE_FIRED):
            sys.exit(f"{' '.join(command)}\nended with {done.returncode}:\n{done.stdout}")
        result = json.loads((out / "result.json").read_text())
    seconds = now.children_user + now.children_system - used.children_user - used.children_system
    return Taken(result["train_windows_per_second"], seconds)


def median_of(rounds: list[dict[str, Taken]], variant: str) -> tuple[float, float, float, float]:
    """Windows a second, how much more time a window takes than alone in percent, the same of processor time."""
    rates = [each[variant].windows_per_second for each in rounds]
    slower = [100 * (each["alone"].windows_per_second / each[variant].windows_per_second - 1) for each in rounds]
    used = [each[variant].processor_seconds for each in rounds]
    more = [100 * (each[variant].processor_seconds / each["alone"].processor_seconds - 1) for each in rounds]
    return tuple(map(statistics.median, (rates, slower, used, more)))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", type=Path, default=ROOT / "build/release/bin")
    for name in ("model", "train", "dev"):
        parser.add_argument(f"--{name}", type=Path, required=True)
    parser.add_argument("--steps", type=int, default=60)
    parser.add_argument("--batch-size", type=int, default=8)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=3)
    arguments = parser.parse_args()
    rounds = []
    for number in range(arguments.rounds):
        # Forwards, then backwards, so that a machine that becomes slower does not speak against the last one.
        order = list(VARIANTS) if number % 2 == 0 else list(reversed(VARIANTS))
        rounds.append({variant: train(variant, arguments) for variant in order})
        print(f"round {number + 1} of {arguments.rounds} is done", file=sys.stderr)
    print(f"| {arguments.steps} steps of {arguments.batch_size} | windows/s | time | processor | processor |")
    print("|---|---|---|---|---|")
    for variant in VARIANTS:
        rate, slower, used, more = median_of(rounds, variant)
        print(f"| {variant} | {rate:.2f} | {slower:+.1f} % | {used:.1f} s | {more:+.1f} % |")


if __name__ == "__main__":
    main()
