"""Programs that train with LightGBM: nothing that they do changes, and their runs hold what was trained."""

from __future__ import annotations

import json
import re
from pathlib import Path

import lightgbm as lgb
import numpy as np
import pytest
from untouched import Captured, Runner

import trainwarden
from trainwarden.tree_report import numbers_of, page_of

WAYS = [
    "plain", "no_metrics", "unnamed", "dart", "dart_unvalidated", "random_forest", "goss", "stops_early",
    "stops_early_by_parameter", "classes", "own_objective", "own_metric", "categories", "verbose", "made_before",
    "continues", "callbacks",
]  # fmt: skip


@pytest.mark.parametrize("way", WAYS)
def test_nothing_that_a_training_does_changes(runner: Runner, way: str) -> None:
    ran = runner.captured("train.py", way)
    assert ran.plain.exit_code == ran.attached.exit_code == 0, ran.attached.stderr
    assert without_times(ran.attached.stdout) == without_times(ran.plain.stdout)
    assert "error" not in ran.attached.stderr, ran.attached.stderr


@pytest.mark.parametrize("way", ["own_kinds", "pickled"])
def test_nothing_of_the_programs_own_is_asked_or_changed(runner: Runner, way: str) -> None:
    ran = runner.captured("odd.py", way)
    assert ran.plain.exit_code == ran.attached.exit_code == 0, ran.attached.stderr
    assert ran.attached.stdout == ran.plain.stdout
    assert ran.trial.steps("train")


def without_times(text: str) -> str:
    """LightGBM says how long it took to choose how it counts."""
    return re.sub(r"was [0-9.]+ seconds", "was ... seconds", text)


@pytest.mark.parametrize("program", ["own_loop.py", "estimator.py", "cross_validation.py"])
def test_nothing_that_a_program_does_changes(runner: Runner, program: str) -> None:
    ran = runner.captured(program)
    assert ran.plain.exit_code == ran.attached.exit_code == 0, ran.attached.stderr
    assert ran.attached.stdout == ran.plain.stdout
    assert "error" not in ran.attached.stderr, ran.attached.stderr


def rounds_of(ran: Captured) -> int:
    """Of early stopping, which comes two rounds behind the best one, LightGBM keeps the trees up to the best."""
    line = next(line for line in ran.plain.stdout.splitlines() if line.startswith("model "))
    best, kept = (int(each) for each in line.split()[-2:])
    return best + 2 if best else kept


@pytest.mark.parametrize("way", ["plain", "dart", "random_forest", "stops_early", "classes", "own_objective"])
def test_a_round_is_a_step(runner: Runner, way: str) -> None:
    ran = runner.captured("train.py", way)
    assert ran.trial.steps("train") == list(range(rounds_of(ran)))
    assert ran.trial.state.value == "completed" and ran.trial.losses == []
    assert way != "stops_early" or rounds_of(ran) < 60, "it was to stop early"


def test_metrics_are_those_that_lightgbm_says(runner: Runner) -> None:
    ran = runner.captured("train.py", "callbacks")
    said = json.loads(ran.plain.stdout.splitlines()[-1])
    for data, metrics in said.items():
        for metric, values in metrics.items():
            assert [ran.trial.scalar(f"{data}-{metric}", step) for step in range(10)] == values
    assert sorted(ran.trial.tensor_names(collection="losses")) == ["train-binary_logloss", "validation-binary_logloss"]
    assert len(ran.trial.tensor_names(collection="metrics")) == 4


def test_sets_keep_the_names_that_lightgbm_gives(runner: Runner) -> None:
    trial = runner.captured("train.py", "unnamed").trial
    assert sorted(trial.tensor_names(collection="losses")) == ["training-binary_logloss", "valid_1-binary_logloss"]


def test_a_metric_of_ones_own_is_there(runner: Runner) -> None:
    trial = runner.captured("train.py", "own_metric").trial
    assert {"train-offset", "validation-offset"} <= set(trial.tensor_names(collection="losses"))


def test_a_training_without_metrics_gets_that_of_its_objective(runner: Runner) -> None:
    trial = runner.captured("train.py", "no_metrics").trial
    losses = [trial.scalar("training-binary_logloss", step) for step in (0, 1, 3, 7, 9)]
    assert losses == sorted(losses, reverse=True) and losses[0] > losses[-1]


def test_importances_are_parts_of_a_whole(runner: Runner) -> None:
    trial = runner.captured("train.py", "plain").trial
    for kind in ("split", "weight", "gain"):
        names = [name for name in trial.tensor_names() if name.startswith(f"feature_importance/{kind}/")]
        assert len(names) == 6 and f"feature_importance/{kind}/income" in names
        assert sum(trial.scalar(name, 9) for name in names) == pytest.approx(1)
    gains = {name: trial.scalar(f"feature_importance/gain/{name}", 9) for name in ("income", "noise")}
    assert gains["income"] > gains["noise"]


def test_trees_are_those_of_the_round(runner: Runner) -> None:
    for way, trees in (("plain", 1), ("classes", 3)):
        trial = runner.captured("train.py", way).trial
        for step in (0, 5, 9):
            numbers = np.asarray(trial.value("trees/Tree", step))
            assert sorted(set(numbers.tolist())) == list(range(step * trees, (step + 1) * trees)), (way, step)
    trial = runner.captured("train.py", "plain").trial
    features, nodes = trial.value("trees/Feature", 0), np.asarray(trial.value("trees/Node", 0))
    assert "income" in features and "Leaf" in features
    assert nodes.max() <= 14, "no node lies deeper than max_depth"


def test_columns_are_the_trees_of_lightgbm() -> None:
    random = np.random.default_rng(1)
    features, labels = random.random((300, 4)), random.random(300)
    features[::7, 1] = np.nan
    booster = lgb.train({"num_threads": 1, "verbosity": -1}, lgb.Dataset(features, labels), num_boost_round=2)
    from trainwarden.lightgbm.trees import columns_of

    dump = booster.dump_model()
    columns = {name: list(column) for name, column in columns_of(dump["tree_info"], dump["feature_names"]).items()}
    rows = [dict(zip(columns, row)) for row in zip(*columns.values())]
    by_id = {row["ID"]: row for row in rows}

    def predicted(sample: np.ndarray) -> float:
        total = 0.0
        for tree in (0, 1):
            row = by_id[f"{tree}-0"]
            while row["Feature"] != "Leaf":
                value = sample[dump["feature_names"].index(row["Feature"])]
                key = "Missing" if np.isnan(value) else "Yes" if value <= row["Split"] else "No"
                row = by_id[row[key]]
            total += row["Gain"]
        return total

    assert [predicted(sample) for sample in features] == pytest.approx(booster.predict(features).tolist())
    assert by_id["0-0"]["Cover"] == 300 and by_id["0-0"]["Node"] == 0


def test_predictions_and_labels_belong_together(runner: Runner) -> None:
    for way in ("plain", "stops_early", "dart"):
        ran = runner.captured("train.py", way)
        last = rounds_of(ran) - 1
        predictions, labels = (np.asarray(ran.trial.value(name, last)) for name in ("predictions", "labels"))
        assert predictions.shape == labels.shape == (100,)
        assert ((predictions > 0.5) == labels).mean() > 0.7, way
    assert np.asarray(runner.captured("train.py", "classes").trial.value("predictions", 9)).shape == (100, 3)
    trial = runner.captured("train.py", "no_metrics").trial
    assert np.asarray(trial.value("predictions", 9)).shape == (200,), "nothing is evaluated: what is trained with"
    assert not runner.captured("train.py", "dart_unvalidated").trial.has_tensor("predictions")


def test_a_run_has_its_report(runner: Runner) -> None:
    for way, task in (("plain", "binary"), ("classes", "classes"), ("stops_early", "binary")):
        ran = runner.captured("train.py", way)
        document = numbers_of(ran.trial)
        assert document["task"] == task and document["missing"] == [], way
        assert set(document["importance"]["kinds"]) == {"split", "gain"}
        last = rounds_of(ran) - 1
        predictions, labels = (np.asarray(ran.trial.value(name, last)) for name in ("predictions", "labels"))
        predicted = predictions.argmax(axis=1) if task == "classes" else predictions > 0.5
        assert document["classification"]["accuracy"] == pytest.approx((predicted == labels).mean())
        assert "Confusion matrix" in page_of(document)
    own = numbers_of(runner.captured("train.py", "own_objective").trial)
    assert own["task"] == "regression", "an objective of the program's own that predicts less than 0"


def test_contributions_add_up_to_the_margin(runner: Runner) -> None:
    trial = runner.captured("train.py", "verbose", "made_before").trial
    names = trial.tensor_names(collection="full_shap")
    assert len(names) == 7 and "full_shap/bias" in names
    margin = sum(np.asarray(trial.value(name, 9)) for name in names)
    predictions = np.asarray(trial.value("predictions", 9))
    np.testing.assert_allclose(1 / (1 + np.exp(-margin)), predictions, atol=1e-5)
    classes = runner.captured("train.py", "classes").trial
    assert np.asarray(classes.value("full_shap/age", 9)).shape == (100, 3)
    freed = runner.captured("train.py", "made_before").attached.stderr
    assert "LightGBM has freed the rows before the training began" in freed


def test_hyperparameters_are_labels_and_tensors(runner: Runner) -> None:
    trial = runner.captured("train.py", "plain").trial
    assert trial.labels["max_depth"] == "3" and trial.labels["objective"] == "binary"
    assert trial.labels["learning_rate"] == "0.1", "it was not given"
    assert trial.scalar("hyperparameters/num_leaves", 0) == 7
    assert list(trial.value("hyperparameters/metric", 0)) == ["auc", "binary_logloss"]
    assert runner.captured("train.py", "own_objective").trial.labels["objective"] == "squared"


def test_a_training_that_goes_on_counts_on(runner: Runner) -> None:
    ran = runner.captured("train.py", "continues")
    assert ran.trial.steps("train") == [0, 1, 2, 3]
    assert trainwarden.open(f"{ran.run_dir}-2").steps("train") == [4, 5, 6, 7, 8, 9]


def test_each_training_is_a_run(runner: Runner) -> None:
    ran = runner.captured("estimator.py")
    trials = [ran.trial, *(trainwarden.open(f"{ran.run_dir}-{number}") for number in (2, 3, 4))]
    assert [len(trial.steps("train")) for trial in trials] == [5, 5, 4, 3]
    losses = [trial.tensor_names(collection="losses") for trial in trials]
    assert losses[:3] == [["valid_0-binary_logloss"], ["training-binary_logloss"], ["training-l2"]]
    assert all(trial.state.value == "completed" for trial in trials)


def test_a_process_of_two_frameworks_has_a_run_of_each(runner: Runner) -> None:
    pytest.importorskip("xgboost")
    ran = runner.captured("both.py")
    assert ran.attached.stdout == ran.plain.stdout and "captured in" not in ran.attached.stderr
    assert ran.trial.steps("train") == [0, 1]
    assert trainwarden.open(f"{ran.run_dir}-2").steps("train") == [0, 1, 2]


def test_a_loop_of_ones_own(runner: Runner) -> None:
    ran = runner.captured("own_loop.py")
    assert ran.trial.steps("train") == list(range(6))
    assert ran.trial.scalar("training-binary_logloss", 3) < ran.trial.scalar("training-binary_logloss", 0)
    assert ran.trial.state.value == "completed"


def test_a_cross_validation_is_one_run(runner: Runner) -> None:
    ran = runner.captured("cross_validation.py")
    said = json.loads(ran.plain.stdout)
    assert [ran.trial.scalar("valid-binary_logloss", step) for step in range(4)] == said["valid binary_logloss-mean"]
    assert [ran.trial.scalar("valid-binary_logloss-std", step) for step in range(4)] == said[
        "valid binary_logloss-stdv"
    ]
    assert ran.trial.tensor_names(collection="losses") == ["valid-binary_logloss"]


def test_an_error_of_the_program_is_the_programs(runner: Runner) -> None:
    ran = runner.captured("train.py", "fails")
    assert ran.plain.exit_code == ran.attached.exit_code == 1
    assert "a callback of the program's own" in ran.attached.stderr
    assert ran.trial.steps("train") == [0, 1, 2, 3]


def test_wrong_parameters_are_told_by_lightgbm_alone(runner: Runner, tmp_path: Path) -> None:
    program = (
        "import lightgbm as lgb; from data import datasets; "
        "lgb.train({'objective': 'nonsense', 'verbosity': -1}, datasets()[0], 3)"
    )
    ended = runner.start("-c", program, environment=runner.attached_environment(tmp_path / "run"))
    assert ended.exit_code == 1 and "Unknown objective type" in ended.stderr
    assert "trainwarden: " not in ended.stderr and not (tmp_path / "run").exists()


def test_a_request_ends_the_training(runner: Runner, tmp_path: Path) -> None:
    program = (
        "import os, trainwarden, lightgbm as lgb\n"
        "from data import PARAMS, datasets, finish\n"
        "def stop(env):\n"
        "    if env.iteration == 2: trainwarden.stop(os.environ['TRAINWARDEN_RUN_DIR'], wait=False)\n"
        "finish(lgb.train(PARAMS, datasets()[0], num_boost_round=5000, callbacks=[stop]))\n"
    )
    environment = {**runner.attached_environment(tmp_path / "run"), "PYTHONDONTWRITEBYTECODE": "1"}
    ended = runner.start("-c", program, environment=environment)
    assert ended.exit_code == 0, ended.stderr
    best, rounds = (int(each) for each in ended.stdout.split()[-2:])
    assert best == rounds < 5000


def test_without_a_word_the_costly_is_kept_rarely(runner: Runner, tmp_path: Path) -> None:
    ended = runner.start("train.py", "plain", environment=runner.attached_environment(tmp_path / "run"))
    assert (ended.exit_code, ended.stderr) == (0, "")
    trial = trainwarden.open(tmp_path / "run")
    assert trial.tensor("trees/Node").steps("train") == [0, 1, 3, 7, 9]
    assert trial.tensor("train-binary_logloss").steps("train") == list(range(10))
    assert not [name for name in trial.tensor_names() if "_shap/" in name]


def test_a_fault_of_ours_is_not_the_programs(runner: Runner, tmp_path: Path) -> None:
    broken = (
        "import sys; sys.argv = ['train.py', 'plain']\n"
        "import lightgbm, trainwarden.boosting.recorder as recorder, trainwarden.faults as faults\n"
        "faults.TOLERATED_FAULTS = 6\n"
        "def broken(*args): raise ValueError('broken')\n"
        "recorder.Recorder.record_metrics = recorder.Recorder.record_round = broken\n"
        "exec(open('train.py').read())\n"
    )
    ended = runner.start("-c", broken, environment=runner.attached_environment(tmp_path / "run"))
    assert (ended.exit_code, ended.stdout) == (0, runner.captured("train.py", "plain").plain.stdout)
    assert "could not record a boosting round: ValueError: broken" in ended.stderr
    assert "6 faults of the adapter: nothing more is captured in this process" in ended.stderr
    assert trainwarden.open(tmp_path / "run").state.value == "completed"


def test_attach_and_detach_in_a_process_that_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import trainwarden.lightgbm as twl

    monkeypatch.setenv("TRAINWARDEN_SAVE_ALL", "1")
    random = np.random.default_rng(1)
    features, labels = random.random((50, 3)), random.random(50)
    for name in ("first", "second"):
        twl.attach(str(tmp_path / name))
        lgb.train({"num_threads": 1, "verbosity": -1}, lgb.Dataset(features, labels), num_boost_round=3)
        twl.detach()
        lgb.train({"num_threads": 1, "verbosity": -1}, lgb.Dataset(features, labels), num_boost_round=2)
        assert trainwarden.open(tmp_path / name).steps("train") == [0, 1, 2]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["first", "second"]
