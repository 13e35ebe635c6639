"""Sessions of TensorFlow 1: nothing that a program does changes, and its run holds what was trained."""

from __future__ import annotations

import ast
from pathlib import Path

import numpy as np
import pytest
from untouched import EVERYTHING, Captured, Runner, clean_environment

import trainwarden

GRAPHS = [(graph, *ways) for graph in ("classic", "clipped", "branched") for ways in ([], ["old"])]


def arguments(*programs: tuple[str, ...]) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("program", programs, ids="-".join)


@arguments(*(("session.py", *graph) for graph in GRAPHS), ("turns.py",), ("keras_graph.py", "callables"))
def test_nothing_that_a_program_does_changes(runner: Runner, program: tuple[str, ...]) -> None:
    ran = runner.captured(*program)
    assert ran.plain.exit_code == ran.attached.exit_code == 0, ran.attached.stderr
    assert (ran.attached.stdout, ran.attached.stderr) == (ran.plain.stdout, ran.plain.stderr)


def test_what_is_not_seen_is_said_once(runner: Runner) -> None:
    ran = runner.captured("odd.py")
    assert ran.attached.exit_code == 0 and ran.attached.stdout == ran.plain.stdout
    said = "trainwarden: what a program runs by Session.partial_run() is not captured\n"
    assert ran.attached.stderr == ran.plain.stderr + said


def test_functions_of_make_callable_are_steps(runner: Runner) -> None:
    ran = runner.captured("keras_graph.py", "callables")
    losses = ast.literal_eval(ran.plain.stdout.splitlines()[0].rsplit("]", 1)[0] + "]")
    found = [ran.trial.scalar("mean_squared_error_1/value", step, "train") for step in range(3)]
    assert np.array_equal(np.float32(found), np.float32(losses))
    assert ran.trial.steps("train") == [0, 1, 2] and ran.trial.steps("eval") == [0]
    weight, gradient = (ran.trial.tensor(name) for name in ("kernel", "gradient/kernel"))
    after = weight.value(1, mode="train") - np.float32(0.1) * gradient.value(1, mode="train")
    np.testing.assert_allclose(weight.value(2, mode="train"), after, rtol=1e-6)


@pytest.mark.usefixtures("keras_2")
@pytest.mark.parametrize("way", ["array", "dataset", "older"])
def test_keras_in_graph_mode(runner: Runner, way: str) -> None:
    ran = runner.captured("keras_graph.py", way)
    assert ran.plain.exit_code == ran.attached.exit_code == 0, ran.attached.stderr
    assert ran.attached.stdout == ran.plain.stdout and "trainwarden:" not in ran.attached.stderr
    assert len(ran.trial.steps("train")) == (6 if way == "dataset" else 4)
    weights = ran.trial.tensor_names(collection="weights")
    assert weights == ["dense/kernel", "dense_1/kernel"] and ran.trial.losses == []
    assert ran.trial.tensor_names(collection="losses") == ["loss/mul"]
    for name in weights if way == "older" else []:
        before, after = (ran.trial.tensor(name).value(step, mode="train") for step in (1, 2))
        gradient = ran.trial.tensor(f"gradient/{name}").value(1, mode="train")
        np.testing.assert_allclose(after, before - np.float32(0.1) * gradient, rtol=1e-5, atol=1e-7)


@pytest.mark.parametrize("graph", GRAPHS, ids="-".join)
def test_a_run_that_updates_is_a_step(runner: Runner, graph: tuple[str, ...]) -> None:
    """Weights that are asked for, saved or restored are none."""
    trial = runner.captured("session.py", *graph).trial
    assert trial.steps("train") == list(range(6)) and trial.steps("eval") == [0, 1]
    assert trial.state.value == "completed" and trial.losses == []


@pytest.mark.parametrize("graph", GRAPHS, ids="-".join)
def test_values_are_those_of_the_program(runner: Runner, graph: tuple[str, ...]) -> None:
    ran = runner.captured("session.py", *graph)
    name_of_loss = ran.trial.tensor_names(collection="losses")[0]
    for key, value in ran.seen.items():
        name, step = key.replace("|", "/").split()
        found = ran.trial.value(name_of_loss if name == "loss" else name, int(step), "train")
        np.testing.assert_array_equal(found, value, err_msg=key)
    assert len(ran.seen) == 6 * {"classic": 13, "clipped": 7, "branched": 3}[graph[0]]


def names_in(ran: Captured, collection: str) -> list[str]:
    return ran.trial.tensor_names(collection=collection)


def test_what_is_in_which_collection(runner: Runner) -> None:
    ran = runner.captured("session.py", "classic")
    variables = ["hidden/bias", "hidden/kernel", "norm/beta", "norm/gamma", "out/bias", "out/kernel"]
    assert names_in(ran, "losses") == ["mean_squared_error/value"]
    assert names_in(ran, "weights") == ["hidden/kernel", "norm/gamma", "out/kernel"]
    assert names_in(ran, "biases") == ["hidden/bias", "norm/beta", "out/bias"]
    assert names_in(ran, "buffers") == ["norm/moving_mean", "norm/moving_variance"]
    assert names_in(ran, "gradients") == [f"gradient/{name}" for name in variables]
    assert names_in(ran, "outputs") == ["hidden/Relu", "norm/batchnorm/add_1", "out/BiasAdd"]
    assert names_in(ran, "relu_inputs") == ["hidden/BiasAdd"] and names_in(ran, "relu_outputs") == ["hidden/Relu"]
    state = [f"optimizer_state/{name}/{part}" for name in variables for part in ("Adam", "Adam_1")]
    powers = ["optimizer_state/beta1_power", "optimizer_state/beta2_power"]
    assert names_in(ran, "optimizer_state") == sorted([*powers, *state])
    trial = ran.trial
    np.testing.assert_array_equal(
        trial.value("hidden/Relu", 1, "train"), np.maximum(trial.value("hidden/BiasAdd", 1, "train"), 0)
    )
    rates = [trial.scalar("learning_rate", step, "train") for step in range(6)]
    np.testing.assert_allclose(rates, [0.01 * 0.5 ** (step / 2) for step in range(6)], rtol=1e-5)


def test_a_variable_is_what_the_forward_pass_found(runner: Runner) -> None:
    """Also the one of old graphs, whose memory an update changes in place."""
    trial = runner.captured("session.py", "branched", "old").trial
    weights = [trial.value("net/w", step, "train") for step in range(6)]
    gradients = [trial.value("gradient/net/w", step, "train") for step in range(6)]
    for step in range(5):
        moved = 0.1 * gradients[step] if step % 2 == 1 else 0 * gradients[step]
        np.testing.assert_allclose(weights[step + 1], weights[step] - moved, rtol=1e-6)


def test_two_optimizers_that_take_turns_are_one_step(runner: Runner) -> None:
    trial = runner.captured("turns.py").trial
    assert trial.steps() == list(range(6))
    for name in ("loss", "other", "gradient/first/kernel", "gradient/last/kernel", "learning_rate/Adam"):
        assert trial.tensor(name).steps() == list(range(6)), name


def test_a_loss_that_nobody_asks_for_is_there(runner: Runner) -> None:
    trial = runner.captured("turns.py").trial
    batches = np.random.RandomState(1).rand(6, 16, 8).astype("float32")
    for step in range(6):
        error = np.abs(trial.value("last/BiasAdd", step) - batches[step].sum(1, keepdims=True)).mean()
        assert trial.scalar("other", step) == pytest.approx(error, rel=1e-5)


def test_what_is_fed_is_not_fetched(runner: Runner) -> None:
    trial = runner.captured("odd.py").trial
    assert trial.tensor("gradient/hidden/kernel").steps("train") == [0, 2, 3]
    assert trial.tensor("gradient/out/kernel").steps("train") == [0, 1, 2, 3]


def test_where_nothing_is_wanted_nothing_is_fetched(runner: Runner, tmp_path: Path) -> None:
    never = {"save_all": True, "save": {"save_interval": 1, "start_step": 1000}}
    program = ("monitored.py", str(tmp_path / "plain"), "6")
    plain = runner.start(*program, environment=clean_environment())
    environment = runner.attached_environment(tmp_path / "run", never)
    attached = runner.start("monitored.py", str(tmp_path / "attached"), "6", environment=environment)
    assert plain.exit_code == 0 and "fetched" in plain.stdout
    read_once = "0, 1, 1"  # the step that the training has reached, before its first run
    assert attached.stdout.replace(read_once, "0, 1", 1) == plain.stdout
    assert trainwarden.open(tmp_path / "run").steps() == []


def test_a_training_that_goes_on_counts_on(runner: Runner, tmp_path: Path) -> None:
    for name, steps in (("first", range(4)), ("second", range(4, 8))):
        environment = runner.attached_environment(tmp_path / name, EVERYTHING)
        ended = runner.start("monitored.py", str(tmp_path / "checkpoints"), "4", environment=environment)
        assert ended.exit_code == 0, ended.stderr
        assert trainwarden.open(tmp_path / name).steps("train") == list(steps)


def test_a_loop_that_does_not_ask_is_ended(runner: Runner, tmp_path: Path) -> None:
    program = ("monitored.py", str(tmp_path / "checkpoints"), "5000", "stop", str(tmp_path / "run"))
    ended = runner.start(*program, environment=runner.attached_environment(tmp_path / "run", EVERYTHING))
    assert ended.exit_code == 143, ended.stderr
    assert "asked to stop" in ended.stderr and "fetched" not in ended.stdout
    assert trainwarden.open(tmp_path / "run").state.value == "stopped"


def test_what_an_estimator_does_behind_a_training_that_was_ended(runner: Runner, tmp_path: Path) -> None:
    """It evaluates and predicts as ever; to train on ends it."""
    environment = runner.attached_environment(tmp_path / "run", EVERYTHING)
    ended = runner.start("estimator.py", "stopped", environment=environment)
    assert ended.stdout.splitlines() == ["trained True True", "predicted 80"], ended.stderr
    assert ended.exit_code == 143
    trial = trainwarden.open(tmp_path / "run")
    assert [len(trial.steps(mode)) for mode in ("eval", "predict")] == [5, 5]
    assert trial.state.value == "stopped"


@arguments(*(("estimator.py", way) for way in ("own", "both", "canned", "keras", "mirrored")))
def test_nothing_that_an_estimator_does_changes(runner: Runner, program: tuple[str, ...]) -> None:
    ran = runner.captured(*program)
    assert ran.plain.exit_code == ran.attached.exit_code == 0, ran.attached.stderr
    assert (ran.attached.stdout, ran.attached.stderr) == (ran.plain.stdout, ran.plain.stderr)


def test_metrics_of_an_evaluation_are_in_its_last_step(runner: Runner) -> None:
    ran = runner.captured("estimator.py", "own")
    assert names_in(ran, "metrics") == ["metrics/accuracy", "metrics/loss"]
    assert ran.trial.tensor("metrics/accuracy").steps("eval") == [2, 5]
    printed = [ast.literal_eval(line) for line in ran.plain.stdout.splitlines()[:2]]
    for metric in ("accuracy", "loss"):
        found = [ran.trial.scalar(f"metrics/{metric}", step, "eval") for step in (2, 5)]
        assert found == pytest.approx([float(each[metric]) for each in printed])


@pytest.mark.parametrize(
    ("way", "steps"),
    [("own", (10, 6, 5)), ("both", (12, 3, 0)), ("canned", (5, 5, 0)), ("keras", (5, 5, 0)), ("mirrored", (2, 0, 0))],
)
def test_steps_of_estimators(runner: Runner, way: str, steps: tuple[int, ...]) -> None:
    trial = runner.captured("estimator.py", way).trial
    assert [len(trial.steps(mode)) for mode in ("train", "eval", "predict")] == list(steps)
    assert [trial.steps(mode)[:1] for mode in ("train", "eval", "predict")] == [[0] if each else [] for each in steps]


def test_what_is_there_of_an_estimator(runner: Runner) -> None:
    trial = runner.captured("estimator.py", "own").trial
    assert trial.tensor_names(collection="losses") == ["add", "sparse_softmax_cross_entropy_loss/value"]
    assert trial.tensor("add").steps("eval") == list(range(6))
    assert trial.tensor("hidden/Relu").steps("predict") == list(range(5))
    assert trial.tensor_names(collection="labels") == ["IteratorGetNext:1"]
    assert trial.tensor_names(collection="predictions") == ["logits/BiasAdd"]
    assert trial.tensor_names(collection="softmax_outputs") == ["Softmax"]
    parts = runner.captured("estimator.py", "canned").trial.tensor_names(collection="biases")
    assert parts == ["dnn/hiddenlayer_0/bias/part_0", "dnn/logits/bias/part_0"]
