"""A program that is killed and goes on from its checkpoint is, in its run, as if nothing had happened."""

from __future__ import annotations

import io
import os
import signal
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import torch

import trainwarden
from trainwarden.torch import resuming
from trainwarden.torch.run_positions import RunPositions

from running import EVERYTHING, Ended, Runner, clean_environment


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
        resuming.save_ended(args, kwargs)
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


def train_anywhere(runner: Runner, run: Path, checkpoint: Path, *options: str) -> Ended:
    environment = runner.attached_environment(run, {**EVERYTHING, "budget": 0})
    return runner.start("from_any_checkpoint.py", str(checkpoint), *options, environment=environment)


def test_a_run_goes_on_from_what_its_program_has_saved_anywhere(runner: Runner, tmp_path: Path) -> None:
    (tmp_path / "alone").mkdir()
    alone = runner.start("from_any_checkpoint.py", str(tmp_path / "alone" / "ck.pt"), environment=clean_environment())
    assert alone.exit_code == -signal.SIGKILL
    whole = train_anywhere(runner, tmp_path / "whole", tmp_path / "whole.pt", "--whole")
    assert train_anywhere(runner, tmp_path / "run", tmp_path / "ck.pt").exit_code == -signal.SIGKILL
    assert (tmp_path / "ck.pt").read_bytes() == (tmp_path / "alone" / "ck.pt").read_bytes(), "written as without us"
    os.rename(tmp_path / "ck.pt", tmp_path / "moved.pt")
    resumed = train_anywhere(runner, tmp_path / "run", tmp_path / "moved.pt")
    assert resumed.exit_code == 0, resumed.stderr
    assert "earlier process" not in resumed.stderr
    assert resumed.stdout.split(" ", 1) == ["12", whole.stdout.split(" ", 1)[1]]
    expected, found = weights_by_step(tmp_path / "whole"), weights_by_step(tmp_path / "run")
    assert sorted(found) == sorted(expected) == list(range(20)), "nothing hidden, nothing doubled"
    for step, weights in expected.items():
        np.testing.assert_array_equal(found[step], weights, err_msg=f"step {step}")


def test_who_begins_anew_in_a_run_with_steps_is_told(runner: Runner, tmp_path: Path) -> None:
    first = train_anywhere(runner, tmp_path / "run", tmp_path / "ck.pt")
    assert "earlier process" not in first.stderr
    second = train_anywhere(runner, tmp_path / "run", tmp_path / "other.pt")
    assert "has steps of an earlier process" in second.stderr and "counts from 0" in second.stderr


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(resuming, "_folder", None)
    monkeypatch.setattr(resuming, "_loaded", None)
    monkeypatch.setattr(resuming, "_current", lambda: None)
    (tmp_path / "run").mkdir()
    monkeypatch.setattr(resuming, "_run", RunPositions(str(tmp_path / "run")))
    return tmp_path / "run"


def save_at(step: int, what: object, path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(resuming, "_current", lambda: resuming.Position(step + 3, {"train": step, "eval": 3}))
    save(what, path)
    monkeypatch.setattr(resuming, "_current", lambda: None)


def position_of(path: Path, monkeypatch: pytest.MonkeyPatch) -> resuming.Position | None:
    monkeypatch.setattr(resuming, "_loaded", None)
    load(path)
    return resuming.first_position()


def test_what_is_saved_again_and_again_is_no_state(run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for step in (10, 20):
        save_at(step, {"step": step}, tmp_path / f"{step}.pt", monkeypatch)
        save_at(step, {"rate": 0.1}, tmp_path / "options.pt", monkeypatch)
    save_at(20, {"step": 20}, tmp_path / "20.pt", monkeypatch)
    assert position_of(tmp_path / "10.pt", monkeypatch) == resuming.Position(13, {"train": 10, "eval": 3})
    assert position_of(tmp_path / "20.pt", monkeypatch) == resuming.Position(23, {"train": 20, "eval": 3})
    assert position_of(tmp_path / "options.pt", monkeypatch) is None
    torch.save({"step": 30}, tmp_path / "30.pt")
    assert position_of(tmp_path / "30.pt", monkeypatch) is None, "nobody knows"


def test_nothing_is_noted_of_what_was_not_saved_or_before_a_training(
    run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    save({"cache": 1}, tmp_path / "cache.pt")
    with pytest.raises(Exception):
        save_at(1, {"step": lambda: 1}, tmp_path / "failed.pt", monkeypatch)
    monkeypatch.setattr(resuming, "_current", lambda: resuming.Position(1, {"train": 1}))
    save({"step": 1}, io.BytesIO())
    save({"step": 1}, "/dev/null")
    assert list(run.iterdir()) == []


def test_what_a_forked_child_saves_is_not_noted(run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    child = os.fork()
    if child == 0:
        save_at(10, {"cache": 1}, tmp_path / "cache.pt", monkeypatch)
        os._exit(0)
    assert os.waitpid(child, 0)[1] == 0
    assert (tmp_path / "cache.pt").exists() and list(run.iterdir()) == []


def test_what_is_loaded_in_the_middle_changes_nothing(
    run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    save_at(10, {"best": 1}, tmp_path / "best.pt", monkeypatch)
    monkeypatch.setattr(resuming, "_current", lambda: resuming.Position(20, {"train": 20}))
    assert position_of(tmp_path / "best.pt", monkeypatch) is None


def test_another_run_of_the_same_process_begins_anew(
    run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    save_at(10, {"step": 10}, tmp_path / "10.pt", monkeypatch)
    assert position_of(tmp_path / "10.pt", monkeypatch) is not None
    resuming.keep_in(str(tmp_path / "other"))
    assert resuming.first_position() is None


def test_notes_are_bounded_and_damaged_ones_are_passed_over(
    run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for step in range(700):
        save_at(step, {"step": step}, tmp_path / "last.pt", monkeypatch)
    notes = run / "positions.jsonl"
    assert notes.stat().st_size <= 64 << 10 and [each.name for each in run.iterdir()] == [notes.name]
    with notes.open("a") as file:
        file.write('[]\nno line\n{"content": 1}\n')
    assert position_of(tmp_path / "last.pt", monkeypatch) == resuming.Position(702, {"train": 699, "eval": 3})


def test_where_notes_cannot_be_written_it_is_said_once(
    run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "elsewhere").write_text("")
    (run / "positions.jsonl").symlink_to(tmp_path / "elsewhere")
    for step in range(12):
        save_at(step, {"step": step}, tmp_path / "last.pt", monkeypatch)
    assert (tmp_path / "elsewhere").read_text() == "", "no link in a run is followed"
    assert capfd.readouterr().err.count("is not noted") == 1
    assert position_of(tmp_path / "last.pt", monkeypatch) is None
