#!/usr/bin/env python3
"""What larger batches gain on a processor, and what the rule BatchSize predicts of it.

usage: batch_gains.py --cli PROGRAM --python PYTHON [--only PATTERN]

Small models of ten kinds (tests/bottlenecks/batches) are trained with batches of 2 and of 8 samples under
`trainwarden run --rules profiler`, and with batches 16 times as large without it. Prints a table in Markdown: the gain
that BatchSize predicts, where it fires, and the ratio of the samples per second.
"""

from __future__ import annotations

import argparse
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
from typing import Optional

from bottlenecks import TOLERANCE
from rules_table import ROOT, RULE_FIRED

PROGRAM = ROOT / "tests" / "bottlenecks" / "batches" / "train_small_model.py"
MODELS = ["bag", "bottle", "convolutional", "deep", "gru", "lstm", "perceptron", "residual", "transformer", "wide"]
BATCHES, LARGER = (2, 8), 16
SECONDS, SECONDS_OF_LARGE = 10.0, 5.0


def pace_of(command: list[str]) -> float:
    """Samples per second, as the program counts them itself."""
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    told = re.search(r"^samples_per_second ([0-9.]+)$", done.stdout, re.MULTILINE)
    if done.returncode not in (0, RULE_FIRED) or not told:
        raise SystemExit(f"{' '.join(command)}: code {done.returncode}: {done.stderr.strip()[-400:]}")
    return float(told[1])


def predicted_gain(cli: str, run: pathlib.Path) -> Optional[float]:
    """None where the rule did not fire."""
    report = json.loads(subprocess.run([cli, "report", str(run), "--json"], capture_output=True, check=True).stdout)
    rule = next(rule for rule in report["rules"] if rule["rule"] == "BatchSize")
    return rule["gain"]["expected"] if rule["status"] == "fired" else None


def row_of(cli: str, python: str, runs: pathlib.Path, model: str, batch: int) -> tuple[Optional[float], float]:
    def command(samples: int, seconds: float) -> list[str]:
        return [python, str(PROGRAM), model, str(samples), str(seconds)]

    name = f"{model}-{batch}"
    watched = [cli, "run", "--runs", str(runs), "--name", name, "--rules", "profiler", "--"]
    small = pace_of(watched + command(batch, SECONDS))
    large = pace_of(command(batch * LARGER, SECONDS_OF_LARGE))
    return predicted_gain(cli, runs / name), large / small


def main() -> int:
    parser = argparse.ArgumentParser(description=str(__doc__).splitlines()[0])
    parser.add_argument("--cli", required=True, help="the program trainwarden")
    parser.add_argument("--python", required=True, help="a Python with PyTorch and the package trainwarden")
    parser.add_argument("--only", default="", metavar="PATTERN", help="models whose names match")
    options = parser.parse_args()
    cli, python = os.path.abspath(options.cli), os.path.abspath(options.python)
    print("| model | batch | predicted | measured | holds |\n|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as scratch:
        for model in (model for model in MODELS if re.search(options.only, model)):
            for batch in BATCHES:
                predicted, measured = row_of(cli, python, pathlib.Path(scratch), model, batch)
                holds = predicted is not None and abs(predicted - measured) <= TOLERANCE * (measured - 1)
                shown = "silent" if predicted is None else f"{predicted:.2f} x"
                print(f"| {model} | {batch} | {shown} | {measured:.2f} x | "
                      f"{'' if predicted is None else 'yes' if holds else '**no**'} |", flush=True)  # fmt: skip
    return 0


if __name__ == "__main__":
    sys.exit(main())
