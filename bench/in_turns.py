"""What capture costs a training: blocks of steps that are followed and blocks that are not, in turns, in one process.

The benches of frameworks share this. Each gives programs by the name of a model. A program builds the model and returns
a function that trains a number of steps, and one that is told whether the next ones are followed.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

Program = Callable[[], tuple[Callable[[int], None], Callable[[bool], None]]]
Turn = tuple[float, float]  # seconds of a block, and of processor time

WAYS: dict[str, dict[str, str]] = {
    "idle": {"TRAINWARDEN_INCLUDE_COLLECTIONS": "losses", "TRAINWARDEN_SAVE_INTERVAL": "1000000"},
    "default": {"TRAINWARDEN_BUDGET": "0.005"},  # 1 % of the half of the time in which it is followed
    "losses": {"TRAINWARDEN_INCLUDE_COLLECTIONS": "losses", "TRAINWARDEN_SAVE_INTERVAL": "1"},
    "statistics": {
        "TRAINWARDEN_INCLUDE_COLLECTIONS": "losses,weights,biases,gradients",
        "TRAINWARDEN_SAVE_INTERVAL": "1",
        "TRAINWARDEN_KEEP": "statistics",
        "TRAINWARDEN_BUDGET": "0",
    },
}
# Of the training. Who has set these variables has it otherwise.
_ONE_THREAD = dict.fromkeys(("OMP_NUM_THREADS", "TF_NUM_INTRAOP_THREADS", "TF_NUM_INTEROP_THREADS", "NPROC"), "1")
_ONE_THREAD["XLA_FLAGS"] = "--xla_cpu_multi_thread_eigen=false"
# They are captured whole, and compile what they need.
_FIRST_STEPS = 40


def main(description: str | None, programs: dict[str, Program], steps: int = 10) -> None:
    """Of the whole bench. `steps`: of a block, by default."""
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pairs", type=int, default=30)
    parser.add_argument("--steps", type=int, default=steps, help="of a block")
    parser.add_argument("--model", choices=list(programs), default=next(iter(programs)))
    parser.add_argument("--ways", nargs="+", choices=list(WAYS), default=["idle", "default", "statistics"])
    parser.add_argument("--inside", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.inside:
        print(json.dumps(_pairs(programs[options.model], options.pairs, options.steps)))
        return
    for way in options.ways:
        pairs = _measured(way, ["--model", options.model, "--pairs", str(options.pairs), "--steps", str(options.steps)])
        print(json.dumps({"model": options.model, "way": way, **_figures(pairs, options.steps)}), flush=True)


def _pairs(program: Program, pairs: int, steps: int) -> list[tuple[Turn, Turn]]:
    """Alone, and followed. The one that is first is second in the next pair."""
    train, follow = program()

    def turn(is_followed: bool) -> Turn:
        follow(is_followed)
        begin, begin_processor = time.perf_counter(), time.process_time()
        train(steps)
        return time.perf_counter() - begin, time.process_time() - begin_processor

    turn(False)
    follow(True)
    train(_FIRST_STEPS)
    found = []
    for number in range(pairs):
        first = turn(number % 2 == 1)
        second = turn(number % 2 == 0)
        found.append((second, first) if number % 2 else (first, second))
    return found


def _measured(way: str, arguments: list[str]) -> list[tuple[Turn, Turn]]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith("TRAINWARDEN")}
    with tempfile.TemporaryDirectory() as folder:
        run = Path(folder) / "run"
        attached = {"TRAINWARDEN_ATTACH": "1", "TRAINWARDEN_RUN_DIR": str(run)}
        done = subprocess.run(
            [sys.executable, sys.argv[0], "--inside", *arguments],
            env={**_ONE_THREAD, **kept, **WAYS[way], **attached}, stdout=subprocess.PIPE, text=True, check=True,
        )  # fmt: skip
        if not (run / "run.json").exists():
            sys.exit("nothing was captured")
        found: list[tuple[Turn, Turn]] = json.loads(done.stdout.splitlines()[-1])
        return found


def _figures(pairs: list[tuple[Turn, Turn]], steps: int) -> dict[str, object]:
    """Milliseconds of a step alone; as multiples of it the median of all pairs, with its quartiles, and of all blocks
    together, in which rare steps that take longer count, too."""
    alone, followed = [[pair[which][0] for pair in pairs] for which in (0, 1)]
    processor = [other[1] / one[1] for one, other in pairs]
    low, middle, high = statistics.quantiles([b / a for a, b in zip(alone, followed)], n=4)
    return {
        "alone_ms": round(1000 * statistics.median(alone) / steps, 2),
        "median": round(middle, 3),
        "quartiles": [round(low, 3), round(high, 3)],
        "together": round(sum(followed) / sum(alone), 3),
        "processor": round(statistics.median(processor), 3),
        "pairs": len(pairs),
    }
