"""Programs that train with Keras: nothing that they do changes, and their runs hold what was trained."""

from __future__ import annotations

import ast
import os
from importlib.metadata import version
from pathlib import Path

import numpy as np
import pytest
from untouched import Captured, Runner

import trainwarden

PACKAGE = os.environ.get("KERAS_PACKAGE", "keras")
IS_KERAS_2 = version(PACKAGE).startswith("2.")
BACKEND = "tensorflow" if IS_KERAS_2 else os.environ.get("KERAS_BACKEND", "tensorflow")
WAYS = [
    "plain", "by_batch", "eager", "compiled", "older" if IS_KERAS_2 else "accumulation", "clipped", "scheduled",
    "mixed", "embedding", "nested", "shared", "frozen", "ragged", "steps_per_execution", "compiled_again",
]  # fmt: skip
if BACKEND == "torch":  # one that is compiled is the adapter of PyTorch's, and a step is one execution
    WAYS = [way for way in WAYS if way not in ("compiled", "steps_per_execution")]


@pytest.mark.parametrize("way", WAYS + (["tensorboard"] if IS_KERAS_2 else []))
def test_nothing_that_a_training_does_changes(runner: Runner, way: str) -> None:
    ran = runner.captured("fit.py", way)
    assert ran.plain.exit_code == ran.attached.exit_code == 0, ran.attached.stderr
    assert ran.attached.stdout == ran.plain.stdout
    said = ran.attached.stderr.count("trainwarden:")
    assert said == (1 if way == "steps_per_execution" and BACKEND == "tensorflow" else 0), ran.attached.stderr


@pytest.mark.skipif(BACKEND != "jax", reason="steps that are compiled by XLA alone")
@pytest.mark.parametrize("way", ["attention", "prints", "draws"])
def test_a_step_on_jax_is_made_by_the_models_own_function(runner: Runner, way: str) -> None:
    ran = runner.captured("on_jax.py", way)
    assert ran.plain.exit_code == ran.attached.exit_code == 0, ran.attached.stderr
    assert (ran.attached.stdout, ran.attached.stderr) == (ran.plain.stdout, ran.plain.stderr)
    assert ran.trial.steps("train") == list(range(12))
    kept = [ran.trial.scalar("loss", step, "train") for step in range(4)]
    line = next(line for line in ran.plain.stdout.splitlines() if "[" in line)
    first = ast.literal_eval(line.partition(" ")[2])[0]
    assert np.mean(kept) == pytest.approx(first, rel=1e-5)
    assert ran.trial.tensor_names(collection="gradients")


def test_the_run_says_which_keras_it_was(runner: Runner) -> None:
    trial = runner.captured("fit.py", "plain").trial
    names = {"tensorflow": "TensorFlow", "jax": "JAX", "torch": "PyTorch"}
    assert trial.framework.startswith(f"Keras {version(PACKAGE)}, {names[BACKEND]} ")


@pytest.mark.parametrize("way", ["plain", "random", "callback"])
def test_a_step_of_ones_own_stays_as_it_is(runner: Runner, way: str) -> None:
    ran = runner.captured("own_step.py", way)
    assert ran.plain.exit_code == ran.attached.exit_code == 0, ran.attached.stderr
    assert ran.attached.stdout == ran.plain.stdout
    names = ran.trial.tensor_names()
    assert {"loss", "gradient/first/kernel", "first/kernel", "first/outputs", "mine"} <= set(names)
    for step in ran.trial.steps("train"):
        assert ran.trial.scalar("loss", step, "train") == ran.trial.scalar("mine", step, "train")


@pytest.mark.skipif(not IS_KERAS_2, reason="Model.compiled_loss of Keras 2")
def test_a_step_of_ones_own_may_take_its_loss_from_what_was_compiled(runner: Runner) -> None:
    ran = runner.captured("own_step.py", "compiled_loss")
    assert ran.attached.stdout == ran.plain.stdout and ran.attached.exit_code == 0, ran.attached.stderr
    for mode, count in (("train", 6), ("eval", 3)):
        assert ran.trial.steps(mode) == list(range(count))
        for step in range(count):
            assert ran.trial.scalar("loss", step, mode) == ran.trial.scalar("mine", step, mode)
    assert ran.trial.tensor_names(collection="losses") == ["loss"]


@pytest.mark.parametrize("way", ["again", "beside"])
def test_models_are_told_apart_where_there_are_several(runner: Runner, way: str) -> None:
    ran = runner.captured("models.py", way)
    assert ran.attached.stdout == ran.plain.stdout and ran.attached.exit_code == 0, ran.attached.stderr
    kernels = [name for name in ran.trial.tensor_names(collection="weights") if name.endswith("kernel")]
    expected = ["dense/kernel", "dense_1/kernel"]
    if way == "beside":
        expected += [f"model_1/{name}" for name in expected]
    assert sorted(kernels) == sorted(expected)
    assert len(ran.trial.steps("train")) == (9 if way == "again" else 6)


def test_who_is_captured_for_a_while_draws_the_same_random_numbers_behind_it(runner: Runner) -> None:
    ran = runner.captured("models.py", "detached")
    assert ran.attached.stdout == ran.plain.stdout and ran.attached.exit_code == 0, ran.attached.stderr
    assert len(ran.trial.steps("train")) == 3


def losses_of(ran: Captured) -> list[float]:
    return [float(line.split()[1]) for line in ran.plain.stdout.splitlines() if line.startswith("loss ")]


@pytest.mark.skipif(BACKEND != "tensorflow", reason="loops over tf.GradientTape")
@pytest.mark.parametrize("way", ["graph", "eager", "random", "two", "two_eager", "method", "compiled"])
def test_loops_of_ones_own_are_followed(runner: Runner, way: str) -> None:
    ran = runner.captured("loop.py", way)
    assert ran.plain.exit_code == ran.attached.exit_code == 0, ran.attached.stderr
    assert ran.attached.stdout == ran.plain.stdout and "trainwarden:" not in ran.attached.stderr
    trial = ran.trial
    assert trial.steps("train") == list(range(6)) and trial.modes == [trainwarden.Mode.TRAIN]
    assert [trial.scalar("loss", step, "train") for step in range(6)] == losses_of(ran)
    weights = trial.tensor_names(collection="weights")
    assert len(weights) == (4 if "two" in way else 2)
    assert ("dense/kernel" if IS_KERAS_2 else "sequential/dense/kernel") in weights
    assert ("loss#1" in trial.tensor_names(collection="losses")) == ("two" in way)
    for name in weights:
        is_second = name.startswith(("dense_2", "dense_3") if IS_KERAS_2 else "sequential_1")
        rate = np.float32(0.05 if is_second else 0.1)
        before, after = (trial.tensor(name).value(step, mode="train") for step in (2, 3))
        gradient = trial.tensor(f"gradient/{name}").value(3, mode="train")
        assert np.allclose(before - rate * gradient, after, rtol=1e-5, atol=1e-7), name


@pytest.mark.skipif(BACKEND != "tensorflow", reason="loops over tf.GradientTape")
def test_what_loops_inside_a_compiled_function_is_said_once(runner: Runner) -> None:
    ran = runner.captured("loop.py", "inside")
    assert ran.attached.stdout == ran.plain.stdout
    assert ran.attached.stderr.count("steps in a loop within a compiled function") == 1, ran.attached.stderr


@pytest.mark.skipif(BACKEND != "torch", reason="loops over loss.backward()")
@pytest.mark.parametrize("way", ["called", "keras", "torch"])
def test_on_pytorch_a_training_is_seen_by_who_knows_it_best(runner: Runner, way: str) -> None:
    """What calls of a model do outside of fit() is no training, unless it goes backward."""
    ran = runner.captured("torch_loop.py", way)
    assert ran.plain.exit_code == ran.attached.exit_code == 0, ran.attached.stderr
    assert ran.attached.stdout == ran.plain.stdout
    assert [each.name for each in ran.run_dir.parent.glob(f"{ran.run_dir.name}*") if each.is_dir()] == [ran.run_dir.name]
    # Of updates that no optimizer of PyTorch makes the second one shows that they train.
    assert len(ran.trial.steps("train")) == {"called": 6, "keras": 2, "torch": 3}[way]
    assert ("dense/kernel" in ran.trial.tensor_names()) == (way == "called")
    assert ran.trial.framework.startswith("Keras" if way == "called" else "PyTorch")


def iterations_of(ran: Captured) -> int:
    return int(next(line for line in ran.plain.stdout.splitlines() if line.startswith("iterations")).split()[1])


@pytest.mark.parametrize(("way", "trained", "evaluated"), [("plain", 4, 4), ("by_batch", 6, 3), ("ragged", 14, 10)])
def test_batches_are_steps_of_their_mode(runner: Runner, way: str, trained: int, evaluated: int) -> None:
    ran = runner.captured("fit.py", way)
    assert ran.trial.steps("train") == list(range(trained)) and iterations_of(ran) == trained
    assert ran.trial.steps("eval") == list(range(evaluated))
    assert ran.trial.steps("predict") == list(range(4 if way == "by_batch" else 3))
    assert ran.trial.state.value == "completed" and ran.trial.losses == []


@pytest.mark.skipif(BACKEND == "torch", reason="Keras takes one step at a time there")
def test_several_steps_of_one_call(runner: Runner) -> None:
    ran = runner.captured("fit.py", "steps_per_execution")
    # TensorFlow compiles four into one, and an epoch has seven: the last of each call is seen.
    seen = list(range(14)) if BACKEND == "jax" else [3, 6, 10, 13]
    assert ran.trial.steps("train") == seen and iterations_of(ran) == 14
    assert ran.trial.tensor("loss").steps("train") == seen
    # An epoch ends with a validation of four batches; two of an evaluation and three of a prediction are one call each.
    one_by_one = BACKEND == "jax"
    assert ran.trial.steps("eval") == (list(range(10)) if one_by_one else [3, 7, 9])
    assert ran.trial.steps("predict") == (list(range(3)) if one_by_one else [2])
    assert ran.trial.tensor("val_loss").steps("eval") == [3, 7]
    told = "trainwarden: of 4 steps that are one call (steps_per_execution) the last is seen"
    assert ran.attached.stderr.count(told) == (0 if BACKEND == "jax" else 1), ran.attached.stderr


@pytest.mark.skipif(BACKEND == "torch", reason="Keras takes one step at a time there")
def test_an_interval_is_one_of_steps_where_several_are_one_call(runner: Runner, tmp_path: Path) -> None:
    """None of the steps that are seen is one that the interval wants: the next one that is seen stands for it."""
    config = {"include_collections": ["gradients", "weights"], "save": {"save_interval": 5}}
    environment = runner.attached_environment(tmp_path / "run", config)
    ended = runner.start("fit.py", "steps_per_execution", environment=environment)
    assert ended.exit_code == 0, ended.stderr
    assert ended.stdout == runner.captured("fit.py", "steps_per_execution").plain.stdout
    trial = trainwarden.open(tmp_path / "run")
    kept = [0, 5, 10] if BACKEND == "jax" else [3, 6, 10]
    for name in (*trial.tensor_names(collection="gradients"), *trial.tensor_names(collection="weights")):
        assert trial.tensor(name).steps("train") == kept, name


@pytest.mark.parametrize("way", [way for way in ("plain", "eager", "compiled", "shared", "embedding") if way in WAYS])
def test_gradients_are_those_by_which_weights_change(runner: Runner, way: str) -> None:
    trial = runner.captured("fit.py", way).trial
    names = [name for name in trial.tensor_names(collection="gradients") if "embedding" not in name]
    assert len(names) >= 4
    for name in names:
        for step in trial.steps("train")[1:]:
            before, after, gradient = (
                trial.tensor(each).value(at, mode="train")
                for each, at in ((name[9:], step - 1), (name[9:], step), (name, step))
            )
            assert np.allclose(before - np.float32(0.1) * gradient, after, rtol=1e-5, atol=1e-7), (name, step)


def test_losses_are_those_of_the_batch_and_not_of_the_epoch(runner: Runner) -> None:
    trial = runner.captured("fit.py", "plain").trial
    losses = [trial.scalar("loss", step, "train") for step in trial.steps("train")]
    means = [trial.scalar("epoch_mean/loss", step, "train") for step in trial.steps("train")]
    assert means == pytest.approx([losses[0], sum(losses[:2]) / 2, losses[2], sum(losses[2:]) / 2])
    assert trial.tensor_names(collection="losses") == ["loss"]


@pytest.mark.parametrize(("way", "ends"), [("plain", [0, 1]), ("ragged", [3, 7])])
def test_a_validation_has_one_result_for_each_epoch(runner: Runner, way: str, ends: list[int]) -> None:
    ran = runner.captured("fit.py", way)
    history = ast.literal_eval(next(line for line in ran.plain.stdout.splitlines() if line.startswith("{")))
    for name in ("val_loss", "val_accuracy"):
        assert ran.trial.tensor(name).steps("eval") == ends and ran.trial.tensor(name).steps("train") == []
        found = [ran.trial.scalar(name, step, "eval") for step in ends]
        assert found == pytest.approx(history[name], rel=1e-7)


def test_a_validation_has_its_result_whichever_steps_are_kept(runner: Runner, tmp_path: Path) -> None:
    config = {"include_collections": ["losses"], "save": {"save_interval": 5}}
    ended = runner.start("fit.py", "ragged", environment=runner.attached_environment(tmp_path / "run", config))
    assert ended.exit_code == 0
    trial = trainwarden.open(tmp_path / "run")
    assert trial.tensor("val_loss").steps("eval") == [3, 7] and trial.tensor("loss").steps("eval") == [0, 5]


def test_metrics_are_kept_without_a_word(runner: Runner, tmp_path: Path) -> None:
    ended = runner.start("fit.py", "plain", environment=runner.attached_environment(tmp_path / "run"))
    assert ended.exit_code == 0, ended.stderr
    trial = trainwarden.open(tmp_path / "run")
    assert trial.tensor("accuracy").steps("train") == trial.tensor("loss").steps("train") != []
    assert {"accuracy", "epoch_mean/loss"} <= set(trial.tensor_names(collection="metrics"))


@pytest.mark.parametrize(("way", "steps"), [("plain", "4"), ("ragged", "14"), ("steps_per_execution", "14")])
def test_a_fit_says_how_many_steps_it_is_to_have(runner: Runner, way: str, steps: str) -> None:
    if way not in WAYS:
        pytest.skip("Keras takes one step at a time there")
    assert runner.captured("fit.py", way).trial.labels["total_steps"] == steps


def test_who_trains_by_batches_says_no_length(runner: Runner) -> None:
    assert "total_steps" not in runner.captured("fit.py", "by_batch").trial.labels


def test_layers_show_what_enters_and_leaves_them(runner: Runner) -> None:
    trial = runner.captured("fit.py", "plain").trial
    for step in trial.steps("train"):
        outputs = trial.tensor("conv2d/outputs").value(step, mode="train")
        assert outputs.shape == (32, 6, 6, 4) and outputs.min() == 0
        assert np.array_equal(outputs, trial.tensor("batch_normalization/inputs").value(step, mode="train"))
        predictions = trial.tensor("predictions").value(step, mode="train")
        assert np.array_equal(predictions, trial.tensor("dense/outputs").value(step, mode="train"))
        assert np.allclose(predictions.sum(axis=1), 1, atol=1e-6)
    assert trial.tensor_names(collection="relu_outputs") == ["conv2d/outputs"]
    assert trial.tensor_names(collection="labels") == ["labels"]
    assert trial.tensor("labels").value(0, mode="train").shape[0] == 32


def test_a_layer_that_is_called_twice_has_two_outputs(runner: Runner) -> None:
    trial = runner.captured("fit.py", "shared").trial
    first, second = (trial.tensor(name).value(0, mode="train") for name in ("dense/outputs", "dense#1/inputs"))
    assert np.array_equal(first, second)
    assert "dense#1/outputs" in trial.tensor_names()


def test_models_within_a_model_are_told_apart(runner: Runner) -> None:
    trial = runner.captured("fit.py", "nested").trial
    assert len(trial.tensor_names(collection="weights")) == 3
    outputs = trial.tensor_names(collection="outputs")
    assert len([name for name in outputs if "inner" in name]) == 2
    if IS_KERAS_2:
        assert {"inner/kernel", "inner/kernel_1", "dense/kernel"} == set(trial.tensor_names(collection="weights"))
        assert {"model/inner/outputs", "model_1/inner/outputs"} <= set(outputs)


def test_gradients_are_of_the_loss_that_was_not_scaled(runner: Runner) -> None:
    trial = runner.captured("fit.py", "mixed").trial
    gradient = trial.tensor("gradient/dense/kernel").value(0, mode="train")
    assert gradient.dtype == np.float32 and 0 < np.abs(gradient).max() < 10


def test_frozen_weights_have_no_gradient(runner: Runner) -> None:
    trial = runner.captured("fit.py", "frozen").trial
    gradients = trial.tensor_names(collection="gradients")
    assert "gradient/dense/kernel" in gradients and "gradient/conv2d/kernel" not in gradients


@pytest.mark.skipif(BACKEND == "torch", reason="nothing is traced")
def test_a_step_that_cannot_be_traced_with_ours_trains_on(runner: Runner, tmp_path: Path) -> None:
    program = (
        "import sys, runpy; sys.argv = ['fit.py', 'plain']\n"
        f"import {PACKAGE}\n"
        "import trainwarden.keras.functions as functions\n"
        "def broken(self, *args): raise ValueError('a fault of ours')\n"
        "functions.CapturingStep.__call__ = broken\n"
        "runpy.run_path('fit.py', run_name='__main__')\n"
    )
    ended = runner.start("-c", program, environment=runner.attached_environment(tmp_path / "run"))
    assert ended.exit_code == 0 and ended.stdout == runner.captured("fit.py", "plain").plain.stdout
    assert ended.stderr.count("a fault of ours") in (1, 2, 3), ended.stderr
    assert len(trainwarden.open(tmp_path / "run").steps("train")) == 4


def test_what_nobody_wants_is_not_handed_out(runner: Runner, tmp_path: Path) -> None:
    config = {"include_collections": ["losses"], "save": {"save_interval": 2}}
    environment = runner.attached_environment(tmp_path / "run", config)
    ended = runner.start("fit.py", "ragged", environment=environment)
    assert ended.exit_code == 0 and ended.stdout == runner.captured("fit.py", "ragged").plain.stdout
    trial = trainwarden.open(tmp_path / "run")
    assert trial.tensor("loss").steps("train") == list(range(0, 14, 2))
    assert trial.tensor_names(collection="gradients") == []


def rates_of(way: str) -> list[float]:
    """Keras 2 keeps the rate that it has taken; Keras 3, and the older optimizers of 2, say which is the next."""
    if way == "plain":
        return [0.1] * 4
    if way == "older":
        return [0.1 / (1 + 0.5 * n) for n in (1, 2, 3, 4)]
    return [0.1 * 0.5 ** (n / 2) for n in ((0, 1, 2, 3) if IS_KERAS_2 else (1, 2, 3, 4))]


@pytest.mark.parametrize("way", ["plain", "scheduled", *(["older"] if IS_KERAS_2 else [])])
def test_learning_rates_are_those_of_the_optimizer(runner: Runner, way: str) -> None:
    rates, trial = rates_of(way), runner.captured("fit.py", way).trial
    if BACKEND == "jax" and way == "scheduled":
        assert "learning_rate" not in trial.tensor_names()  # nothing more is computed on the device for it
    else:
        found = [trial.scalar("learning_rate", step, "train") for step in trial.steps("train")]
        assert found == pytest.approx(rates, rel=1e-6)
