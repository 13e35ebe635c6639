"""BERT: the command that our trainer gets, and what is said where something is missing."""

from __future__ import annotations

import importlib.util
import os
from pathlib import Path
from typing import Any

import pytest
from e2eAIOK.SDA.errors import SDAError
from e2eAIOK.SDA.models import BertModel
from e2eAIOK.SDA.SDA import SDA

ROOT = Path(__file__).parents[3]
SETTINGS: dict[str, Any] = {"data_path": "squad", "program": "bert", "metric_threshold": 90.874, "step_threshold": 600}


@pytest.fixture
def squad() -> Path:
    model = Path("squad/pre-trained-model/bert-large-uncased")
    model.mkdir(parents=True)
    for file in (model / "config.json", model / "model.safetensors", "squad/train-v1.1.json", "squad/dev-v1.1.json"):
        Path(file).touch()
    return Path("squad")


def test_the_trainer_gets_files_thresholds_and_values(squad: Path) -> None:
    model = BertModel({**SETTINGS, "num_epochs": 1, "train_batch_size": 8})
    words = model.words(model.defaults, set(), Path("here"))
    assert words[:4] == ["bert", "train-spans", "--model", str(squad / "pre-trained-model/bert-large-uncased")]
    options = dict(zip(words[2::2], words[3::2]))
    assert options["--dev"] == "squad/dev-v1.1.json" and options["--out"] == "here/trained"
    assert options["--f1-threshold"] == "90.874" and options["--step-threshold"] == "600"
    assert (options["--epochs"], options["--batch-size"], options["--learning-rate"]) == ("1", "8", "3e-05")
    searched = model.words({"num_hidden_layers": 8, "dropout_prob": 0.12}, set(), Path("here"))
    assert searched[-4:] == ["--layers", "8", "--dropout", "0.12"]
    with pytest.raises(SDAError, match='"hidden_layers" is not known to the trainer; known are .*num_hidden_layers'):
        model.words({"hidden_layers": 8}, set(), Path("here"))


def test_a_small_model_is_really_trained() -> None:
    trainer = ROOT / "build/release/bin/bert"
    if not trainer.exists():
        pytest.skip("the trainer is not built")
    spec = importlib.util.spec_from_file_location("tiny_model", ROOT / "trainers/bert/tests/tiny_model.py")
    assert spec is not None and spec.loader is not None
    tiny_model = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(tiny_model)
    tiny_model.write_model(Path("data/model"))
    tiny_model.write_questions(Path("data/train-v1.1.json"), 24)
    tiny_model.write_questions(Path("data/dev-v1.1.json"), 24)
    sda = SDA(model="BERT", settings={"data_path": "data", "program": str(trainer), "metric_threshold": 90.874})
    result = sda.launch()
    assert result.target_met is False and 0 <= result[1]["f1"] < 90.874 and sda.exit_code == 5
    assert Path(result[0], "trained/model/model.safetensors").is_file()


@pytest.mark.parametrize(
    ("missing", "message"),
    [
        ("pre-trained-model/bert-large-uncased/model.safetensors", "one folder with config.json and model.safetensors"),
        ("train-v1.1.json", "expected SQuAD's train-v1.1.json"),
        ("dev-v1.1.json", "expected SQuAD's dev-v1.1.json"),
    ],
)
def test_a_file_that_is_missing_is_named(squad: Path, missing: str, message: str) -> None:
    os.remove(squad / missing)
    with pytest.raises(SDAError, match=message):
        SDA(model="BERT", settings=SETTINGS).launch()


def test_a_folder_or_a_trainer_that_is_missing_is_named(squad: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(SDAError, match="data_path"):
        SDA(model="BERT").launch()
    with pytest.raises(SDAError, match="found none in nowhere"):
        SDA(model="BERT", settings={"data_path": "nowhere"}).launch()
    monkeypatch.setenv("TRAINWARDEN_PROGRAM", "/nowhere/trainwarden")
    with pytest.raises(SDAError, match="the trainer bert is neither in PATH"):
        SDA(model="BERT", settings={"data_path": "squad"}).launch()
