#!/usr/bin/env python3
"""Runs each program of tests/trials plainly and under `trainwarden run`, all captured, and says what differs.

usage: trials.py --trainwarden PROGRAM [--wheel FILE] [--keep FOLDER] [PATTERN...]

To be run by a Python that has torch 2, the libraries to try and the package trainwarden. Prints a Markdown table of the
trials whose names contain a pattern. Exits 1 when the outcome of a program is another one under watch.
"""

from __future__ import annotations

import argparse
import importlib.util
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple, Optional

PROGRAMS = Path(__file__).resolve().parent.parent / "tests" / "trials"
EVERYTHING = {"TRAINWARDEN_SAVE_ALL": "1", "TRAINWARDEN_SAVE_INTERVAL": "1", "TRAINWARDEN_WHEN_FULL": "block"}
CLOSE = 1e-5
DATED = re.compile(r"\[\d{4}-\d\d-\d\d ")
USUAL = re.compile("trainwarden: (the program ended with|run .* completed|next: )")
TIMEOUT_S = 1200


class Trial(NamedTuple):
    name: str
    program: str  # and its arguments
    needs: tuple[str, ...] = ()  # packages
    options: tuple[str, ...] = ()  # of `trainwarden run`
    layout: str = ""  # of the environment; by default the one that runs this


def rows(program: str, kinds: str, needs: tuple[str, ...] = ()) -> list[Trial]:
    stem = program.removeprefix("review_")
    return [Trial(f"{stem}: {kind}", f"{program}.py {kind}", needs) for kind in kinds.split()]


LIBRARIES = [
    Trial("PEFT: LoRA", "peft_lora.py", ("peft",)),
    Trial("PEFT: LoRA, biases and a norm trained", "peft_prompt.py lora", ("peft",)),
    Trial("PEFT: prompt tuning", "peft_prompt.py prompt", ("peft",)),
    Trial("torchao: quantisation-aware training", "torchao_quantised.py qat", ("torchao",)),
    Trial("torchao: int8 weights, trained head", "torchao_quantised.py int8", ("torchao",)),
    Trial("bitsandbytes: 4 and 8 bits, trained head", "bitsandbytes_linear.py", ("bitsandbytes",)),
    Trial("TRL: SFTTrainer", "trl_trainers.py sft", ("trl", "datasets")),
    Trial("TRL: SFTTrainer with LoRA", "trl_trainers.py lora", ("trl", "datasets", "peft")),
    Trial("TRL: DPOTrainer", "trl_trainers.py dpo", ("trl", "datasets")),
    Trial("timm: its own loop", "timm_loop.py", ("timm",)),
    Trial("torchvision: classification", "torchvision_references.py classify", ("torchvision",)),
    Trial("torchvision: detection", "torchvision_references.py detect", ("torchvision",)),
    Trial("pipeline parallel: GPipe", "pipeline.py gpipe"),
    Trial("pipeline parallel: 1F1B", "pipeline.py 1f1b"),
    Trial("FSDP2, blocks compiled", "fsdp2_compiled.py blocks"),
    Trial("FSDP2, whole model compiled", "fsdp2_compiled.py whole"),
    Trial("torch.func: grad, optimizer of torch", "func_training.py grad"),
    Trial("torch.func: gradients of samples", "func_training.py samples"),
    Trial("torch.func: ensemble", "func_training.py ensemble"),
    Trial("torch.func: grad beside backward()", "func_training.py physics"),
    Trial("torch.func: grad within grad", "func_training.py meta"),
    Trial("torch.func: no optimizer", "func_training.py bare"),
    Trial("regional compilation: in place", "regional.py in_place"),
    Trial("regional compilation: wrappers", "regional.py wrapped"),
    Trial("DDP: bucket views, static graph", "ddp_views.py views"),
    Trial("DDP inside a model", "ddp_views.py inside"),
    Trial("DDP: ZeroRedundancyOptimizer", "ddp_views.py zero"),
    Trial("Lightning Fabric", "fabric.py plain", ("lightning",)),
    Trial("Lightning Fabric, compiled", "fabric.py compiled", ("lightning",)),
    Trial("DeepSpeed: stage 0", "deepspeed_zero.py 0", ("deepspeed",)),
    Trial("DeepSpeed: ZeRO-1", "deepspeed_zero.py 1", ("deepspeed",)),
    Trial("uv: its environment", "plain.py", ("uv",), layout="uv"),
    Trial("uv run", "plain.py", ("uv",), layout="uv run"),
]
REVIEW = [
    *rows("review_loops", "foreach fused lbfgs sgd rmsprop adagrad adafactor muon groups autocast checkpoint"),
    *rows("review_loops", "checkpoint_reentrant checkpoint_wrapper channels_last tied meta swapped gan averaged"),
    *rows("review_loops", "in_backward inference_mode thread script export loader_fork loader_spawn loader_persistent"),
    *rows("review_loops", "tried_first accumulated wgan sparse copied"),
    Trial("loops: infinite_limit, with rules", "review_loops.py infinite_limit", options=("--rules", "default")),
    *rows("review_compiled", "inductor eager aot_eager in_place of_torch whole_step forward_and_loss compiled_step"),
    *rows("review_ranks", "ddp ddp_compiled fsdp1 fsdp1_flat fsdp2"),
    Trial("ranks: tensor, with DuplicateBatch", "review_ranks.py tensor", options=("--rule", "DuplicateBatch")),
    *rows("review_trainers", "gpt2 gpt2_accumulate gpt2_bf16 gpt2_compile unclipped bert", ("transformers",)),
    *rows("review_trainers", "accelerate", ("accelerate",)),
    *rows("review_trainers", "lightning lightning_accumulate", ("lightning",)),
]


# Why what a trial finds is as it should be.
KNOWN = {
    "torchvision: detection": "all of each step is more than the staging area holds, and the run says what it lacks",
    "torch.func: no optimizer": "without an optimizer of torch a hook of the program's own has to end steps",
    "DeepSpeed: ZeRO-1": "its optimizer trains one flat tensor, whose parts have no names",
    "loops: averaged": "the model is called once more, in training mode, behind the last step",
    "loops: wgan": "the generator's first step is one of its own, as its rhythm is not known yet",
    "loops: export": "two models live, so names begin with the program's variable",
}


class Ended(NamedTuple):
    out: list[str]
    err: list[str]
    code: int


@dataclass
class Found:
    """What came of a trial."""

    is_same: bool
    codes: tuple[int, int]
    steps: tuple[int, int] = (0, 0)  # captured, expected
    losses: list[str] = field(default_factory=list)
    said: list[str] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)


def run(command: list[str], environment: dict[str, str]) -> Ended:
    try:
        done = subprocess.run(command, cwd=PROGRAMS, env=environment, capture_output=True, text=True, timeout=TIMEOUT_S)
    except subprocess.TimeoutExpired:
        return Ended([], [f"no end after {TIMEOUT_S} s"], -1)
    return Ended(done.stdout.splitlines(), done.stderr.splitlines(), done.returncode)


def clean_environment() -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith("TRAINWARDEN")}
    return {**kept, "OMP_NUM_THREADS": "1", "PYTHONHASHSEED": "0", "HF_HUB_OFFLINE": "1", "TOKENIZERS_PARALLELISM": "0"}


def words_after(word: str, lines: list[str]) -> list[str]:
    return [line.split(maxsplit=1)[1] for line in lines if line.startswith(word + " ")]


def losses_said(lines: list[str]) -> list[float]:
    """Of the training steps, in their order."""
    said = [line.split() for line in lines if line.startswith("step ")]
    return [float(words[3]) for words in said if words[1].isdigit()]


def python_of(layout: str, folder: Path, wheel: Optional[str]) -> list[str]:
    """The command that runs a program of Python in an environment of this layout."""
    if not layout:
        return [sys.executable]
    place = folder / "environment"
    if not place.exists():
        subprocess.run([*UV, "venv", "--quiet", "--python", sys.executable, str(place)], check=True)
        (site,) = place.glob("lib/python3*/site-packages")
        torch = Path(str(importlib.util.find_spec("torch").origin)).parents[1]  # type: ignore[union-attr]
        (site / "torch_of_another.pth").write_text(f"{torch}\n")  # its packages, without its .pth files
        python = place / "bin" / "python"
        subprocess.run([*UV, "pip", "install", "--quiet", "--no-deps", "--python", str(python), str(wheel)], check=True)
    if layout == "uv run":
        return [*UV, "run", "--quiet", "--no-project", "--offline", "--python", str(place / "bin" / "python"), "python"]
    return [str(place / "bin" / "python")]


UV = [sys.executable, "-m", "uv"]


class Bench:
    """Runs trials in a folder."""

    def __init__(self, folder: Path, trainwarden: str, wheel: Optional[str]) -> None:
        self._folder = folder
        self._trainwarden = trainwarden
        self._wheel = wheel

    def try_out(self, trial: Trial) -> Found:
        program = [*python_of(trial.layout, self._folder, self._wheel), *trial.program.split()]
        name = "".join(letter if letter.isalnum() else "-" for letter in trial.name)
        plain = run(program, clean_environment())
        environment = {**clean_environment(), **EVERYTHING, "TRAINWARDEN_RUNS": str(self._folder)}
        command = [self._trainwarden, "run", "--budget", "0", "--name", name, *trial.options, "--", *program]
        watched = run(command, environment)
        (self._folder / f"{name}.out").write_text("\n".join([*plain.err, "---", *watched.out, "---", *watched.err]))
        found = Found(is_same(plain, watched), (plain.code, watched.code))
        found.said = [line for line in watched.err if line.startswith("trainwarden: ") and not USUAL.match(line)]
        if plain.code != 0:
            found.faults.append(f"fails without us: {plain.err[-1] if plain.err else plain.code}")
        else:
            look(found, self._folder / name, plain.out)
        return found


def is_same(plain: Ended, watched: Ended) -> bool:
    """Lines that libraries log with the time are not compared."""
    ours = [[line for line in each.out if not DATED.match(line)] for each in (plain, watched)]
    return plain.code == watched.code and ours[0] == ours[1]


def look(found: Found, run_dir: Path, out: list[str]) -> None:
    """Compares the run with what the program says of itself."""
    import trainwarden

    expected = int(words_after("steps", out)[0])
    try:
        trial = trainwarden.open(run_dir)
    except (trainwarden.Error, OSError) as error:
        found.steps = (0, expected)
        found.faults.append(f"no run: {error}")
        return
    found.steps = (len(trial.steps("train")) if "train" in [mode.value for mode in trial.modes] else 0, expected)
    found.losses = trial.tensor_names(collection="losses")
    found.faults += faults_of(found, trial, out)


def faults_of(found: Found, trial: Any, out: list[str]) -> Iterator[str]:
    names = set(trial.tensor_names())
    if found.steps[0] != found.steps[1]:
        yield f"{found.steps[0]} steps of {found.steps[1]}"
    missing = [name for name in words_after("name", out) if name not in names]
    if missing:
        yield "missing: " + ", ".join(missing)
    strays = [name for name in names if name.startswith("param_")]
    if strays:
        yield f"{len(strays)} parameters without names"
    twice = sorted(name for name in names if "#" in name and not name.startswith("trainwarden/"))
    if twice:
        yield f"{len(twice)} saved twice in a step, as {twice[0]}"
    for loss in words_after("loss", out):
        yield from faults_of_loss(loss, found, trial, losses_said(out))
    for lost in trial.losses:
        yield f"lost: {lost.cause}"


def faults_of_loss(loss: str, found: Found, trial: Any, said: list[float]) -> Iterator[str]:
    if loss not in found.losses:
        yield f"no {loss}"
        return
    if found.losses != [loss]:
        yield "other losses: " + ", ".join(name for name in found.losses if name != loss)
    steps = trial.tensor(loss).steps("train", kept=("scalar", "value"))
    if len(steps) != found.steps[1]:
        yield f"{loss} in {len(steps)} steps"
    elif len(said) == len(steps):
        worker = trial.workers_of(loss, steps[0], "train")[0]
        captured = [trial.scalar(loss, step, "train", worker) for step in steps]
        if any(abs(one - other) > CLOSE * max(1.0, abs(other)) for one, other in zip(captured, said)):
            yield f"{loss} has other values: {captured[0]:.6g} for {said[0]:.6g}"


def row_of(trial: Trial, found: Found) -> str:
    verdict = "; ".join(dict.fromkeys([*found.faults, KNOWN.get(trial.name, "")])).strip("; ") or "works"
    if not found.is_same:
        verdict = f"**another outcome**; {verdict}"
    cells = (
        trial.name, "yes" if found.is_same else "no", "{}, {}".format(*found.codes), "{} of {}".format(*found.steps),
        ", ".join(found.losses) or "–", " / ".join(found.said[:3]) or "–", verdict,
    )  # fmt: skip
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


def chosen(patterns: list[str]) -> list[Trial]:
    every = [*LIBRARIES, *REVIEW]
    return [each for each in every if not patterns or any(pattern in each.name for pattern in patterns)]


def main() -> int:
    parser = argparse.ArgumentParser(description=str(__doc__).partition("\n")[0])
    parser.add_argument("--trainwarden", required=True)
    parser.add_argument("--wheel", help="of the package, for environments that are made here")
    parser.add_argument("--keep", help="a folder for the runs and what was said, which stays")
    parser.add_argument("patterns", nargs="*")
    arguments = parser.parse_args()
    print("| trial | same output and bits | exit codes | steps | losses | said by trainwarden | verdict |")
    print("|---|---|---|---|---|---|---|", flush=True)
    differing = 0
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(arguments.keep or temporary).resolve()
        folder.mkdir(parents=True, exist_ok=True)
        wheel = os.path.abspath(arguments.wheel) if arguments.wheel else None
        bench = Bench(folder, os.path.abspath(arguments.trainwarden), wheel)
        for trial in chosen(arguments.patterns):
            absent = [package for package in trial.needs if importlib.util.find_spec(package) is None]
            if absent or (trial.layout and not arguments.wheel):
                why = f"{', '.join(absent)} is not installed" if absent else "needs --wheel"
                print(f"| {trial.name} | | | | | | not tried: {why} |", flush=True)
                continue
            found = bench.try_out(trial)
            differing += not found.is_same
            print(row_of(trial, found), flush=True)
    return 1 if differing else 0


if __name__ == "__main__":
    sys.exit(main())
