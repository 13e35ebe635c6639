"""The hooks for sessions and estimators: programs as they were recorded with smdebug, and what the hooks promise."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import trainwarden
from smdebug.core.modes import ModeKeys
from smdebug.exceptions import SMDebugTypeError
from smdebug.trials import create_trial

pytest.importorskip("tensorflow_estimator")

import tensorflow.compat.v1 as tf  # noqa: E402
from smdebug.tensorflow import (  # noqa: E402
    EstimatorHook,
    ReductionConfig,
    SaveConfig,
    SessionHook,
    del_hook,
    get_hook,
    modes,
)

BATCH = np.arange(12, dtype="float32").reshape(4, 3) / 12
EVERY_STEP = SaveConfig(save_interval=1)


@pytest.fixture(autouse=True)
def graph() -> Iterator[Any]:
    with tf.Graph().as_default() as made:
        yield made
    del_hook()


def built(hook: SessionHook) -> tuple[Any, Any]:
    """The loss of a small network, and what trains it."""
    x = tf.placeholder(tf.float32, [None, 3], name="x")
    with tf.variable_scope("net"):
        w = tf.get_variable("w", initializer=np.ones((3, 1), "float32"))
        bias = tf.get_variable("bias", [1], initializer=tf.zeros_initializer())
        outputs = tf.nn.relu(tf.matmul(x, w) + bias, name="act")
    loss = tf.losses.mean_squared_error(tf.reduce_sum(x, 1, keepdims=True) * 2, outputs)
    optimizer = hook.wrap_optimizer(tf.train.MomentumOptimizer(0.1, 0.9))
    return loss, optimizer.minimize(loss, tf.train.get_or_create_global_step())


def run(hook: SessionHook, what: Any, steps: int) -> list[Any]:
    with tf.train.MonitoredSession(hooks=[hook]) as session:
        return [session.run(what, {"x:0": BATCH}) for _ in range(steps) if not session.should_stop()]


@pytest.mark.parametrize("name", ["monitored_session", "estimator"])
def test_a_program_as_it_was_recorded(name: str, shared_data: Path, shared_trials: Path, tmp_path: Path) -> None:
    """In the recording of the evaluation some names have the values of others."""
    program = shared_data / "smdebug_programs" / f"{name}.py"
    if not program.exists():
        pytest.skip(f"no program {program}")
    subprocess.run([sys.executable, str(program), str(tmp_path / "run")], check=True, timeout=200)
    expected = json.loads((shared_trials / f"{name}.expected.json").read_text())
    trial = create_trial(str(tmp_path / "run"))
    assert trial.steps() == expected["steps"] and trial.workers() == expected["workers"]
    assert {mode.name: trial.steps(mode=mode) for mode in ModeKeys} == expected["modes"]
    assert set(trial.tensor_names()) == set(expected["tensors"])
    for tensor_name, recorded in expected["tensors"].items():
        tensor = trial.tensor(tensor_name)
        for step, numbers in recorded.items():
            if (name, int(step)) in (("estimator", 20), ("estimator", 24)) and "loss" not in tensor_name:
                continue
            value = np.asarray(tensor.value(int(step)))
            assert list(value.shape) == numbers["shape"] and str(value.dtype) == numbers["dtype"]
            found = [value.mean(dtype=np.float64), value.ravel()[0], value.ravel()[-1]]
            wanted = [numbers[key] for key in ("mean", "first", "last")]
            np.testing.assert_allclose(found, wanted, rtol=1e-4, atol=1e-6, err_msg=f"{tensor_name} {step}")
        assert not tensor_name.startswith("gradients/") or not tensor.steps(mode=ModeKeys.EVAL)
    for collection, names in expected["collections"].items():
        assert sorted(trial.tensor_names(collection=collection)) == names, collection


def test_of_an_evaluation_weights_are_weights(shared_data: Path, tmp_path: Path) -> None:
    """Where smdebug saved the counter of the steps under the name of a weight."""
    program = shared_data / "smdebug_programs" / "estimator.py"
    subprocess.run([sys.executable, str(program), str(tmp_path / "run")], check=True, timeout=200)
    trial = create_trial(str(tmp_path / "run"))
    shapes = {"hidden/kernel:0": (6, 12), "hidden/bias:0": (12,), "logits/kernel:0": (12, 2), "logits/bias:0": (2,)}
    for name, shape in shapes.items():
        evaluated = [trial.tensor(name).value(step) for step in (20, 24)]
        assert evaluated[0].shape == shape
        np.testing.assert_array_equal(evaluated[0], evaluated[1])


def test_values_are_those_of_the_training(tmp_path: Path) -> None:
    hook = SessionHook(tmp_path / "run", save_config=SaveConfig(save_interval=2), save_all=True)
    loss, train = built(hook)
    losses = run(hook, [loss, train], 5)
    hook.close()
    trial = create_trial(str(tmp_path / "run"))
    assert trial.steps() == [0, 2, 4]
    weights, biases, gradients, kept = (
        trial.tensor_names(collection=each) for each in ("weights", "biases", "gradients", "optimizer_variables")
    )
    assert (weights, biases) == (["net/w:0"], ["net/bias:0"])
    assert kept == ["net/bias/Momentum:0", "net/w/Momentum:0"] and len(gradients) == 2
    weight, speed = np.ones((3, 1)), 0.0
    for step in range(5):
        loss_of_step = losses[step][0]
        if step % 2 == 0:
            np.testing.assert_array_equal(trial.tensor("mean_squared_error/value:0").value(step), [loss_of_step])
            np.testing.assert_allclose(trial.tensor("net/w:0").value(step), weight, rtol=1e-5)
            bias = trial.tensor("net/bias:0").value(step)
            outputs = np.maximum(BATCH @ weight + bias, 0)
            np.testing.assert_allclose(trial.tensor("net/act:0").value(step), outputs, rtol=1e-5)
            found = trial.tensor(gradients[0]).value(step)
            speed = trial.tensor("net/w/Momentum:0").value(step) * 0.9 + found
            weight = weight - 0.1 * speed
        else:
            weight = trial.tensor("net/w:0").value(step + 1) if step < 4 else weight


def test_by_default_losses_of_each_500th_step(tmp_path: Path) -> None:
    hook = SessionHook(tmp_path / "run")
    run(hook, built(hook)[1], 3)
    hook.close()
    trial = create_trial(str(tmp_path / "run"))
    assert (trial.steps(), trial.tensor_names()) == ([0], ["mean_squared_error/value:0"])


def test_only_what_a_run_computes_is_saved_of_it(tmp_path: Path) -> None:
    """Else TensorFlow would ask for what is fed to the loss."""
    hook = SessionHook(tmp_path / "run", save_config=EVERY_STEP, save_all=True)
    built(hook)
    weight = tf.trainable_variables()[0]
    with tf.train.MonitoredSession(hooks=[hook]) as session:
        assert session.run({"w": [weight]})["w"][0].shape == (3, 1)
    hook.close()
    trial = create_trial(str(tmp_path / "run"))
    assert "net/w:0" in trial.tensor_names() and "net/act:0" not in trial.tensor_names()


def test_reductions_scalars_and_tensors_by_hand(tmp_path: Path) -> None:
    reductions = ReductionConfig(reductions=["max", "prod"], norms=["l2"])
    collections = ["weights", "mine"]
    hook = SessionHook(
        tmp_path / "run", reduction_config=reductions, save_config=EVERY_STEP, include_collections=collections
    )
    loss, train = built(hook)
    hook.add_to_collection("mine", tf.get_default_graph().get_operation_by_name("net/act"))
    with pytest.raises(SMDebugTypeError, match="expected a tensor, a variable or an operation, found 3"):
        hook.add_to_collection("mine", 3)
    run(hook, train, 1)
    hook.save_scalar("accuracy", np.array([0.5]))
    hook.save_tensor("by_hand", np.ones((2, 2)))
    hook.close()
    tensor = create_trial(str(tmp_path / "run")).tensor("net/w:0")
    assert [tensor.reduction_value(0, each) for each in ("max", "prod")] == [1, 1]
    assert tensor.reduction_value(0, "l2") == pytest.approx(np.sqrt(3))
    trial = create_trial(str(tmp_path / "run"))
    assert trial.tensor("net/act:0").reduction_value(0, "prod") == pytest.approx(BATCH.sum(1).prod(), rel=1e-5)
    assert trial.tensor("scalar/accuracy").value(0) == 0.5
    np.testing.assert_array_equal(trial.tensor("by_hand").value(0), np.ones((2, 2)))


def test_who_is_no_optimizer_is_told(tmp_path: Path) -> None:
    with pytest.raises(SMDebugTypeError, match="expected an optimizer of tf.compat.v1.train, found 'adam'"):
        SessionHook(tmp_path / "run").wrap_optimizer("adam")


def test_a_request_ends_the_training_and_the_program_goes_on(tmp_path: Path) -> None:
    hook = EstimatorHook(tmp_path / "run", save_config=EVERY_STEP, save_all=True)
    what = built(hook)[1]
    steps = 0
    with tf.train.MonitoredSession(hooks=[hook]) as session:
        while steps < 5000 and not session.should_stop():
            session.run(what, {"x:0": BATCH})
            steps += 1
            if steps == 2:
                trainwarden.stop(tmp_path / "run", wait=False)
    assert 2 <= steps < 5000
    assert trainwarden.open(tmp_path / "run").state.value == "stopped"


def test_the_hook_of_a_configuration(tmp_path: Path) -> None:
    assert get_hook() is None and get_hook("session") is None
    file = tmp_path / "config.json"
    file.write_text(
        json.dumps(
            {"LocalPath": str(tmp_path / "run"), "HookParameters": {"save_interval": "2"},
             "CollectionConfigurations": [{"CollectionName": "gradients"}]}
        )  # fmt: skip
    )
    hook = get_hook("estimator", str(file), create_if_not_exists=True)
    assert isinstance(hook, EstimatorHook) and get_hook() is hook and get_hook("session") is hook
    run(hook, built(hook)[1], 3)
    hook.close()
    trial = create_trial(str(tmp_path / "run"))
    assert trial.steps() == [0, 2] and len(trial.tensor_names(collection="gradients")) == 2


def test_a_graph_after_the_first_is_saved_too(tmp_path: Path) -> None:
    """The one of an evaluation, and then one of another training."""
    hook = EstimatorHook(tmp_path / "run", save_config=EVERY_STEP, include_collections=["weights", "gradients"])
    for mode in (modes.EVAL, modes.TRAIN):
        with tf.Graph().as_default():
            hook.set_mode(mode)
            loss, train = built(hook)
            run(hook, loss if mode is modes.EVAL else train, 2)
    hook.close()
    trial = create_trial(str(tmp_path / "run"))
    assert trial.steps(mode=modes.EVAL) == trial.steps(mode=modes.TRAIN) == [0, 1]
    assert len(trial.tensor_names(collection="gradients")) == 2
    for name in trial.tensor_names(collection="gradients"):
        assert trial.tensor(name).steps(mode=modes.TRAIN) == [0, 1] and not trial.tensor(name).steps(mode=modes.EVAL)


def test_a_fault_of_ours_is_not_the_programs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def broken(*_: Any) -> None:
        raise ValueError("broken")

    hook = SessionHook(tmp_path / "run", save_config=EVERY_STEP, save_all=True)
    monkeypatch.setattr(hook, "_places_of", broken)
    assert len(run(hook, built(hook)[1], 2)) == 2
    assert "could not prepare to save a run" in capsys.readouterr().err


def test_under_run_the_hook_of_the_program_captures(shared_data: Path, tmp_path: Path) -> None:
    program = shared_data / "smdebug_programs" / "monitored_session.py"
    environment = {**os.environ, "TRAINWARDEN_ATTACH": "1", "TRAINWARDEN_RUN_DIR": str(tmp_path / "run")}
    done = subprocess.run(
        [sys.executable, str(program), str(tmp_path / "elsewhere")],
        env=environment, cwd=tmp_path, capture_output=True, text=True, timeout=200, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["run"]
    trial = create_trial(str(tmp_path / "run"))
    assert trial.steps() == [0, 2, 4, 6, 8, 10] and "net/w:0" in trial.tensor_names()
