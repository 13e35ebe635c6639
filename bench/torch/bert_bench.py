"""A whole step of fine-tuning BERT, and its evaluation: our program in C++ beside PyTorch with transformers, in turns.

    bert_bench.py --side NAME TRAINER PYTHON [--side ...] [--json] [NAME...]       # `./dev bench bert` runs it

A side is our bert_span_trainer (trainers/bert/comparison) built on a LibTorch, and a Python with the same PyTorch. Both
get the same weights, tokens, masks and padding, and as many threads; a step is forward, backward, clipping and AdamW. The
rival is the quickest of what its PyTorch has: fused or eager attention, compiled or not. Each turn's loss and norm of
gradients must be equal, or the program fails. Weights and batches are made by the Python of the first side.

With --device cuda both have bfloat16 products, and ours computes nothing for padding. "full" are batches without any.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from torch_bench import Figure

COMPARISON = Path(__file__).resolve().parents[2] / "trainers/bert/comparison"
MODELS = {"minilm": (11, 9), "bert-base": (5, 7)}  # rounds of training and of evaluation
THREADS = (2, 1)
LENGTH, BATCHES, VOCABULARY = 384, 4, 30522
RIVALS = (("--attention", "sdpa"), ("--attention", "eager"), ("--attention", "sdpa", "--compile"))
WITHOUT_TRANSFORMERS = (("--attention", "plain"),)
COMMANDS = {"bert.train_vs_torch": "train", "bert.eval_vs_torch": "evaluate"}
GOAL = 1.1
COMPILED = ("--attention", "sdpa", "--compile")
CUDA_MODELS = {"bert-large": (15, 15), "minilm": (25, 25)}
CUDA_RIVALS = {"bert-large": (("--attention", "sdpa"), COMPILED),
               "minilm": (COMPILED, (*COMPILED, "--compile-mode", "reduce-overhead"))}
FILLED = {"padded": 0.25, "full": 1.0}  # of the shortest item, by the name of the batches


@dataclass
class Side:
    """A LibTorch under our program, and the Python whose PyTorch has the same."""

    name: str
    trainer: str
    python: str

    def rivals(self) -> tuple[tuple[str, ...], ...]:
        found = subprocess.run([self.python, "-c", "import transformers"], capture_output=True, check=False)
        return WITHOUT_TRANSFORMERS if found.returncode else RIVALS


@dataclass
class Setting:
    """What both are given."""

    folder: Path
    threads: int
    batches: str = "padded"
    device: str = "cpu"
    precision: str = "float32"

    @property
    def name(self) -> str:
        return f"{self.folder.name}.{self.threads}t" if self.device == "cpu" else f"{self.folder.name}.{self.batches}"

    @property
    def items(self) -> int:
        return 8 if self.device == "cpu" else 32

    @property
    def limits(self) -> tuple[float, float]:
        """Of the loss, absolute, and of the norm of gradients, relative. Wider on a GPU, which adds in another order, and
        wider still in bfloat16, before which check_in_float32() compares strictly."""
        if self.precision == "bfloat16":
            return (2e-2, 5e-2)
        return (1e-4, 1e-3) if self.device == "cpu" else (1e-3, 1e-2)

    def arguments(self) -> list[str]:
        padding = [] if self.device == "cpu" else ["--skip-padding"]
        return [str(self.folder), str(self.folder / self.batches), "--threads", str(self.threads), "--steps", "1000",
                "--learning-rate", "1e-5", "--device", self.device, "--precision", self.precision, *padding]

    def rivals(self, side: Side) -> tuple[tuple[str, ...], ...]:
        return side.rivals() if self.device == "cpu" else CUDA_RIVALS[self.folder.name]

    def environment(self) -> dict[str, str]:
        count = str(self.threads)
        inherited = {key: value for key, value in os.environ.items() if not key.startswith("TRAINWARDEN")}
        return inherited | {"OMP_NUM_THREADS": count, "OPENBLAS_NUM_THREADS": count, "MKL_NUM_THREADS": count}


class Worker:
    """A process that makes a step for each line."""

    def __init__(self, command: list[str], setting: Setting) -> None:
        self.process = subprocess.Popen([*command, *setting.arguments()], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=subprocess.DEVNULL, env=setting.environment(), text=True)
        self.told = self.answer()

    def answer(self) -> dict:
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        if not line:
            raise SystemExit(f"bert_bench: {self.process.args} ended early, code {self.process.wait()}")
        return json.loads(line)

    def ask(self, command: str) -> dict:
        assert self.process.stdin is not None
        self.process.stdin.write(f"{command}\n")
        self.process.stdin.flush()
        return self.answer()


@contextmanager
def worker(command: list[str], setting: Setting) -> Iterator[Worker]:
    started = Worker(command, setting)
    try:
        yield started
    finally:
        started.process.kill()
        started.process.wait()


def rival_command(side: Side, options: tuple[str, ...]) -> list[str]:
    return [side.python, "-B", str(COMPARISON / "rival.py"), *options]


def quickest_rival(side: Side, setting: Setting, command: str) -> tuple[str, ...]:
    """By the least disturbed step, after one in which it may compile."""
    candidates = setting.rivals(side)
    if len(candidates) == 1:
        return candidates[0]
    times = {}
    for options in candidates:
        with worker(rival_command(side, options), setting) as candidate:
            candidate.ask(command)
            steps = 2 if setting.device == "cpu" else 8
            times[options] = min(candidate.ask(command)["seconds"] for _ in range(steps))
    print(f"bert_bench: {setting.name}, {command}: "
          + "; ".join(f"{' '.join(options[1:])} {seconds:.3f} s" for options, seconds in times.items()), file=sys.stderr)
    return min(times, key=times.__getitem__)


def check_equal(ours: dict, theirs: dict, limits: tuple[float, float]) -> None:
    """Or what was timed is not the same work."""
    if math.isclose(ours["loss"], theirs["loss"], rel_tol=0, abs_tol=limits[0]) and math.isclose(
            ours["norm"], theirs["norm"], rel_tol=limits[1]):
        return
    raise SystemExit(f"bert_bench: expected equal losses and norms of gradients, found {ours} and {theirs}")


def check_in_float32(side: Side, setting: Setting, command: str) -> None:
    """What is timed in bfloat16 is the same work, as one turn in float32 shows."""
    if setting.precision == "float32":
        return
    exact = replace(setting, precision="float32")
    with worker([side.trainer], exact) as ours, worker(rival_command(side, ("--attention", "sdpa")), exact) as theirs:
        check_equal(ours.ask(command), theirs.ask(command), exact.limits)


def measure(side: Side, setting: Setting, name: str, rounds: int) -> Figure:
    """The rival's time over ours, a pair of turns after the other."""
    command = COMMANDS[name]
    check_in_float32(side, setting, command)
    options = quickest_rival(side, setting, command)
    pairs: list[tuple[dict, dict]] = []
    with worker([side.trainer], setting) as ours, worker(rival_command(side, options), setting) as theirs:
        for number in range(rounds + 1):
            turns = (ours, theirs) if number % 2 else (theirs, ours)
            told = {turn: turn.ask(command) for turn in turns}
            check_equal(told[ours], told[theirs], setting.limits)
            if number > 0:  # the first is not counted
                pairs.append((told[ours], told[theirs]))
        versions = f"LibTorch {ours.told['torch']} beside PyTorch {theirs.told['torch']} ({theirs.told['name']})"

    def ratios(key: str) -> list[float]:
        return [theirs[key] / ours[key] for ours, theirs in pairs]

    rates = [setting.items / statistics.median(pair[i]["seconds"] for pair in pairs) for i in range(2)]
    limit = (f"{versions}; {rates[0]:.3g} and {rates[1]:.3g} sequences/s; by processor time "
             f"{statistics.median(ratios('cpu_seconds')):.3g}")
    goal = GOAL if setting.device == "cpu" else 1.0
    return Figure(f"{name}.{side.name}.{setting.name}", ratios("seconds"), "ratio", goal, limit, at_least=True)


def make_model(python: str, setting: Setting) -> None:
    """Weights and batches, where they are not made yet."""
    batches = setting.folder / setting.batches
    if batches.exists():
        return
    setting.folder.mkdir(exist_ok=True)
    made = (f"import made, pathlib; f = pathlib.Path({str(setting.folder)!r}); "
            f"made.random_model({setting.folder.name!r}, f); "
            f"made.random_batches(pathlib.Path({str(batches)!r}), {BATCHES}, {setting.items}, {LENGTH}, {VOCABULARY}, "
            f"{FILLED[setting.batches]})")
    subprocess.run([python, "-B", "-c", made], cwd=COMPARISON, check=True, stderr=subprocess.DEVNULL)


def settings_of(device: str, work: Path) -> Iterator[tuple[Setting, tuple[int, int]]]:
    """All, with the rounds of training and of evaluation."""
    if device == "cpu":
        for model, rounds in MODELS.items():
            for threads in THREADS:
                yield Setting(work / model, threads), rounds
        return
    for model, rounds in CUDA_MODELS.items():
        for batches in FILLED:
            yield Setting(work / model, 8, batches, device, "bfloat16"), rounds


def figures(arguments: argparse.Namespace, work: Path) -> Iterator[tuple[Side, Setting, str, int]]:
    """What is asked for: the side, what both are given, the figure and its rounds."""
    sides = [Side(*side) for side in arguments.side]
    for setting, rounds in settings_of(arguments.device, work):
        for side in sides:
            for name, count in zip(COMMANDS, rounds):
                full_name = f"{name}.{side.name}.{setting.name}"
                if not arguments.names or any(full_name.startswith(prefix) for prefix in arguments.names):
                    make_model(sides[0].python, setting)
                    yield side, setting, name, count


def main() -> None:
    """Measures what the command line asks for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--side", nargs=3, action="append", required=True, metavar=("NAME", "TRAINER", "PYTHON"))
    parser.add_argument("--device", choices=("cpu", "cuda"), default="cpu")
    parser.add_argument("--json", action="store_true", help="one JSON object a line instead of a table")
    parser.add_argument("names", nargs="*", metavar="NAME", help="only figures that begin with it")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="bert_bench_") as work:
        for each in figures(arguments, Path(work)):
            figure = measure(*each)
            print(figure.as_json() if arguments.json else figure.as_row(), flush=True)


if __name__ == "__main__":
    main()
