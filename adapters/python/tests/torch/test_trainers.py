"""The trainers of other libraries: what is captured is what they log themselves, and a stop keeps their work.

On PyTorch 2 alone, where these libraries are (scripts/torch2/newest.txt).
"""

from __future__ import annotations

import csv
import json
import math
import os
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any, Iterable

import numpy as np
import pytest
import torch
from asking import ask_for_checkpoint
from running import Ended, Runner
from test_phases import check_sums, phases

import trainwarden
import trainwarden.torch

EXAMPLES = Path(__file__).resolve().parents[4] / "examples" / "trainers"
ACCUMULATIONS = (1, 2, 8)
# Of the numbers in a file of text.
CLOSE = {"rel": 1e-5, "abs": 1e-7}


def start_captured(runner: Runner, folder: Path, *command: object, **variables: str) -> Ended:
    folder.mkdir(exist_ok=True)
    environment = {**runner.attached_environment(folder / "run"), "TRAINWARDEN_BUDGET": "0"}  # no step is left out
    ended = runner.start(*map(str, command), "--out", str(folder / "out"), environment={**environment, **variables})
    assert ended.exit_code == 0, ended.stderr
    return ended


def run_captured(runner: Runner, folder: Path, program: str, *arguments: object) -> trainwarden.Trial:
    start_captured(runner, folder, EXAMPLES / program, *arguments)
    return trainwarden.open(folder / "run")


def check_phases(trial: trainwarden.Trial) -> None:
    """They sum to the step, and show what such a loop does."""
    steps = phases(trial)
    check_sums(trial)
    seen = {phase for step in steps.values() for phase in step}
    assert {"data_wait", "forward", "backward", "optimizer", "zero_grad", "clip", "evaluation", "rest"} <= seen


def in_training(trial: trainwarden.Trial, name: str) -> list[float]:
    return [trial.scalar(name, step, "train") for step in trial.tensor(name).steps("train")]


def only_loss(trial: trainwarden.Trial) -> str:
    """In training and evaluation it has one name."""
    names = [name for name in trial.tensor_names(collection="losses")]
    assert len(names) == 1, names
    return names[0]


def close(numbers: Iterable[Any]) -> Any:
    return pytest.approx([float(number) for number in numbers], **CLOSE)


@pytest.mark.parametrize("accumulate", ACCUMULATIONS)
def test_transformers_logs_what_is_captured(runner: Runner, tmp_path: Path, accumulate: int) -> None:
    pytest.importorskip("transformers")
    trial = run_captured(runner, tmp_path, "huggingface.py", "--steps", 200, "--accumulate", accumulate)
    log = json.loads((tmp_path / "out" / "log.json").read_text())
    training = [entry for entry in log if "grad_norm" in entry]
    assert len(training) == 200
    loss = only_loss(trial)
    assert in_training(trial, loss) == close(entry["loss"] for entry in training)
    assert in_training(trial, "trainwarden/learning_rate/0") == close(entry["learning_rate"] for entry in training)
    assert in_training(trial, "trainwarden/clip/norm") == close(entry["grad_norm"] for entry in training)
    # Its own numbers, under its own names; the last were logged when no step was to come.
    assert in_training(trial, "grad_norm") == close(entry["grad_norm"] for entry in training[:-1])
    assert trial.tensor(loss).steps("eval") and trial.tensor("eval_loss").steps()
    samples = trial.scalar("trainwarden/samples_per_second", 5, "train") * trial.scalar(
        "trainwarden/step_seconds", 5, "train"
    )
    assert samples == pytest.approx(4 * accumulate)
    check_phases(trial)


@pytest.mark.parametrize("accumulate", ACCUMULATIONS)
def test_lightning_logs_what_is_captured(runner: Runner, tmp_path: Path, accumulate: int) -> None:
    pytest.importorskip("lightning")
    epochs = 4 * accumulate
    trial = run_captured(
        runner, tmp_path, "lightning_trainer.py", "--epochs", epochs, "--accumulate", accumulate
    )
    with open(tmp_path / "out" / "metrics.csv") as file:
        rows = list(csv.DictReader(file))
    rates = [row["lr-AdamW"] for row in rows if row["lr-AdamW"]]
    steps = -(-50 // accumulate) * epochs
    captured = in_training(trial, "trainwarden/learning_rate/0")
    assert len(captured) == steps
    if accumulate == 1:  # it logs the last batch of a step alone, and its rate before a step's first batch
        assert captured == close(rates)
        assert in_training(trial, only_loss(trial)) == close(row["train_loss"] for row in rows if row["train_loss"])
    assert trial.tensor("val_accuracy").steps()
    assert trial.tensor("trainwarden/clip/norm").steps("train") == trial.tensor(only_loss(trial)).steps("train")
    check_phases(trial)


@pytest.mark.parametrize("accumulate", ACCUMULATIONS)
def test_accelerate_trains_with_what_is_captured(runner: Runner, tmp_path: Path, accumulate: int) -> None:
    pytest.importorskip("accelerate")
    trial = run_captured(runner, tmp_path, "accelerate_loop.py", "--epochs", 4 * accumulate, "--accumulate", accumulate)
    log = json.loads((tmp_path / "out" / "log.json").read_text())
    assert len(log) == -(-50 // accumulate) * 4 * accumulate
    assert in_training(trial, only_loss(trial)) == close(entry["loss"] for entry in log)
    assert in_training(trial, "trainwarden/learning_rate/0") == close(entry["learning_rate"] for entry in log)
    assert in_training(trial, "trainwarden/clip/norm") == close(entry["grad_norm"] for entry in log)
    check_sums(trial)


def stop_when_it_trains(run_dir: Path, ended: threading.Event) -> None:
    while not ended.is_set():
        try:
            if len(trainwarden.open(run_dir).steps("train")) > 5:
                trainwarden.stop(run_dir, reason="seen enough", wait=False)
                return
        except trainwarden.Error:
            pass  # it has not begun
        time.sleep(0.2)


def run_and_stop(runner: Runner, folder: Path, *command: str) -> str:
    ended = threading.Event()
    asker = threading.Thread(target=stop_when_it_trains, args=(folder / "run", ended))
    asker.start()
    try:
        done = runner.start(*command, environment=runner.attached_environment(folder / "run"))
    finally:
        ended.set()
        asker.join()
    assert done.exit_code == 0, done.stderr
    return done.stderr


def test_transformers_stops_with_a_checkpoint(runner: Runner, tmp_path: Path) -> None:
    pytest.importorskip("transformers")
    out = tmp_path / "out"
    said = run_and_stop(runner, tmp_path, str(EXAMPLES / "huggingface.py"), "--steps", "100000", "--out", str(out))
    assert "the trainer of transformers ends it: seen enough" in said
    steps = json.loads((out / "log.json").read_text())[-2]["step"]
    assert steps < 100000
    assert (out / f"checkpoint-{steps}" / "model.safetensors").exists()
    assert (out / "model.safetensors").exists()  # what the program does after it


def test_lightning_stops_with_a_checkpoint(runner: Runner, tmp_path: Path) -> None:
    pytest.importorskip("lightning")
    out = tmp_path / "out"
    said = run_and_stop(runner, tmp_path, str(EXAMPLES / "lightning_trainer.py"), "--epochs", "2000", "--out", str(out))
    assert "the trainer of Lightning ends it: seen enough" in said
    assert list(out.glob("**/*.ckpt"))


def test_transformers_saves_on_request_what_it_resumes_from(runner: Runner, tmp_path: Path) -> None:
    pytest.importorskip("transformers")
    program, steps = EXAMPLES / "huggingface.py", ("--steps", 30)
    ask_for_checkpoint(tmp_path / "run")
    ended = start_captured(runner, tmp_path, program, *steps)
    assert f"the trainer of transformers saves a checkpoint in {tmp_path}/out too" in ended.stderr
    (saved,) = [each for each in (tmp_path / "out").glob("checkpoint-*") if each.name != "checkpoint-30"]
    start_captured(runner, tmp_path / "again", program, *steps, "--resume", saved)
    logs = [json.loads((folder / "out" / "log.json").read_text()) for folder in (tmp_path, tmp_path / "again")]
    losses = [{entry["step"]: entry["loss"] for entry in log if "loss" in entry} for log in logs]
    assert len(losses[0]) == 30
    assert losses[0] == losses[1], "it goes on with the same batches"


def test_lightning_saves_on_request_what_it_resumes_from(runner: Runner, tmp_path: Path) -> None:
    pytest.importorskip("lightning")
    program, epochs = EXAMPLES / "lightning_trainer.py", ("--epochs", 1)
    ask_for_checkpoint(tmp_path / "run")
    ended = start_captured(runner, tmp_path, program, *epochs)
    (saved,) = (tmp_path / "run" / "checkpoints").glob("*.ckpt")
    assert f"the trainer of Lightning saves {saved} too" in ended.stderr
    assert saved.with_suffix(".pt").exists()
    step = torch.load(saved, weights_only=False)["global_step"]
    assert step < 50
    start_captured(runner, tmp_path / "again", program, *epochs, "--resume", saved)
    with open(tmp_path / "again" / "out" / "metrics.csv") as file:
        steps = [int(row["step"]) for row in csv.DictReader(file) if row["train_loss"]]
    assert steps == list(range(step, 50))


def test_a_loop_with_accelerate_saves_on_request(runner: Runner, tmp_path: Path) -> None:
    pytest.importorskip("accelerate")
    ask_for_checkpoint(tmp_path / "run")
    start_captured(runner, tmp_path, EXAMPLES / "accelerate_loop.py", "--epochs", 1)
    (saved,) = (tmp_path / "run" / "checkpoints").iterdir()
    model = torch.nn.Sequential(torch.nn.Linear(4, 16), torch.nn.ReLU(), torch.nn.Linear(16, 2))
    optimizer = torch.optim.AdamW(model.parameters(), lr=0.5)
    step = trainwarden.torch.restore(saved, model, optimizer)
    assert all(state["step"] == step + 1 for state in optimizer.state.values())
    assert optimizer.param_groups[0]["lr"] < 0.5


POISON = """
import runpy, sys, torch
plain, calls = torch.nn.functional.cross_entropy, []
def poisoned(*arguments, **named):
    loss = plain(*arguments, **named)
    calls.extend([loss] * loss.requires_grad)
    return loss * float("nan") if len(calls) == 5 else loss
torch.nn.functional.cross_entropy = poisoned
sys.argv = sys.argv[1:]
runpy.run_path(sys.argv[0], run_name="__main__")
"""


@pytest.mark.parametrize(
    "library, program, length",
    [
        ("transformers", "huggingface.py", ("--steps", "12")),
        ("lightning", "lightning_trainer.py", ("--epochs", "1")),
        ("accelerate", "accelerate_loop.py", ("--epochs", "1")),
    ],
)
def test_a_step_with_a_nan_is_skipped(
    runner: Runner, tmp_path: Path, library: str, program: str, length: tuple[str, str]
) -> None:
    pytest.importorskip(library)
    ended = start_captured(
        runner, tmp_path, "-c", POISON, EXAMPLES / program, *length,
        TRAINWARDEN_GUARD_RULES="ExplodingTensor", TRAINWARDEN_ON_FIRE="skip_step",
    )  # fmt: skip
    assert ended.stderr.count("The optimizer's step is left out") == 1, ended.stderr
    trial = trainwarden.open(tmp_path / "run")
    assert all(map(math.isfinite, in_training(trial, only_loss(trial))[5:])), "the weights have no NaN"


CALLBACKS = {
    "transformers": (
        "huggingface.py",
        "import transformers; from trainwarden.transformers import TrainwardenCallback as Callback; "
        "from transformers.trainer import DEFAULT_CALLBACKS; DEFAULT_CALLBACKS.append(Callback); ",
        ["--steps", "12"],
        12,
    ),
    "lightning": (
        "lightning_trainer.py",
        "import lightning.pytorch as L; from trainwarden.lightning import TrainwardenCallback as Callback; "
        "made = L.Trainer.__init__; "
        "L.Trainer.__init__ = lambda *a, callbacks, **k: made(*a, callbacks=[*callbacks, Callback()], **k); ",
        ["--epochs", "1"],
        50,
    ),
}


@pytest.mark.parametrize("library", CALLBACKS)
def test_a_callback_begins_and_ends_a_run(runner: Runner, tmp_path: Path, library: str) -> None:
    pytest.importorskip(library)
    program, preparation, arguments, steps = CALLBACKS[library]
    code = f"{preparation}import runpy, sys; sys.argv = sys.argv[1:]; runpy.run_path(sys.argv[0], run_name='__main__')"
    environment = {key: value for key, value in os.environ.items() if not key.startswith("TRAINWARDEN")}
    environment |= {"TRAINWARDEN_RUNS": str(tmp_path / "runs"), "TRAINWARDEN_BUDGET": "0"}
    command = [sys.executable, "-c", code, str(EXAMPLES / program), *arguments, "--out", str(tmp_path / "out")]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr
    (run_dir,) = (tmp_path / "runs").iterdir()
    assert run_dir.name.endswith("out" if library == "transformers" else "Classifier")
    trial = trainwarden.open(run_dir)
    assert trial.state.value == "completed"
    assert len(trial.steps("train")) == steps
    length = {"transformers": ("total_steps", "12"), "lightning": ("max_epochs", "1")}
    label, said = length[library]
    assert trial.labels[label] == said


def test_sharded_parameters_are_put_together(runner: Runner, tmp_path: Path) -> None:
    pytest.importorskip("torch.distributed.tensor")
    config = {"save_all": True, "save": {"save_interval": 1}, "when_full": "block"}
    environment = runner.attached_environment(tmp_path / "run", config)
    launcher = ["-m", "torch.distributed.run", "--nproc-per-node", "2", str(EXAMPLES / "fsdp.py"), "--steps", "3"]
    ended = runner.start(*launcher, environment=environment)
    assert ended.exit_code == 0, ended.stderr
    trial = trainwarden.open(tmp_path / "run")
    for name in ("0.weight", "gradient/0.weight", "optimizer_state/0.weight/exp_avg"):
        for step in (0, 2):
            whole = trial.sharded(name, step, "train")
            parts = [trial.value(name, step, "train", worker) for worker in trial.workers]
            together = np.concatenate(parts)
            assert whole.shape == together.shape == (16, 4)
            assert whole.workers == ["rank-00000", "rank-00001"]
            assert whole.statistics.count == 64
            assert (whole.statistics.min, whole.statistics.max) == (together.min(), together.max())
            assert whole.statistics.mean == pytest.approx(together.astype(np.float64).mean(), abs=1e-12)
