"""Programs that train with XGBoost: nothing that they do changes, and their runs hold what was trained."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Optional

import numpy as np
import pytest
import xgboost as xgb
from untouched import Captured, Runner

import trainwarden
from trainwarden.boosting.session import Session
from trainwarden.boosting.training import Column
from trainwarden.xgboost.callback import RoundCallback
from trainwarden.xgboost.facts import IMPORTANCES
from trainwarden.xgboost.training import XGBoostTraining
from trainwarden.xgboost.trees import columns_of

WAYS = ["plain", "no_metrics", "dart", "linear", "stops_early", "classes", "own_objective", "forest", "continues"]


@pytest.mark.parametrize("way", WAYS)
def test_nothing_that_a_training_does_changes(runner: Runner, way: str) -> None:
    ran = runner.captured("train.py", way)
    assert ran.plain.exit_code == ran.attached.exit_code == 0, ran.attached.stderr
    assert ran.attached.stdout == ran.plain.stdout
    assert "error" not in ran.attached.stderr, ran.attached.stderr


@pytest.mark.parametrize("program", ["own_loop.py", "estimator.py", "cross_validation.py"])
def test_nothing_that_a_program_does_changes(runner: Runner, program: str) -> None:
    ran = runner.captured(program)
    assert ran.plain.exit_code == ran.attached.exit_code == 0, ran.attached.stderr
    assert ran.attached.stdout == ran.plain.stdout
    assert ran.attached.stderr == ran.plain.stderr


@pytest.mark.parametrize("way", ["read_once", "own_kinds", "evaluated_later", "warns", "lets_go"])
def test_nothing_of_the_programs_own_is_asked_changed_or_kept(runner: Runner, way: str) -> None:
    ran = runner.captured("odd.py", way)
    assert ran.plain.exit_code == ran.attached.exit_code == 0, ran.attached.stderr
    assert ran.attached.stdout == ran.plain.stdout
    assert ran.attached.stderr == ran.plain.stderr
    assert ran.trial.steps("train")


def rounds_of(ran: Captured) -> int:
    return int(ran.plain.stdout.split()[-1])


@pytest.mark.parametrize("way", ["plain", "dart", "stops_early", "classes", "own_objective", "forest"])
def test_a_round_is_a_step(runner: Runner, way: str) -> None:
    ran = runner.captured("train.py", way)
    assert ran.trial.steps("train") == list(range(rounds_of(ran)))
    assert ran.trial.state.value == "completed"
    assert way != "stops_early" or rounds_of(ran) < 50, "it was to stop early"


def test_metrics_are_those_that_xgboost_says(runner: Runner) -> None:
    ran = runner.captured("train.py", "plain")
    program = (
        "import json, sys; sys.argv = ['train.py', 'plain']; import xgboost as xgb; keep = {}; original = xgb.train;"
        "xgb.train = lambda *a, **k: original(*a, evals_result=keep, **k); exec(open('train.py').read());"
        "print(json.dumps(keep))"
    )
    said = json.loads(runner.start("-c", program, environment=dict(os.environ)).stdout.splitlines()[-1])
    for data, metrics in said.items():
        for metric, values in metrics.items():
            assert [ran.trial.scalar(f"{data}-{metric}", step) for step in range(10)] == values
    assert sorted(ran.trial.tensor_names(collection="losses")) == ["train-logloss", "validation-logloss"]
    assert len(ran.trial.tensor_names(collection="metrics")) == 4


def test_a_training_without_metrics_gets_that_of_its_objective(runner: Runner) -> None:
    trial = runner.captured("train.py", "no_metrics").trial
    losses = [trial.scalar("train-logloss", step) for step in (0, 1, 3, 7, 9)]
    assert losses == sorted(losses, reverse=True) and losses[0] > losses[-1]


def test_importances_are_parts_of_a_whole(runner: Runner) -> None:
    trial = runner.captured("train.py", "plain").trial
    for kind in IMPORTANCES:
        names = [name for name in trial.tensor_names() if name.startswith(f"feature_importance/{kind}/")]
        assert len(names) == 6 and f"feature_importance/{kind}/income" in names
        assert sum(trial.scalar(name, 9) for name in names) == pytest.approx(1)
    gains = {name: trial.scalar(f"feature_importance/gain/{name}", 9) for name in ("income", "noise")}
    assert gains["income"] > gains["noise"]


def test_trees_are_those_of_the_round(runner: Runner) -> None:
    for way, trees in (("plain", 1), ("classes", 3), ("forest", 3)):
        trial = runner.captured("train.py", way).trial
        for step in (0, 5, 9):
            numbers = np.asarray(trial.value("trees/Tree", step))
            assert sorted(set(numbers.tolist())) == list(range(step * trees, (step + 1) * trees)), (way, step)
            assert len(trial.value("trees/Feature", step)) == len(numbers)
    trial = runner.captured("train.py", "plain").trial
    features = trial.value("trees/Feature", 0)
    assert "income" in features and "Leaf" in features
    assert runner.captured("train.py", "linear").trial.steps("train") == list(range(10)), "a model without trees"


def test_columns_are_those_of_xgboost() -> None:
    pandas = pytest.importorskip("pandas")
    random = np.random.default_rng(1)
    features, labels = random.random((200, 4)), random.random(200)
    features[::7, 1] = np.nan
    booster = xgb.train({"max_depth": 4, "nthread": 1}, xgb.DMatrix(features, labels), num_boost_round=3)
    frame = booster.trees_to_dataframe()
    columns = columns_of(booster.get_dump(with_stats=True, dump_format="json"), 0)
    columns.pop("Depth")
    for name, column in columns.items():
        expected = frame[name]
        if isinstance(column, np.ndarray):
            np.testing.assert_allclose(column, expected.to_numpy(), rtol=1e-5)
        else:
            assert column == ["" if pandas.isna(value) else value for value in expected], name


def test_the_depth_of_a_lopsided_tree_is_told_right() -> None:
    """One branch that goes on: XGBoost numbers its nodes by their order, 1 and 2, 3 and 4, ..."""
    features = np.arange(64.0).reshape(-1, 1)
    params = {"max_depth": 6, "nthread": 1, "min_child_weight": 1, "lambda": 0, "eta": 1}
    booster = xgb.train(params, xgb.DMatrix(features, 2.0 ** features[:, 0]), num_boost_round=1)
    columns = columns_of(booster.get_dump(with_stats=True, dump_format="json"), 0)
    assert max(columns["Depth"]) == 6 and columns["Depth"][0] == 0
    assert max(columns["Node"]) < 2**6 - 1, "by its numbers it is less deep"


def test_predictions_and_labels_belong_together(runner: Runner) -> None:
    trial = runner.captured("train.py", "plain").trial
    predictions, labels = (np.asarray(trial.value(name, 9)) for name in ("predictions", "labels"))
    assert predictions.shape == labels.shape == (100,)
    assert ((predictions > 0.5) == labels).mean() > 0.8
    assert np.asarray(runner.captured("train.py", "classes").trial.value("predictions", 9)).shape == (100, 3)


def test_contributions_add_up_to_the_margin(runner: Runner) -> None:
    trial = runner.captured("train.py", "plain").trial
    names = trial.tensor_names(collection="full_shap")
    assert len(names) == 7 and "full_shap/bias" in names
    margin = sum(np.asarray(trial.value(name, 9)) for name in names)
    predictions = np.asarray(trial.value("predictions", 9))
    np.testing.assert_allclose(1 / (1 + np.exp(-margin)), predictions, atol=1e-5)
    mean = np.asarray(trial.value("full_shap/age", 9)).mean()
    assert float(np.asarray(trial.value("average_shap/age", 9))) == pytest.approx(float(mean), abs=1e-6)


def test_hyperparameters_are_labels_and_tensors(runner: Runner) -> None:
    trial = runner.captured("train.py", "plain").trial
    assert trial.labels["max_depth"] == "3" and trial.labels["objective"] == "binary:logistic"
    assert trial.scalar("hyperparameters/eta", 0) == 0.3
    assert list(trial.value("hyperparameters/eval_metric", 0)) == ["auc", "logloss"]


def test_a_training_that_goes_on_counts_on(runner: Runner) -> None:
    ran = runner.captured("train.py", "continues")
    assert ran.trial.steps("train") == [0, 1, 2, 3] and ran.trial.labels["total_steps"] == "4"
    second = trainwarden.open(f"{ran.run_dir}-2")
    assert second.steps("train") == [4, 5, 6, 7, 8, 9] and second.labels["total_steps"] == "10"


def test_a_loop_of_ones_own_says_no_length(runner: Runner) -> None:
    assert "total_steps" not in runner.captured("own_loop.py").trial.labels


def test_each_training_is_a_run(runner: Runner) -> None:
    ran = runner.captured("estimator.py")
    assert ran.trial.tensor_names(collection="losses") == ["validation_0-logloss"]
    second = trainwarden.open(f"{ran.run_dir}-2")
    assert second.tensor_names(collection="losses") == ["train-logloss"]
    assert ran.trial.steps("train") == second.steps("train") == list(range(5))
    assert second.state.value == "completed"


def test_a_loop_of_ones_own(runner: Runner) -> None:
    ran = runner.captured("own_loop.py")
    assert ran.trial.steps("train") == list(range(6))
    assert ran.trial.scalar("train-logloss", 3) < ran.trial.scalar("train-logloss", 0)
    assert ran.trial.state.value == "completed"


def test_a_cross_validation_is_one_run(runner: Runner) -> None:
    ran = runner.captured("cross_validation.py")
    assert ran.trial.steps("train") == list(range(4))
    said = json.loads(ran.plain.stdout.replace("'", '"'))["test-logloss-mean"]
    assert [round(ran.trial.scalar("test-logloss", step), 6) for step in range(4)] == said
    assert ran.trial.tensor_names(collection="losses") == ["test-logloss", "train-logloss"]


def test_an_error_of_the_program_is_the_programs(runner: Runner) -> None:
    ran = runner.captured("train.py", "fails")
    assert ran.plain.exit_code == ran.attached.exit_code == 1
    assert "a callback of the program's own" in ran.attached.stderr
    assert ran.trial.steps("train") == [0, 1, 2, 3]


def test_our_callback_is_the_first_of_a_set() -> None:
    others = [xgb.callback.TrainingCallback() for _ in range(50)]
    ours = RoundCallback(Session(None, XGBoostTraining({}, None)))
    assert next(iter({ours, *others})) is ours, "XGBoost 1 keeps them so"


def test_wrong_parameters_are_told_by_xgboost_alone(runner: Runner, tmp_path: Path) -> None:
    program = "import xgboost as xgb; from data import matrices; xgb.train({'objective': 'nonsense'}, matrices()[0], 3)"
    ended = runner.start("-c", program, environment=runner.attached_environment(tmp_path / "run"))
    assert ended.exit_code == 1 and "Unknown objective function" in ended.stderr
    assert "trainwarden: " not in ended.stderr


def test_what_xgboost_cannot_say_is_left_out(runner: Runner, tmp_path: Path) -> None:
    program = (
        "import numpy as np, xgboost as xgb\n"
        "random = np.random.default_rng(1)\n"
        "data = xgb.DMatrix(random.random((50, 3)), random.random((50, 2)))\n"
        "xgb.train({'nthread': 1, 'multi_strategy': 'multi_output_tree', 'tree_method': 'hist'}, data, 3)\n"
    )
    ended = runner.start("-c", program, environment=runner.attached_environment(tmp_path / "run"))
    assert ended.exit_code == 0, ended.stderr
    trial = trainwarden.open(tmp_path / "run")
    assert trial.steps("train") == [0, 1, 2] and trial.has_tensor("train-rmse")
    assert ended.stderr.count("\n") <= 1, "XGBoost 3.2 has no statistics of such trees"


def test_what_cannot_be_had_is_said_once_whatever_time_it_is(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """Messages of XGBoost's begin with the time."""

    class WithoutTrees(XGBoostTraining):
        def last_trees(self, model: object, most: Optional[int] = None) -> dict[str, Column]:
            raise RuntimeError(f"[23:59:0{model.num_boosted_rounds()}] no such trees")  # type: ignore[attr-defined]

    data = xgb.DMatrix(np.arange(20.0).reshape(10, 2), np.arange(10.0))
    session = Session(str(tmp_path / "run"), WithoutTrees({}, data))
    xgb.train({"nthread": 1}, data, 4, callbacks=[RoundCallback(session)])
    session.close()
    assert capfd.readouterr().err.count("no such trees") == 1


def test_a_request_ends_the_training(runner: Runner, tmp_path: Path) -> None:
    program = (
        "import os, trainwarden, xgboost as xgb\n"
        "from data import finish, matrices\n"
        "class Stop(xgb.callback.TrainingCallback):\n"
        "    def after_iteration(self, model, epoch, evals_log):\n"
        "        if epoch == 2: trainwarden.stop(os.environ['TRAINWARDEN_RUN_DIR'], wait=False)\n"
        "        return False\n"
        "train, _ = matrices()\n"
        "finish(xgb.train({'nthread': 1}, train, num_boost_round=5000, callbacks=[Stop()]))\n"
    )
    environment = {**runner.attached_environment(tmp_path / "run"), "PYTHONDONTWRITEBYTECODE": "1"}
    ended = runner.start("-c", program, environment=environment)
    assert ended.exit_code == 0, ended.stderr
    assert int(ended.stdout.split()[-1]) < 5000


def test_without_a_word_the_costly_is_kept_rarely(runner: Runner, tmp_path: Path) -> None:
    environment = runner.attached_environment(tmp_path / "run")
    ended = runner.start("train.py", "plain", environment=environment)
    assert ended.exit_code == 0, ended.stderr
    trial = trainwarden.open(tmp_path / "run")
    assert trial.tensor("trees/Node").steps("train") == [0, 1, 3, 7, 9]
    assert trial.tensor("train-logloss").steps("train") == list(range(10))
    assert not [name for name in trial.tensor_names() if "_shap/" in name]


@pytest.mark.parametrize(("program", "arguments"), [("train.py", ["plain"]), ("own_loop.py", [])])
def test_a_fault_of_ours_is_not_the_programs(
    runner: Runner, tmp_path: Path, program: str, arguments: list[str]
) -> None:
    broken = (
        f"import sys; sys.argv = {[program, *arguments]!r}\n"
        "import xgboost, trainwarden.boosting.recorder as recorder, trainwarden.faults as faults\n"
        "faults.TOLERATED_FAULTS = 6\n"
        "def broken(*args): raise ValueError('broken')\n"
        "recorder.Recorder.record_metrics = recorder.Recorder.record_round = broken\n"
        f"exec(open({program!r}).read())\n"
    )
    ended = runner.start("-c", broken, environment=runner.attached_environment(tmp_path / "run"))
    plain = runner.captured(program, *arguments).plain
    assert (ended.exit_code, ended.stdout) == (0, plain.stdout)
    assert "could not record a boosting round: ValueError: broken" in ended.stderr
    assert "6 faults of the adapter: nothing more is captured in this process" in ended.stderr
    assert trainwarden.open(tmp_path / "run").state.value == "completed"


def test_attach_and_detach_in_a_process_that_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import trainwarden.xgboost as twx

    monkeypatch.setenv("TRAINWARDEN_SAVE_ALL", "1")
    data = xgb.DMatrix(np.random.default_rng(1).random((50, 3)), np.arange(50))
    for name in ("first", "second"):
        twx.attach(str(tmp_path / name))
        xgb.train({"nthread": 1}, data, num_boost_round=3)
        twx.detach()
        xgb.train({"nthread": 1}, data, num_boost_round=2)
        assert trainwarden.open(tmp_path / name).steps("train") == [0, 1, 2]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["first", "second"]


def test_the_program_of_the_guide(runner: Runner, tmp_path: Path) -> None:
    program = Path(__file__).parents[4] / "examples" / "boosted_trees" / "loans.py"
    ended = runner.start(str(program), "--leak", environment=runner.attached_environment(tmp_path / "run"))
    assert ended.exit_code == 0, ended.stderr
    judged = trainwarden.rules.run(
        tmp_path / "run",
        ["FeatureImportanceOverweight:tensor_regex=feature_importance/gain", "TreeDepth", "ExplodingTensor"],
        write_journal=False,
    )
    status = {one.rule_id: one.status.value for one in judged.statuses}
    assert status["FeatureImportanceOverweight"] == "IssuesFound"
    assert status["TreeDepth"] == status["ExplodingTensor"] == "NoIssuesFound", "leaves have no split: NaN"
    first = next(each for each in judged.verdicts if each.rule_id == "FeatureImportanceOverweight")
    assert first.verdict.evidence[0].tensor == "feature_importance/gain/days_overdue"
