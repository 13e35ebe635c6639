"""Requests to a training: stop and save, from another process as people do it."""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import trainwarden as tw

TRAINING = """
import sys, time
import trainwarden


def save(step, request):
    path = f"{sys.argv[1]}/state.txt"
    with open(path, "w") as file:
        file.write(str(step))
    return path


with trainwarden.Hook(sys.argv[1], save=1) as hook:
    if "saves" in sys.argv:
        hook.on_checkpoint(save)
    step = 0
    while True:
        hook.save_scalar("loss", 1.0)
        asked = hook.step().stop_requested
        if step == 0:
            hook.flush()
            print("ready", flush=True)
        step += 1
        while "deaf" in sys.argv:
            time.sleep(600)
        if asked:
            break
        time.sleep(0.001)
"""


class Training:
    def __init__(self, run_dir: Path, *manners: str):
        command = [sys.executable, "-c", TRAINING, str(run_dir), *manners]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        assert self.process.stdout is not None
        assert self.process.stdout.readline() == "ready\n"

    def end(self) -> int:
        return self.process.wait(60)


def training_that(run_dir: Path, *manners: str) -> Iterator[Training]:
    training = Training(run_dir, *manners)
    yield training
    training.process.kill()
    training.end()


@pytest.fixture
def training(run_dir: Path) -> Iterator[Training]:
    yield from training_that(run_dir)


@pytest.fixture
def saving(run_dir: Path) -> Iterator[Training]:
    yield from training_that(run_dir, "saves")


@pytest.fixture
def deaf(run_dir: Path) -> Iterator[Training]:
    yield from training_that(run_dir, "deaf")


def test_a_training_stops(training: Training, run_dir: Path) -> None:
    answer = tw.stop(run_dir, reason="the loss is flat", timeout_s=60)
    assert answer.status_before == "InProgress"
    assert (answer.already, answer.accepted, answer.ended) == (False, True, True)
    assert training.end() == 0
    assert len(list((run_dir / "control").iterdir())) == 1
    assert "the loss is flat" in (run_dir / "control" / f"stop-{answer.key}.json").read_text()
    again = tw.stop(tw.open(run_dir))
    assert again.already and again.ended
    assert len(list((run_dir / "control").iterdir())) == 1
    with pytest.raises(RuntimeError, match="InProgress"):
        tw.stop(run_dir, if_status="InProgress")


def test_no_answer_in_time(deaf: Training, run_dir: Path) -> None:
    deaf.process.send_signal(signal.SIGSTOP)  # not even its writer thread reads requests now
    with pytest.raises(TimeoutError, match="the request stays"):
        tw.stop(run_dir, timeout_s=0.05, key="mine")
    assert not tw.stop(run_dir, wait=False, key="mine").accepted
    assert [file.name for file in (run_dir / "control").iterdir()] == ["stop-mine.json"]
    assert deaf.process.poll() is None


def test_force(deaf: Training, run_dir: Path) -> None:
    answer = tw.stop(run_dir, then="kill", term_grace_s=0.5)
    assert answer.ended and "SIGTERM to process" in answer.story
    assert deaf.end() != 0


def test_a_training_saves_and_goes_on(saving: Training, run_dir: Path) -> None:
    answer = tw.save(run_dir, timeout_s=60)
    assert answer.saved and not answer.dumped
    assert int((run_dir / answer.checkpoint).read_text()) >= 0
    assert saving.process.poll() is None


def test_a_program_that_does_not_say_how_it_saves(training: Training, run_dir: Path) -> None:
    with pytest.raises(RuntimeError, match="no checkpoint"):
        tw.save(run_dir, timeout_s=60)
    assert training.process.poll() is None


def test_wrong_usage(run_dir: Path) -> None:
    with pytest.raises(FileNotFoundError):
        tw.stop(run_dir)
    with pytest.raises(FileNotFoundError):
        tw.save(run_dir)
    with pytest.raises(ValueError, match="then"):
        tw.stop(run_dir, then="shoot")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="seconds"):
        tw.stop(run_dir, timeout_s=-1)
