"""A program that is killed and goes on from its checkpoint is, in its run, as if nothing had happened."""

from __future__ import annotations

import os
import signal
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import torch

import trainwarden
from trainwarden.torch import resuming

from running import EVERYTHING, Ended, Runner


def train(runner: Runner, folder: Path, kill_before: int, checkpoints: str = "checkpoints") -> Ended:
    (folder / checkpoints).mkdir(parents=True, exist_ok=True)
    environment = {
        **runner.attached_environment(folder / "run", {**EVERYTHING, "budget": 0}),
        "TRAINWARDEN_CHECKPOINT_DIR": str(folder / checkpoints),
    }
    return runner.start("resumed.py", str(kill_before), environment=environment)


def weights_by_step(run: Path) -> dict[int, np.ndarray]:
    trial = trainwarden.open(run)
    name = next(name for name in trial.tensor_names(collection="weights"))
    tensor = trial.tensor(name)
    return {step: np.asarray(tensor.value(step)) for step in tensor.steps()}


@pytest.mark.parametrize("kill_before", [3, 23, 39])
def test_what_was_killed_goes_on_as_if_it_had_not_been(runner: Runner, tmp_path: Path, kill_before: int) -> None:
    whole = train(runner, tmp_path / "whole", 99)
    assert whole.exit_code == 0, whole.stderr
    killed = train(runner, tmp_path / "killed", kill_before)
    assert killed.exit_code == -signal.SIGKILL
    resumed = train(runner, tmp_path / "killed", kill_before if kill_before > 4 else 99)
    assert resumed.exit_code == 0, resumed.stderr
    assert resumed.stdout.split()[0] == str(kill_before // 5 * 5)
    assert resumed.stdout.split()[1] == whole.stdout.split()[1], "to the last bit"
    expected, found = weights_by_step(tmp_path / "whole" / "run"), weights_by_step(tmp_path / "killed" / "run")
    assert sorted(found) == sorted(expected) == list(range(40)), "nothing hidden, nothing doubled"
    for step, weights in expected.items():
        np.testing.assert_array_equal(found[step], weights, err_msg=f"step {step}")


def test_a_moved_checkpoint_is_known_by_its_content(runner: Runner, tmp_path: Path) -> None:
    assert train(runner, tmp_path, 23).exit_code == -signal.SIGKILL
    os.rename(tmp_path / "checkpoints", tmp_path / "elsewhere")
    assert train(runner, tmp_path, 23, "elsewhere").exit_code == 0
    assert sorted(weights_by_step(tmp_path / "run")) == list(range(40))


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(resuming, "_folder", str(tmp_path))
    monkeypatch.setattr(resuming, "_loaded", None)
    monkeypatch.setattr(resuming, "_current", lambda: None)
    return tmp_path


def save(*args: Any, **kwargs: Any) -> None:
    """torch.save, as it is seen in an attached program."""
    partial = resuming.save_begins(args, kwargs)
    if partial is None:
        torch.save(*args, **kwargs)
        return
    try:
        torch.save(*partial.args, **partial.kwargs)
    except BaseException:
        partial.drop()
        raise
    partial.put()


def load(*args: Any, **kwargs: Any) -> Any:
    """The same of torch.load."""
    result = torch.load(*args, **kwargs)
    resuming.loaded(args, kwargs)
    return result


def test_a_save_that_fails_leaves_what_was_there(folder: Path) -> None:
    path = folder / "last.pt"
    save({"step": 1}, path)
    with pytest.raises(Exception):
        save({"step": lambda: 1}, path)  # cannot be pickled
    assert load(path) == {"step": 1}
    assert [entry.name for entry in folder.iterdir() if "partial" in entry.name] == []


def test_a_position_is_taken_up_by_name_or_by_call(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    position = resuming.Position(40, {"train": 30, "eval": 10})
    monkeypatch.setattr(resuming, "_current", lambda: position)
    save({"step": 1}, f=folder / "a.pt")
    (folder / "b.bin").write_bytes(b"by another library")
    trainwarden.torch.checkpoint_saved(folder / "b.bin")
    monkeypatch.setattr(resuming, "_current", lambda: None)
    trainwarden.torch.checkpoint_loaded(folder / "b.bin")
    assert resuming.first_position() == position
    monkeypatch.setattr(resuming, "_loaded", None)
    load(f=folder / "a.pt")
    assert resuming.first_position() == position


def test_what_lies_elsewhere_is_left_alone(folder: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    outside = tmp_path_factory.mktemp("outside") / "a.pt"
    save({"step": 1}, outside)
    assert not (outside.parent / ".trainwarden").exists()
    assert load(outside) == {"step": 1}
    assert resuming.first_position() is None


@pytest.mark.parametrize("note", ["", "[]", "{}", '{"global_step": -1, "mode_steps": {}}', '{"global_step": 1, "mode_steps": []}'])
def test_a_damaged_note_is_no_position(folder: Path, monkeypatch: pytest.MonkeyPatch, note: str) -> None:
    monkeypatch.setattr(resuming, "_current", lambda: resuming.Position(1, {}))
    save({"step": 1}, folder / "a.pt")
    monkeypatch.setattr(resuming, "_current", lambda: None)
    (written,) = (folder / ".trainwarden").iterdir()
    written.write_text(note)
    assert load(folder / "a.pt") == {"step": 1}, "the training goes on"
    assert resuming.first_position() is None
