"""The report of a run of boosted trees: its figures are scikit-learn's, and its page stands alone."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import trainwarden
from trainwarden.errors import AlreadyExists, FailedPrecondition, PathNotFound
from trainwarden.tree_report import numbers_of, page_of, write_report

RANDOM = np.random.default_rng(7)
ROWS = 400


def run_of(
    folder: Path, objective: str, labels: np.ndarray, rounds: list[np.ndarray], *, features: int = 3, loss: bool = True
) -> Path:
    """A run as the adapters write it, of predictions that a test has chosen."""
    with trainwarden.Hook(folder, save_all=True, save=1) as hook:
        ids = {name: hook.declare(name, [collection]) for name, collection in
               (("predictions", "predictions"), ("labels", "labels"))}  # fmt: skip
        losses = [hook.declare(f"{data}-logloss", ["metrics", "losses"]) for data in ("train", "validation")]
        for number, predictions in enumerate(rounds):
            if number == 0:
                hook.save_tensor("hyperparameters/objective", [objective])
                hook.save_scalar("hyperparameters/eta", 0.3)
            for place, identity in enumerate(losses if loss else []):
                hook.observe(identity, 1.0 / (number + 1 + place))
            for feature in range(features):
                hook.save_scalar(f"feature_importance/gain/column <{feature}>", (feature + 1) / 6)
            hook.save_tensor(ids["predictions"], predictions)
            hook.save_tensor(ids["labels"], labels)
            hook.step()
    return folder


@pytest.fixture
def binary(tmp_path: Path) -> tuple[Path, np.ndarray, list[np.ndarray]]:
    labels = (RANDOM.random(ROWS) < 0.3).astype(np.float32)
    rounds = [np.clip(np.round(0.5 * labels + RANDOM.random(ROWS) * 0.6, 2), 0, 1).astype(np.float32) for _ in range(3)]
    return run_of(tmp_path / "binary", "binary:logistic", labels, rounds), labels, rounds


@pytest.fixture
def classes(tmp_path: Path) -> tuple[Path, np.ndarray, list[np.ndarray]]:
    labels = RANDOM.integers(0, 8, ROWS).astype(np.float32)
    labels[labels == 5] = 4  # a class that nobody has
    rounds = []
    for strength in (0.5, 1.0):
        scores = RANDOM.random((ROWS, 8)).astype(np.float32)
        scores[np.arange(ROWS), labels.astype(int)] += strength
        scores[:, 6] -= 5  # a class that is never predicted
        rounds.append(scores)
    return run_of(tmp_path / "classes", "multi:softprob", labels, rounds), labels, rounds


@pytest.fixture
def regression(tmp_path: Path) -> tuple[Path, np.ndarray, list[np.ndarray]]:
    labels = (10 * RANDOM.random(ROWS)).astype(np.float32)
    rounds = [(labels + spread * RANDOM.standard_normal(ROWS)).astype(np.float32) for spread in (3, 1)]
    return run_of(tmp_path / "regression", "reg:squarederror", labels, rounds), labels, rounds


def scores_of(report: dict[str, Any], name: str) -> list[float]:
    return [each[name] for each in report["classes"]]


def compare(report: dict[str, Any], truth: np.ndarray, predicted: np.ndarray) -> None:
    metrics = pytest.importorskip("sklearn.metrics")
    for average in ("macro", "micro", "weighted"):
        expected = metrics.precision_recall_fscore_support(truth, predicted, average=average, zero_division=0)[:3]
        assert [report[average][name] for name in ("precision", "recall", "f1")] == pytest.approx(list(expected))
    each = metrics.precision_recall_fscore_support(truth, predicted, zero_division=0)
    for name, expected in zip(("precision", "recall", "f1", "rows"), each):
        assert scores_of(report, name) == pytest.approx(expected.tolist())
    assert report["accuracy"] == pytest.approx(metrics.accuracy_score(truth, predicted))


def test_figures_of_two_classes_are_those_of_scikit_learn(binary: Any) -> None:
    run, labels, rounds = binary
    metrics = pytest.importorskip("sklearn.metrics")
    document = numbers_of(trainwarden.open(run))
    assert document["task"] == "binary" and document["missing"] == []
    report = document["classification"]
    predicted = (rounds[-1] > 0.5).astype(int)
    compare(report, labels, predicted)
    assert report["confusion"] == metrics.confusion_matrix(labels, predicted).tolist()
    assert report["roc"]["auc"] == pytest.approx(metrics.roc_auc_score(labels, rounds[-1]))
    alarms, hits, _ = metrics.roc_curve(labels, rounds[-1], drop_intermediate=False)
    assert report["roc"]["false_positive_rate"] == pytest.approx(alarms.tolist())
    assert report["roc"]["true_positive_rate"] == pytest.approx(hits.tolist())
    for step, predictions in enumerate(rounds):
        recalls = metrics.recall_score(labels, predictions > 0.5, average=None)
        found = [report["recall_by_round"]["classes"][number][step] for number in ("0", "1")]
        assert found == pytest.approx(recalls.tolist())
    assert [each["rows"] for each in document["labels"]["classes"]] == np.bincount(labels.astype(int)).tolist()


def test_figures_of_many_classes_are_those_of_scikit_learn(classes: Any) -> None:
    run, labels, rounds = classes
    metrics = pytest.importorskip("sklearn.metrics")
    document = numbers_of(trainwarden.open(run))
    report = document["classification"]
    predicted = rounds[-1].argmax(axis=1)
    compare(report, labels, predicted)
    assert report["confusion"] == metrics.confusion_matrix(labels, predicted, labels=range(8)).tolist()
    assert report["roc"] is None and "5" not in report["recall_by_round"]["classes"]


def test_figures_of_a_regression_are_those_of_scikit_learn(regression: Any) -> None:
    run, labels, rounds = regression
    metrics = pytest.importorskip("sklearn.metrics")
    document = numbers_of(trainwarden.open(run))
    report = document["regression"]
    assert report["mean_absolute_error"] == pytest.approx(metrics.mean_absolute_error(labels, rounds[-1]), rel=1e-6)
    assert report["root_mean_squared_error"] ** 2 == pytest.approx(
        metrics.mean_squared_error(labels, rounds[-1]), rel=1e-6
    )
    assert report["r2"] == pytest.approx(metrics.r2_score(labels, rounds[-1]), rel=1e-6)
    assert sum(report["residuals"]["counts"]) == sum(document["labels"]["counts"]) == ROWS
    by_round = report["error_by_round"]
    low, high = by_round["edges"][3:5]
    inside = (labels >= low) & (labels < high)
    for step, predictions in enumerate(rounds):
        expected = np.abs(labels[inside].astype(float) - predictions[inside]).mean()
        assert by_round["bins"][3][step] == pytest.approx(expected)


def test_losses_and_importances_are_there(binary: Any) -> None:
    document = numbers_of(trainwarden.open(binary[0]))
    (metric,) = document["metrics"]
    assert metric["metric"] == "logloss" and metric["is_loss"]
    assert metric["sets"]["train"] == {"steps": [0, 1, 2], "values": pytest.approx([1, 1 / 2, 1 / 3])}
    assert list(document["importance"]["kinds"]["gain"]) == ["column <2>", "column <1>", "column <0>"]
    assert document["parameters"] == {"objective": "binary:logistic", "eta": "0.3"}


class Checker(HTMLParser):
    """What a page needs from elsewhere, whether its elements are closed, and what its pictures are called."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.names: list[str] = []
        self.outside: list[str] = []
        self.ids: set[str] = set()
        self.targets: set[str] = set()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, Any]]) -> None:
        given = dict(attrs)
        if tag not in ("meta", "rect", "line", "circle") or tag == "rect":
            self.open.append(tag)
        if tag == "svg":
            self.names.append(given.get("aria-label", "") if given.get("role") == "img" else "")
        self.ids.update([given["id"]] if "id" in given else [])
        target = given.get("href", "")
        self.targets.update([target[1:]] if target.startswith("#") else [])
        self.outside += [tag] if tag in ("script", "link", "img", "iframe") or "src" in given else []
        self.outside += [target] if target and not target.startswith("#") else []

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, Any]]) -> None:
        pass

    def handle_endtag(self, tag: str) -> None:
        if tag == "circle":
            return
        assert self.open.pop() == tag


@pytest.mark.parametrize("name", ["binary", "classes", "regression"])
def test_the_page_stands_alone_and_names_its_pictures(name: str, request: pytest.FixtureRequest) -> None:
    page = page_of(numbers_of(trainwarden.open(request.getfixturevalue(name)[0])))
    checker = Checker()
    checker.feed(page)
    assert checker.open == [] and checker.outside == []
    assert len(checker.names) >= 4 and all(checker.names)
    assert checker.targets and checker.targets <= checker.ids
    assert "prefers-color-scheme:dark" in page and "http" not in page
    assert "column &lt;2&gt;" in page and "column <2>" not in page, "names of features are no HTML"
    assert "nan" not in re.sub(r"<style>.*</style>", "", page).lower()


def test_what_the_run_does_not_hold_is_said(tmp_path: Path) -> None:
    with trainwarden.Hook(tmp_path / "run", save_all=True) as hook:
        hook.observe(hook.declare("train-rmse", ["metrics", "losses"]), 1.0)
        hook.step()
    document = numbers_of(trainwarden.open(tmp_path / "run"))
    assert len(document["missing"]) == 2 and "predictions,labels" in document["missing"][1]
    assert "What the run does not hold" in page_of(document)


def test_another_run_is_refused(tmp_path: Path) -> None:
    with trainwarden.Hook(tmp_path / "run", save_all=True) as hook:
        hook.save_scalar("loss", 1.0)
        hook.step()
    with pytest.raises(FailedPrecondition, match="expected a run of XGBoost or LightGBM"):
        write_report(tmp_path / "run")
    with pytest.raises(PathNotFound):
        write_report(tmp_path / "none")


def test_a_file_of_others_is_not_replaced(binary: Any, tmp_path: Path) -> None:
    written = write_report(binary[0])
    assert written.page == binary[0] / "reports" / "xgboost_report.html"
    assert write_report(binary[0]).page.read_text() == written.page.read_text()
    (tmp_path / "xgboost_report.html").write_text("somebody's own")
    with pytest.raises(AlreadyExists, match="no report that was written here"):
        write_report(binary[0], tmp_path)
    assert (tmp_path / "xgboost_report.html").read_text() == "somebody's own"


def test_numbers_that_are_none_are_null(tmp_path: Path) -> None:
    labels = np.zeros(10, np.float32)
    run = run_of(tmp_path / "run", "binary:logistic", labels, [np.full(10, 0.2, np.float32)])
    document = numbers_of(trainwarden.open(run))
    assert document["classification"]["roc"] is None, "there is one class only"
    constant = run_of(tmp_path / "constant", "reg:squarederror", labels, [np.full(10, 0.5, np.float32)])
    assert numbers_of(trainwarden.open(constant))["regression"]["r2"] is None
    json.dumps(document, allow_nan=False)
    page_of(numbers_of(trainwarden.open(constant)))


@pytest.mark.parametrize("objective", ["rank:ndcg", "survival:cox"])
def test_what_is_no_prediction_of_a_label_is_not_compared(tmp_path: Path, objective: str) -> None:
    labels = RANDOM.integers(0, 3, 20).astype(np.float32)
    run = run_of(tmp_path / "run", objective, labels, [RANDOM.random(20).astype(np.float32)])
    document = numbers_of(trainwarden.open(run))
    assert document["task"] == "other" and objective in document["missing"][0]
    page_of(document)


@pytest.mark.parametrize(
    ("objective", "predictions", "confusion"),
    [
        ("binary:logitraw", [-0.4, 0.2, 3.0, -1.0], [[1, 0], [1, 2]]),
        ("multi:softmax", [0, 2, 1, 1], [[1, 0, 0], [0, 2, 1], [0, 0, 0]]),
        ("an objective of one's own", [0.1, 0.7, 0.9, 0.2], [[1, 0], [1, 2]]),
    ],
)
def test_each_objective_has_its_own_way_to_say_a_class(
    tmp_path: Path, objective: str, predictions: list[float], confusion: list[list[int]]
) -> None:
    labels = np.array([0, 1, 1, 1], np.float32)
    run = run_of(tmp_path / "run", objective, labels, [np.array(predictions, np.float32)])
    assert numbers_of(trainwarden.open(run))["classification"]["confusion"] == confusion


def call(*arguments: str, module: str = "xgboost", **variables: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", f"trainwarden.{module}.report", *arguments],
        capture_output=True, text=True, timeout=120, check=False, env={**os.environ, "PYTHONWARNINGS": "error", **variables},
    )  # fmt: skip


def test_the_command(binary: Any, tmp_path: Path) -> None:
    run = str(binary[0])
    told = call(run, "--out", str(tmp_path / "out"))
    assert (told.returncode, told.stderr) == (0, "") and told.stdout.strip().endswith("xgboost_report.html")
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == ["xgboost_report.html", "xgboost_report.json"]
    numbers = json.loads((tmp_path / "out" / "xgboost_report.json").read_text())["trainwarden_tree_report"]
    printed = call(binary[0].name, "--runs", str(tmp_path), "--json", module="lightgbm")
    assert json.loads(printed.stdout) == numbers and not (binary[0] / "reports").exists()


def test_the_command_of_an_action_needs_no_run(binary: Any, tmp_path: Path) -> None:
    told = call("--out", str(tmp_path / "out"), TRAINWARDEN_RUN_PATH=str(binary[0]))
    assert (told.returncode, told.stderr) == (0, "") and (tmp_path / "out" / "xgboost_report.html").is_file()


def test_the_command_says_what_is_wrong(tmp_path: Path) -> None:
    assert "Exit codes:" in call("--help").stdout
    assert call().returncode == 2
    wrong = call(str(tmp_path / "none"))
    assert wrong.returncode == 1 and wrong.stdout == "" and "no run at" in wrong.stderr
    assert "Traceback" not in wrong.stderr
