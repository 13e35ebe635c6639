"""Estimators of scikit-learn that train step by step: nothing of what they do changes, and it is in their runs."""

from __future__ import annotations

import ast
from pathlib import Path

import numpy as np
import pytest
from untouched import EVERYTHING, Captured, Ended, Runner

import trainwarden

STEPS = {
    "network": 20, "sgd": 20, "lbfgs": None, "network_by_parts": 5, "linear": 1, "linear_by_parts": 5,
    "perceptron_by_parts": 5, "regressor_by_parts": 5, "trees": 6, "subsampled": 6, "monitored": 4, "histograms": 6,
    "judged": 6, "warm": 6,
}  # fmt: skip


def printed(ran: Captured, name: str) -> list[float]:
    line = next(line for line in ran.plain.stdout.splitlines() if line.startswith(f"{name} ["))
    return [float(value) for value in ast.literal_eval(line.partition(" ")[2])]


def scalars(trial: trainwarden.Trial, name: str) -> list[float]:
    return [trial.scalar(name, step, "train") for step in trial.tensor(name).steps("train")]


@pytest.mark.parametrize("way", STEPS)
def test_the_model_is_the_same_byte_for_byte(runner: Runner, way: str) -> None:
    ran = runner.captured("train.py", way)
    assert (ran.attached.stdout, ran.attached.stderr) == (ran.plain.stdout, ran.plain.stderr)
    assert ran.plain.exit_code == ran.attached.exit_code == 0, ran.attached.stderr


def test_methods_of_the_programs_own_are_not_called(runner: Runner) -> None:
    """Nor its handler of what NumPy divides by 0."""
    ran = runner.captured("odd.py")
    assert (ran.attached.stdout, ran.attached.stderr) == (ran.plain.stdout, ran.plain.stderr)
    assert ran.plain.exit_code == 0 and ran.trial.steps("train")


@pytest.mark.parametrize("way", STEPS)
def test_each_step_is_there(runner: Runner, way: str) -> None:
    trial = runner.captured("train.py", way).trial
    steps = trial.steps("train")
    assert steps == list(range(STEPS[way] or len(steps))) and len(steps) > 0
    assert trial.state.value == "completed" and trial.losses == []
    assert "scikit-learn" in trial.framework
    losses = trial.tensor_names(collection="losses")
    kept = [0, 1, 3, 5] if way == "histograms" else steps  # of which scikit-learn computes none without being asked
    assert set(losses) & {"loss", "train-loss"} and trial.tensor(losses[0]).steps("train") == kept


@pytest.mark.parametrize("way", ["network", "sgd"])
def test_batches_of_a_network_are_steps(runner: Runner, way: str) -> None:
    ran = runner.captured("train.py", way)
    trial = ran.trial
    losses, curve = scalars(trial, "loss"), printed(ran, "loss_curve_")
    assert trial.tensor("epoch_mean/loss").steps("train") == [4, 9, 14, 19]
    assert scalars(trial, "epoch_mean/loss") == curve
    if way == "network":  # of five batches of 40 rows each
        assert [np.mean(losses[begin : begin + 5]) for begin in range(0, 20, 5)] == pytest.approx(curve)
        return
    assert scalars(trial, "validation_score") == printed(ran, "validation_scores_")
    for step in range(1, 20):
        before, after = (trial.value("coefs/0", at, "train") for at in (step - 1, step))
        np.testing.assert_allclose(after, before - 0.001 * trial.value("gradient/coefs/0", step, "train"), rtol=1e-12)
    assert trial.tensor_names(collection="relu_outputs") == ["layer_1/outputs", "layer_2/outputs"]
    assert trial.value("layer_1/outputs", 0, "train").min() == 0


def test_parts_that_a_program_trains_with_are_steps(runner: Runner) -> None:
    ran = runner.captured("train.py", "network_by_parts")
    said = [float(line.split()[1]) for line in ran.plain.stdout.splitlines() if line.startswith("loss ")]
    assert scalars(ran.trial, "loss") == pytest.approx(said, rel=1e-14)  # its mean over batches may round once more


def test_the_loss_of_a_linear_model_is_that_of_its_rows(runner: Runner) -> None:
    ran = runner.captured("train.py", "linear_by_parts")
    said = next(line for line in ran.plain.stdout.splitlines() if line.startswith("last loss"))
    assert scalars(ran.trial, "loss")[-1] == pytest.approx(float(said.split()[2]))
    assert ran.trial.value("coef", 4, "train").shape == (3, 5)


def test_stages_of_boosted_trees_have_scores_trees_and_importances(runner: Runner) -> None:
    ran = runner.captured("train.py", "trees")
    trial = ran.trial
    assert scalars(trial, "train-loss") == printed(ran, "train_score_")
    last = [trial.scalar(f"feature_importance/gain/f{number}", 5, "train") for number in range(5)]
    assert last == pytest.approx(printed(ran, "importances"))
    nodes, features = trial.value("trees/Node", 5, "train"), trial.value("trees/Feature", 5, "train")
    assert nodes.max() <= 6 and set(map(str, features)) <= {"Leaf", *(f"f{number}" for number in range(5))}
    assert sorted(set(trial.value("trees/Tree", 5, "train"))) == [15, 16, 17], "one for each class"
    assert trial.value("predictions", 5, "train").shape == (200, 3)


def test_what_is_held_out_is_judged(runner: Runner) -> None:
    trial = runner.captured("train.py", "subsampled").trial
    assert len(scalars(trial, "validation-loss")) == len(scalars(trial, "oob-loss")) == 6
    ran = runner.captured("train.py", "judged")
    for name in ("train", "validation"):
        assert scalars(ran.trial, f"{name}-loss") == [-score for score in printed(ran, f"{name}_score_")[1:]]


def test_losses_of_histograms_fall(runner: Runner) -> None:
    trial = runner.captured("train.py", "histograms").trial
    losses = scalars(trial, "train-loss")
    assert losses == sorted(losses, reverse=True) and losses[0] > losses[-1]
    assert trial.value("predictions", 5, "train").sum(axis=1) == pytest.approx(1.0)


def test_a_training_that_goes_on_counts_on(runner: Runner) -> None:
    ran = runner.captured("train.py", "warm")
    assert trainwarden.open(f"{ran.run_dir}-2").steps("train") == [6, 7, 8]


def guarded(runner: Runner, run: Path, way: str, on_fire: str) -> Ended:
    rules = {"TRAINWARDEN_GUARD_RULES": "ExplodingTensor:collection_names=gradients", "TRAINWARDEN_ON_FIRE": on_fire}
    return runner.start("poisoned.py", way, environment={**runner.attached_environment(run), **rules})


def test_a_vetoed_batch_leaves_no_trace(runner: Runner, tmp_path: Path) -> None:
    ended = guarded(runner, tmp_path / "run", "poisoned", "skip_step")
    assert ended.stdout == runner.captured("poisoned.py", "leave_out").plain.stdout, ended.stderr
    assert ended.stderr.count("The optimizer's step is left out") == 1, ended.stderr


def test_a_rule_ends_a_fit_and_the_program_goes_on(runner: Runner, tmp_path: Path) -> None:
    ended = guarded(runner, tmp_path / "run", "fit", "stop")
    assert ended.exit_code == 0 and "epochs 0" in ended.stdout and "interrupted" in ended.stderr, ended.stderr
    assert trainwarden.open(tmp_path / "run").state.value == "stopped"


@pytest.mark.parametrize(("way", "exit_code"), [("trees", 0), ("histograms", 143)])
def test_a_request_ends_boosting(runner: Runner, way: str, exit_code: int, tmp_path: Path) -> None:
    ended = runner.start("stopping.py", way, environment=runner.attached_environment(tmp_path / "run", EVERYTHING))
    assert ended.exit_code == exit_code, ended.stderr
    trial = trainwarden.open(tmp_path / "run")
    steps = trial.steps("train")
    assert 1 <= len(steps) < 2000 and trial.state.value == "stopped", ended.stderr
    if way == "trees":
        assert ended.stdout.strip() == f"stages {len(steps)}", "each that was trained is there"


def test_without_a_word_losses_are_kept_and_nothing_is_said(runner: Runner, tmp_path: Path) -> None:
    ended = runner.start("train.py", "trees", environment=runner.attached_environment(tmp_path / "run"))
    assert ended.stdout == runner.captured("train.py", "trees").plain.stdout and ended.stderr == ""
    trial = trainwarden.open(tmp_path / "run")
    assert len(scalars(trial, "train-loss")) == 6 and "trees/Node" in trial.tensor_names()


def test_a_search_over_parameters_is_many_runs(runner: Runner, tmp_path: Path) -> None:
    environment = runner.attached_environment(tmp_path / "run", EVERYTHING)
    ended = runner.start("searching.py", environment=environment)
    assert ended.exit_code == 0 and ended.stderr == "", ended.stderr
    assert len([path for path in tmp_path.iterdir() if path.is_dir()]) == 2 * 3 + 1
