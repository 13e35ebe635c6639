"""The published notebook on BERT's attention over a run of our program `bert`, with the parameters of the notebook."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from smdebug import modes
from smdebug.exceptions import MissingCollectionFiles
from smdebug.trials import create_trial

from trainwarden.notebook import NeuronView

from bert_notebook import Bert, offer_views
from notebook import Cloud, Notebook, cells_of, document, put_in_place

REPOSITORY = Path(__file__).resolve().parents[4]
PARAMETERS = {"epochs": 3, "batch_size": 16, "learning_rate": 5e-5, "train_dataset_size": 1024, "val_dataset_size": 16}
ITEMS, HEADS, TOKENS = 16, 2, 13


class Program:
    """`bert train-spans` on a tiny model. It is halted after its first evaluation until the notebook goes on."""

    def __init__(self, folder: Path, program: Path):
        self.folder = folder
        sys.path.insert(0, str(REPOSITORY / "trainers/bert/tests"))
        try:
            import tiny_model
        finally:
            sys.path.pop(0)
        scratch = folder.parent
        tiny_model.write_model(scratch / "model")
        tiny_model.write_questions(scratch / "train.json", 1500)
        tiny_model.write_questions(scratch / "dev.json", 100)
        self.command = [
            str(program), "train-spans", "--model", str(scratch / "model"), "--train", str(scratch / "train.json"),
            "--dev", str(scratch / "dev.json"), "--out", str(scratch / "out"), "--run-dir", str(folder),
            "--max-length", "48", "--threads", "1", "--look-at", str(ITEMS),
        ]  # fmt: skip
        for name, value in PARAMETERS.items():
            self.command += [f"--{name}", str(value)]
        self._process: subprocess.Popen[bytes] | None = None

    def start(self, collections: list[dict[str, Any]]) -> None:
        config = self.folder.with_suffix(".json")
        config.write_text(json.dumps({"S3OutputPath": "s3://bucket", "CollectionConfigurations": collections}))
        environment = {**os.environ, "SMDEBUG_CONFIG_FILE_PATH": str(config)}
        log = self.folder.with_suffix(".log").open("wb")
        self._process = subprocess.Popen(self.command, env=environment, stdout=log, stderr=subprocess.STDOUT)
        while not self._has_evaluation():
            assert self._process.poll() is None, self.folder.with_suffix(".log").read_text()
            threading.Event().wait(0.02)  # time.sleep() is the notebook's
        self._process.send_signal(signal.SIGSTOP)

    def _has_evaluation(self) -> bool:
        try:
            return bool(create_trial(str(self.folder)).steps(modes.EVAL))
        except MissingCollectionFiles:
            return False

    def epoch(self) -> None:
        process = self._process
        assert process is not None
        process.send_signal(signal.SIGCONT)
        assert process.wait(timeout=120) == 0, self.folder.with_suffix(".log").read_text()

    def end(self) -> None:
        if self._process is not None and self._process.poll() is None:
            self._process.kill()
            self._process.wait()


@pytest.fixture
def bert(seeds: Path, run_dir: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Bert]:
    program = Path(os.environ.get("TRAINWARDEN_BERT", REPOSITORY / "build/release/bin/bert"))
    if not program.exists():
        pytest.skip(f"no {program}; ./dev build makes it, TRAINWARDEN_BERT names another")
    cloud = Cloud(str(run_dir))
    put_in_place(cloud.modules(), monkeypatch.setitem)
    monkeypatch.setattr(time, "sleep", lambda seconds: None)
    finetuning = Program(run_dir, program)
    yield Bert(Notebook(), cells_of(document(seeds, "000")), finetuning, cloud)
    finetuning.end()


def test_the_cells_show_what_the_program_captured(bert: Bert, monkeypatch: pytest.MonkeyPatch) -> None:
    """Names, tokens, queries, keys and attention at every evaluation."""
    selecting = offer_views(TOKENS, monkeypatch)
    bert.run()
    names = bert.notebook.names
    trial = names["trial"]
    steps = trial.steps(modes.EVAL)
    assert steps == [0, 1, 2, 3]  # before the training, and after each epoch

    cell = "bertencoder0_transformer{}_multiheadattentioncell0_{}"
    assert names["tensor_names"] == [cell.format(layer, "output_1") for layer in range(2)]
    assert names["layers"] == [[cell.format(layer, f"{part}_output_0") for part in ("key", "query")] for layer in (0, 1)]
    tokens = names["input_tokens"]
    assert tokens.shape == (ITEMS, TOKENS) and (tokens[:, 0] == "[CLS]").all()
    for layer, (key_name, query_name) in enumerate(names["layers"]):
        for step in steps:
            attention = names["tensors"][cell.format(layer, "output_1")][step]
            assert attention.shape == (ITEMS, HEADS, TOKENS, TOKENS)
            query, key = names["queries"][query_name][step], names["keys"][key_name][step]
            assert query.shape == key.shape == (ITEMS, HEADS, TOKENS, 16)
            scores = np.exp(query @ key.transpose(0, 1, 3, 2) / 4)
            scores *= (tokens != "[PAD]")[:, None, None, :]
            assert np.allclose(attention, scores / scores.sum(axis=3, keepdims=True), atol=1e-5)
    first, last = (names["tensors"][cell.format(0, "output_1")][step] for step in (0, 3))
    assert not np.allclose(first, last, atol=1e-6)  # it has learned

    assert isinstance(names["view"], NeuronView)
    assert [name for name, _ in selecting.chosen] == [
        "select_layer", "select_head", "select_step", "select_query", "select_layer", "select_step",
    ]  # fmt: skip
    assert names["view"].data()["step"] == 3
