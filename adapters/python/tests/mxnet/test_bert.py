"""GluonNLP's BERT, captured as the notebook on BERT's attention asks for: the views find its layers and heads."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("gluonnlp")

from untouched import Runner  # noqa: E402

import trainwarden  # noqa: E402
from trainwarden.notebook import AttentionHeadView, NeuronView  # noqa: E402

OF_THE_NOTEBOOK = {
    "name": "of_the_notebook",
    "include": [".*multiheadattentioncell0_output_1|.*key_output|.*query_output"],
    "save": {"train": {"save_steps": [0], "end_step": 0}, "eval": {"save_interval": 1}},
}
CELL = "bertencoder0_transformer{}_multiheadattentioncell0_"


@pytest.fixture(scope="module")
def trial(runner: Runner, tmp_path_factory: pytest.TempPathFactory) -> trainwarden.Trial:
    run = tmp_path_factory.mktemp("bert") / "run"
    environment = runner.attached_environment(run, {"collections": [OF_THE_NOTEBOOK], "when_full": "block"})
    ended = runner.start("bert.py", environment=environment)
    assert ended.exit_code == 0, ended.stderr
    return trainwarden.open(run)


def test_the_notebooks_pattern_captures_its_tensors(trial: trainwarden.Trial) -> None:
    parts = ("key_output_0", "output_1", "query_output_0")
    names = [CELL.format(layer) + part for layer in (0, 1) for part in parts]
    assert trial.tensor_names("attentioncell") == names
    for name in names:
        assert trial.tensor(name).steps("train") == [0] and trial.tensor(name).steps("eval") == [0, 1, 2, 3], name
    weights = np.asarray(trial.value(CELL.format(1) + "output_1", 3, "eval"))
    assert weights.shape == (3, 4, 8, 8)
    np.testing.assert_allclose(weights.sum(axis=-1), 1, atol=1e-5)
    assert trial.tensor_names(collection="attention") == [CELL.format(layer) + "output_1" for layer in (0, 1)]


def test_views_find_layers_and_heads(trial: trainwarden.Trial) -> None:
    view = AttentionHeadView(trial, layer=1, head=2, item=1, n_tokens=8)
    assert len(view.layers) == 2 and view.heads == 4
    expected = np.asarray(trial.value(CELL.format(1) + "output_1", 3, "eval"))[1, 2]
    assert np.array_equal(view.data()["weights"], expected)
    shown = NeuronView(trial, layer=0, head=3, query=2).data()
    queries = np.asarray(trial.value(CELL.format(0) + "query_output_0", 3, "eval"))
    assert np.array_equal(shown["query"], queries.reshape(3, 8, 4, 4)[0, 2, 3]), json.dumps(shown, default=str)[:300]
