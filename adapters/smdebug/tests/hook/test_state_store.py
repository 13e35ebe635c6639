"""A training that goes on from a checkpoint counts on from there."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

torch = pytest.importorskip("torch")

import smdebug.pytorch as smd  # noqa: E402
from smdebug import modes  # noqa: E402
from smdebug.core.state_store import State, StateStore  # noqa: E402


@pytest.fixture
def checkpoints(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "checkpoints"
    folder.mkdir()
    config = tmp_path / "checkpointconfig.json"
    config.write_text(json.dumps({"LocalPath": str(folder)}))
    monkeypatch.setenv("CHECKPOINT_CONFIG_FILE_PATH", str(config))
    return folder


def train(out_dir: Path, steps: list[modes], checkpoint_after: int, checkpoint: Path) -> smd.Hook:
    """One step of each mode in `steps`; the checkpoint is written after so many."""
    net = torch.nn.Linear(2, 1)
    hook = smd.Hook(out_dir, save_config=smd.SaveConfig(save_interval=1), include_collections=["weights"])
    hook.register_module(net)
    for done, mode in enumerate(steps, start=1):
        hook.set_mode(mode)
        net(torch.ones(1, 2)).sum().backward()
        if done == checkpoint_after:
            torch.save(net.state_dict(), checkpoint)
    hook.close()
    return hook


def test_the_second_run_goes_on_where_the_checkpoint_was_written(tmp_path: Path, checkpoints: Path) -> None:
    train(tmp_path / "first", [modes.TRAIN, modes.EVAL, modes.TRAIN, modes.TRAIN], 3, checkpoints / "a.pt")
    (record,) = json.loads((checkpoints / "metadata.json").read_text())
    assert record == {
        "training-run": 0,
        "latest-global-step-saved": 2,
        "latest-global-step-seen": 2,
        "latest-mode-step": {"GLOBAL": 2, "TRAIN": 1, "EVAL": 0},
    }

    train(tmp_path / "second", [modes.TRAIN, modes.EVAL, modes.PREDICT], 2, checkpoints / "b.pt")
    trial = smd.create_trial(tmp_path / "second")
    assert trial.steps() == [3, 4, 5]
    assert [trial.mode_modestep(step) for step in (3, 4, 5)] == [(modes.TRAIN, 2), (modes.EVAL, 1), (modes.PREDICT, 0)]
    assert [record["training-run"] for record in json.loads((checkpoints / "metadata.json").read_text())] == [0, 1]


def test_without_a_checkpoint_nothing_is_written(tmp_path: Path, checkpoints: Path) -> None:
    train(tmp_path / "run", [modes.TRAIN, modes.TRAIN], 9, checkpoints / "never.pt")
    assert list(checkpoints.iterdir()) == []


def test_a_broken_file_counts_from_the_beginning(checkpoints: Path) -> None:
    for text in ("{", '[{"training-run": 1}]', "[3]"):
        (checkpoints / "metadata.json").write_text(text)
        assert StateStore().last() is None


def test_the_furthest_state_counts(checkpoints: Path) -> None:
    states = [State(0, 5, 5, {modes.TRAIN: 5}), State(1, 9, 9, {modes.TRAIN: 9}), State(0, 7, 7, {modes.TRAIN: 7})]
    (checkpoints / "metadata.json").write_text(json.dumps([state.to_record() for state in states]))
    assert StateStore().last() == states[1]


def test_as_programs_of_smdebugs_ask(checkpoints: Path) -> None:
    store = StateStore()
    assert store.get_last_saved_state() is None and not store.is_checkpoint_updated()
    (checkpoints / "a.ckpt").write_text("weights")
    assert store.is_checkpoint_updated() and not store.is_checkpoint_updated()
    record = {
        "training-run": 1,
        "latest-global-step-saved": 4,
        "latest-global-step-seen": 5,
        "latest-mode-step": {"TRAIN": 5},
    }
    store.update_state(record)
    assert StateStore().get_last_saved_state() == store.get_last_saved_state() == record


def test_without_a_folder_of_checkpoints_there_are_no_states(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("CHECKPOINT_CONFIG_FILE_PATH", str(tmp_path / "there-is-none.json"))
    monkeypatch.chdir(tmp_path)
    store = StateStore()
    store.update(State(0, 1, 1, {}))
    store.update_state(State(0, 1, 1, {}).to_record())
    assert not store.is_checkpoint_updated() and list(tmp_path.iterdir()) == []


def test_a_folder_that_cannot_be_written_harms_nothing(tmp_path: Path, checkpoints: Path) -> None:
    (checkpoints / "metadata.json").mkdir()  # nothing can be put there
    hook = train(tmp_path / "run", [modes.TRAIN, modes.TRAIN, modes.TRAIN], 1, checkpoints / "a.pt")
    assert hook.step == 2 and (checkpoints / "metadata.json").is_dir()
