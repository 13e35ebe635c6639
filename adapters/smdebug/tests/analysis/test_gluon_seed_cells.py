"""The two published notebooks that train with MXNet, over trainings of Gluon and GluonNLP."""

from __future__ import annotations

import json
import os
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

from trainwarden.notebook import AttentionHeadView, NeuronView

from bert_notebook import Bert, offer_views
from notebook import Cloud, Notebook, Plots, cells_of, document, put_in_place

pytest.importorskip("mxnet.gluon")

SCRIPTS = Path(__file__).parent / "scripts"
ITEMS, HEADS, TOKENS = 3, 4, 8


def configured(folder: Path, collections: list[dict[str, Any]]) -> dict[str, str]:
    """The environment of a training that SageMaker has configured."""
    config = folder.with_suffix(".json")
    config.write_text(json.dumps({"LocalPath": str(folder), "CollectionConfigurations": collections}))
    return {**os.environ, "SMDEBUG_CONFIG_FILE_PATH": str(config)}


class Program:
    """A script that goes on by an epoch for each line that it reads."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._process: Any = None

    def start(self, collections: list[dict[str, Any]]) -> None:
        self._process = subprocess.Popen(
            [sys.executable, str(SCRIPTS / "gluon_bert.py")], env=configured(self.folder, collections),
            stdin=subprocess.PIPE, text=True,
        )  # fmt: skip
        for _ in range(3000):
            if self._has_evaluation():
                return
            assert self._process.poll() is None
            threading.Event().wait(0.02)  # time.sleep() is the notebook's
        raise AssertionError("no evaluation in a minute")

    def _has_evaluation(self) -> bool:
        try:
            return bool(create_trial(str(self.folder)).steps(modes.EVAL))
        except MissingCollectionFiles:
            return False

    def epoch(self) -> None:
        """The rest at once: what the notebook looks at next is there when the training has ended."""
        if self._process.poll() is None:
            self._process.communicate("go on\n" * 4, timeout=120)
            assert self._process.returncode == 0

    def end(self) -> None:
        if self._process is not None and self._process.poll() is None:
            self._process.kill()
            self._process.communicate()


@pytest.fixture
def bert(seeds: Path, run_dir: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Bert]:
    pytest.importorskip("gluonnlp")
    cloud = Cloud(str(run_dir))
    put_in_place(cloud.modules(), monkeypatch.setitem)
    monkeypatch.setattr(time, "sleep", lambda seconds: None)
    finetuning = Program(run_dir)
    yield Bert(Notebook(), cells_of(document(seeds, "000")), finetuning, cloud)
    finetuning.end()


def test_the_cells_show_what_gluonnlp_computed(bert: Bert, run_dir: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    selecting = offer_views(TOKENS, monkeypatch)
    bert.run()
    names = bert.notebook.names
    steps = names["trial"].steps(modes.EVAL)
    assert steps == [0, 1, 2, 3]
    cell = "bertencoder0_transformer{}_multiheadattentioncell0_{}"
    assert names["tensor_names"] == [cell.format(layer, "output_1") for layer in range(2)]
    parts = ("key_output_0", "query_output_0")
    assert names["layers"] == [[cell.format(layer, part) for part in parts] for layer in (0, 1)]
    assert names["input_tokens"].size == ITEMS * TOKENS
    for layer, (key_name, query_name) in enumerate(names["layers"]):
        for step in steps:
            query, key = names["queries"][query_name][step], names["keys"][key_name][step]
            scores = np.exp(query @ key.transpose(0, 1, 3, 2) / 2)
            attention = names["tensors"][cell.format(layer, "output_1")][step]
            assert attention.shape == (ITEMS, HEADS, TOKENS, TOKENS)
            assert np.allclose(attention, scores / scores.sum(axis=3, keepdims=True), atol=1e-5)
    first, last = (names["tensors"][cell.format(0, "output_1")][step] for step in (0, 3))
    assert not np.allclose(first, last, atol=1e-4), "it has learned"
    assert isinstance(names["view"], NeuronView) and len(selecting.chosen) == 6
    ours = AttentionHeadView(str(run_dir), layer=1, head=3, n_tokens=TOKENS)
    assert len(ours.layers) == 2 and ours.heads == HEADS and ours.data()["keys"][0].startswith("word")


def test_an_untouched_program_of_gluon_is_analysed(
    seeds: Path, run_dir: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    cloud, plots = Cloud(str(run_dir)), Plots()
    put_in_place(cloud.modules() | plots.modules(monkeypatch.setattr), monkeypatch.setitem)
    monkeypatch.setattr(time, "sleep", lambda seconds: None)
    cells = cells_of(document(seeds, "001"))
    install, configure, estimate, fit, status, helpers, create, names, follow, weights = cells
    notebook = Notebook()
    notebook.run_all([install, configure, estimate, fit])
    environment = configured(run_dir, cloud.collections())
    environment.update(TRAINWARDEN_ATTACH="1", TRAINWARDEN_RUN_DIR=str(run_dir))
    subprocess.run([sys.executable, str(SCRIPTS / "gluon_conv.py")], env=environment, check=True, timeout=120)

    notebook.run_all([status, helpers, create])
    assert notebook.run(names) == [
        "conv0_bias",
        "conv0_input_0",
        "conv0_output_0",
        "conv0_relu_input_0",
        "conv0_relu_output_0",
        "conv0_weight",
        "gradient/conv0_bias",
        "gradient/conv0_weight",
    ]
    notebook.run(follow)
    shown = [(int(title), image) for figure in plots.shown for title, image in figure]
    assert sorted(step for step, _ in shown) == [0, 100, 200]
    trial = notebook.names["trial"]
    for step, image in shown:
        np.testing.assert_array_equal(image, trial.tensor("conv0_output_0").value(step)[0][0])
    plots.shown.clear()
    notebook.run(weights)
    assert [[title for title, _ in figure] for figure in plots.shown] == [["0", "100", "200"]] * 6
