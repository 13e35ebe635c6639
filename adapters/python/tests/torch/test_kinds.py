"""Kinds of layers, and what losses are computed from, in a program that knows nothing of us."""

from __future__ import annotations

from pathlib import Path

import pytest

import trainwarden
from running import Captured, Runner
from test_programs import check_seen

# What the program has of each collection.
MEMBERS = {
    "relu_inputs": ["Net_relu_input_0", "relu_input_0"],
    "relu_outputs": ["Net_relu_output_0", "relu_output_0"],
    "tanh_inputs": ["tanh_input_0"],
    "sigmoid_inputs": ["sigmoid_input_0"],
    "softmax_outputs": ["own_softmax_output_0"],
    "attention": ["attend_attention_0", "own_softmax_output_0"],
    "embedding_inputs": ["words_input_0"],
    "image_inputs": ["stem_input_0"],
    "batch_inputs": ["Net_input_0", "Net_input_1"],
    "predictions": ["nll_loss_input_0"],
    "labels": ["nll_loss_input_1"],
}


@pytest.fixture(scope="module")
def whole(runner: Runner) -> Captured:
    return runner.captured("kinds.py")


def test_values(whole: Captured) -> None:
    check_seen(
        whole, "train/Net_relu_output_0", "train/attend_attention_0", "train/nll_loss_output_0",
        "train/nll_loss_input_0", "eval/nll_loss_output_0", "eval/nll_loss_input_1",
    )  # fmt: skip


def test_nothing_that_the_program_does_changes(whole: Captured) -> None:
    assert (whole.attached.stdout, whole.attached.stderr) == (whole.plain.stdout, whole.plain.stderr)
    assert "\nTrue mse_loss True\n" in whole.plain.stdout
    assert whole.trial.losses == []


@pytest.mark.parametrize("collection", sorted(MEMBERS))
def test_members(whole: Captured, collection: str) -> None:
    assert sorted(whole.trial.tensor_names(collection=collection)) == MEMBERS[collection]


@pytest.mark.parametrize("collection", sorted(MEMBERS))
def test_only_what_is_asked_for_is_kept(runner: Runner, tmp_path: Path, collection: str) -> None:
    config = {"include_collections": [collection], "save": {"save_interval": 2}, "when_full": "block"}
    environment = runner.attached_environment(tmp_path / "run", config)
    ended = runner.start("kinds.py", environment=environment)
    assert (ended.stderr, ended.exit_code) == ("", 0)
    trial = trainwarden.open(tmp_path / "run")
    names = {name for name in trial.tensor_names() if not name.startswith("phase")}
    assert names == {*MEMBERS[collection], "nll_loss_output_0"}
    for name in MEMBERS[collection]:
        assert trial.tensor(name).steps("train") == [0, 2]


def test_functions_are_not_looked_at_for_the_sake_of_outputs(runner: Runner, tmp_path: Path) -> None:
    config = {"include_collections": ["inputs", "outputs"], "save": {"save_interval": 1}}
    environment = runner.attached_environment(tmp_path / "run", config)
    runner.start("kinds.py", environment=environment)
    names = set(trainwarden.open(tmp_path / "run").tensor_names())
    assert {"stem_output_0", "relu_output_0", "Net_input_1"} <= names
    assert not names & {"Net_relu_output_0", "own_softmax_output_0", "attend_attention_0"}
