"""python -m trainwarden train.py, requests to stop, and processes that are killed."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Callable, Iterator

import pytest

import trainwarden
from running import EVERYTHING, PROGRAMS, Runner, clean_environment, has_pth

WHO = "import sys; print(__name__, sys.argv, sys.path[0], 'trainwarden' in sys.modules)\nsys.exit(5)\n"

Starter = Callable[[Runner, Path, Path], "subprocess.Popen[str]"]

ENDLESS = """
import torch
from torch import nn
model = nn.Linear(4, 2)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
try:
    while True:
        optimizer.zero_grad()
        nn.functional.mse_loss(model(torch.randn(5, 4)), torch.zeros(5, 2)).backward()
        optimizer.step()
finally:
    print("cleaned up")
"""

installed = pytest.mark.skipif(not has_pth(), reason="trainwarden_attach.pth is not installed: pip install .")


@pytest.fixture
def started() -> Iterator[Starter]:
    """Starts scripts, captured whole; those that still run at the end of the test are killed."""
    processes: list[subprocess.Popen[str]] = []

    def start(runner: Runner, script: Path, run_dir: Path) -> subprocess.Popen[str]:
        environment = runner.attached_environment(run_dir, EVERYTHING)
        command = [sys.executable, str(script)]
        pipe = subprocess.PIPE
        processes.append(subprocess.Popen(command, cwd=PROGRAMS, env=environment, stdout=pipe, stderr=pipe, text=True))
        return processes[-1]

    yield start
    for process in processes:
        process.kill()
        process.communicate()


@installed
def test_the_program_is_as_if_it_were_started_without_us(runner: Runner, tmp_path: Path) -> None:
    script = tmp_path / "who.py"
    script.write_text(WHO)
    plain = runner.start(str(script), "--runs", "a b", environment=clean_environment())
    command = ("-m", "trainwarden", "--runs", str(tmp_path / "runs"), str(script), "--runs", "a b")
    ours = runner.start(*command, environment=clean_environment())
    assert ours.exit_code == plain.exit_code == 5
    assert ours.stdout == plain.stdout.replace("False", "True")
    assert ours.stderr == plain.stderr == ""


@installed
def test_a_script_and_a_module_are_captured(runner: Runner, tmp_path: Path) -> None:
    options = ("-m", "trainwarden", "--runs", str(tmp_path), "--name", "first")
    environment = {**clean_environment(), "TRAINWARDEN_BUDGET": "0"}  # each loss is kept
    ended = runner.start(*options, "resnet_like.py", environment=environment)
    assert ended == runner.captured("resnet_like.py").plain
    assert trainwarden.open(tmp_path / "first").tensor("CrossEntropyLoss_output_0").steps("train") == [0, 1, 2, 3, 4]
    options = ("-m", "trainwarden", "--runs", str(tmp_path), "--name", "second")
    runner.start(*options, "-m", "gan", environment=environment)
    assert trainwarden.open(tmp_path / "second").steps("train") == list(range(6))


@installed
def test_options_of_the_interpreter_are_handed_on(runner: Runner, tmp_path: Path) -> None:
    script = tmp_path / "flags.py"
    script.write_text("import sys; print(sys.flags.optimize, sys.warnoptions, sys._xoptions)")
    python = ("-O", "-W", "ignore", "-X", "dev")
    ours = runner.start("-m", "trainwarden", str(script), environment=clean_environment(), python=python)
    assert ours == runner.start(str(script), environment=clean_environment(), python=python)


def test_a_request_to_stop_ends_the_training_at_a_step(runner: Runner, tmp_path: Path, started: Starter) -> None:
    run_dir = tmp_path / "run"
    script = tmp_path / "endless.py"
    script.write_text(ENDLESS)
    process = started(runner, script, run_dir)
    wait_for_steps(run_dir, 3)
    request = {"type": "stop", "key": "test", "reason": "seen enough", "requested_by": "a test", "unix_ns": 1}
    (run_dir / "control" / "part").write_text(json.dumps(request))
    (run_dir / "control" / "part").rename(run_dir / "control" / "stop-test.json")
    stdout, stderr = process.communicate(timeout=120)
    assert process.returncode == 143
    assert "cleaned up" in stdout
    assert "seen enough" in stderr
    assert trainwarden.open(run_dir).state.value == "stopped"


def test_a_killed_training_leaves_whole_steps(runner: Runner, tmp_path: Path, started: Starter) -> None:
    run_dir = tmp_path / "run"
    script = tmp_path / "endless.py"
    script.write_text(ENDLESS)
    process = started(runner, script, run_dir)
    wait_for_steps(run_dir, 5)
    process.send_signal(signal.SIGKILL)
    process.communicate(timeout=120)
    trial = trainwarden.open(run_dir)
    assert len(trial.steps("train")) >= 5
    for step in trial.steps("train"):
        assert trial.value("weight", step, "train").shape == (2, 4)
        assert trial.value("gradient/weight", step, "train").shape == (2, 4)


def wait_for_steps(run_dir: Path, count: int) -> None:
    """Until the run has so many steps."""
    end = time.monotonic() + 120
    while time.monotonic() < end:
        if (run_dir / "run.json").exists():
            trial = trainwarden.open(run_dir)
            trial.wait_for_steps([count - 1], "train", timeout_s=60)
            return
        os.sched_yield()
    raise TimeoutError(f"no run in {run_dir}")
