"""Our notebooks that do what the seeds do run from top to bottom, with fewer reviews and steps than they ask for."""

from __future__ import annotations

import importlib.util
import os
import shutil
import sys
from pathlib import Path
from typing import Any

import pytest
from cells import Notebook, our_boto3, pandas_or_tables

_NEEDED = ("tensorflow_estimator", "transformers", "trainwarden", "smdebug", "e2eAIOK")
if any(importlib.util.find_spec(name) is None for name in _NEEDED):
    pytest.skip("no TensorFlow 2.15, or none of transformers and the packages of Trainwarden", allow_module_level=True)

_REPOSITORY = Path(__file__).resolve().parents[3]
_SHARED = Path(os.environ.get("TRAINWARDEN_SHARED_DATA", _REPOSITORY.parent / "shared" / "data"))
SEEDS = _REPOSITORY / "examples" / "seeds"


def run_all(number: str, **parameters: Any) -> dict[str, Any]:
    """Its names when all cells have run, with these parameters in place of those of its own."""
    cells = Notebook(SEEDS / number / "notebook.ipynb")
    if not (_SHARED / "reviews").is_dir():
        pytest.skip(f"no reviews in {_SHARED}: Women's E-Commerce Clothing Reviews (CC0), a table of texts and ratings")
    for text in cells.cells:
        cells.run_text(text)
        if "reviews_at_most =" in text:
            cells.names.update(parameters, reviews=str(_SHARED / "reviews"), reviews_at_most=600)
    return cells.names


def test_the_notebook_of_a_classifier(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "boto3", our_boto3())
    monkeypatch.setitem(sys.modules, "pandas", pandas_or_tables())
    shutil.copytree(SEEDS / "002" / "src", "src")
    names = run_all("002", epochs=2, train_steps_per_epoch=12, validation_steps=2, test_steps=2, layers=1)
    assert names["processor"].latest_job.describe()["ProcessingJobStatus"] == "Completed"
    assert names["estimator"].latest_training_job.describe()["TrainingJobStatus"] == "Completed"
    assert len(names["losses"]) == 24 and names["losses"][-1] < names["losses"][0]
    assert "gradient/classifier/kernel" in names["gradients"]
    assert sum(map(sum, names["confusion"]["matrix"])) == 30


def test_the_notebook_of_a_search(capsys: pytest.CaptureFixture[str]) -> None:
    names = run_all(
        "003", programs=str(SEEDS / "002" / "src"), observation_budget=2, target=0.99, epochs=1, train_steps_per_epoch=8
    )
    assert names["sda"].exit_code == 5 and 0 <= names["metrics"]["test_accuracy"] < 0.99
    assert "The target was not met (test_accuracy at least 0.99" in capsys.readouterr().out
    assert 3e-5 <= names["hydro_model"].model_parameters["learning_rate"] <= 3e-3
    assert Path(names["best"], "tensorflow", "saved_model", "0", "saved_model.pb").is_file()
