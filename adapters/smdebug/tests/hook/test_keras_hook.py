"""The hook for Keras: programs as they were recorded with smdebug, and what the hook promises."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import trainwarden
from smdebug.core.modes import ModeKeys
from smdebug.exceptions import SMDebugTypeError, SMDebugValueError
from smdebug.trials import create_trial

tf = pytest.importorskip("tensorflow")
if not version("keras").startswith("2."):
    pytest.skip("the names are those of Keras 2", allow_module_level=True)

from smdebug.tensorflow import (  # noqa: E402
    KerasHook, ReductionConfig, SaveConfig, SaveConfigMode, del_hook, get_hook, modes,
)  # fmt: skip

ALONE = {
    "TF_CPP_MIN_LOG_LEVEL": "3", "TF_ENABLE_ONEDNN_OPTS": "0", "TF_NUM_INTRAOP_THREADS": "1",
    "TF_NUM_INTEROP_THREADS": "1", "CUDA_VISIBLE_DEVICES": "-1",
}  # fmt: skip
EVERY_STEP = SaveConfig(save_interval=1)


@pytest.fixture(autouse=True)
def nobody_stays() -> Any:
    tf.keras.backend.clear_session()
    tf.keras.utils.set_random_seed(1)
    yield
    del_hook()


def small_model() -> Any:
    first = tf.keras.layers.Dense(4, "relu", name="first")
    return tf.keras.Sequential([tf.keras.Input((3,)), first, tf.keras.layers.Dense(1, name="last")])


def data(count: int = 12) -> tuple[Any, Any]:
    random = np.random.default_rng(0)
    return random.random((count, 3)).astype("float32"), random.random((count, 1)).astype("float32")


def fitted(hook: Any, *, epochs: int = 1, eagerly: bool = False, **options: Any) -> tuple[Any, list[Any]]:
    """The model, and its weights behind each batch."""
    model, seen = small_model(), []

    class Looks(tf.keras.callbacks.Callback):  # type: ignore[misc]
        def on_train_batch_end(self, batch: int, logs: Any = None) -> None:
            seen.append(model.get_weights())

    model.compile(hook.wrap_optimizer(tf.keras.optimizers.SGD(0.1)), "mse", metrics=["mae"], run_eagerly=eagerly)
    callbacks = [hook, Looks()]
    model.fit(*data(), batch_size=4, epochs=epochs, shuffle=False, verbose=0, callbacks=callbacks, **options)
    return model, seen


def run_program(source: str, *arguments: str, **environment: str) -> str:
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("TRAINWARDEN", "SMDEBUG"))}
    done = subprocess.run(
        [sys.executable, "-c", source, *arguments],
        env={**kept, **ALONE, **environment}, capture_output=True, text=True, timeout=200, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "trainwarden: error" not in done.stderr, done.stderr
    return done.stdout


@pytest.fixture(scope="module", params=["keras_fit", "gradient_tape"])
def recorded(request: pytest.FixtureRequest, shared_data: Path, tmp_path_factory: pytest.TempPathFactory) -> Any:
    """Name, folder of our run, what a run of the program without a hook prints, and with one."""
    program = shared_data / "smdebug_programs" / f"{request.param}.py"
    if not program.exists():
        pytest.skip(f"no program {program}")
    source = program.read_text() + "\nfor weight in model.get_weights(): print(weight.tobytes().hex())\n"
    plain = "\n".join(line for line in source.split("\n") if not line.endswith("# smdebug"))
    folder = tmp_path_factory.mktemp("recorded") / request.param
    return request.param, folder, run_program(plain), run_program(source, str(folder))


def test_a_program_as_it_was_recorded(recorded: Any, shared_trials: Path) -> None:
    name, folder, _, _ = recorded
    expected = json.loads((shared_trials / f"{name}.expected.json").read_text())
    trial = create_trial(str(folder))
    assert trial.steps() == expected["steps"]
    assert {mode.name: trial.steps(mode=mode) for mode in ModeKeys} == expected["modes"]
    assert trial.workers() == expected["workers"]
    for tensor_name, steps in expected["tensors"].items():
        tensor = trial.tensor(tensor_name)
        assert tensor.steps() == [int(step) for step in steps], tensor_name
        for step, numbers in steps.items():
            value = np.asarray(tensor.value(int(step)))
            # The number of an epoch, at a step that is not one to save, is kept as a number like any other.
            kind = "float64" if (tensor_name, step) in (("batch", "7"), ("batch", "15")) else numbers["dtype"]
            assert (list(value.shape), str(value.dtype)) == (numbers["shape"], kind), (tensor_name, step)
            found = [value.mean(dtype=np.float64), value.ravel()[0], value.ravel()[-1]]
            wanted = [numbers[key] for key in ("mean", "first", "last")]
            np.testing.assert_allclose(found, wanted, rtol=1e-4, atol=1e-6, err_msg=f"{tensor_name} {step}")
    for collection, names in expected["collections"].items():
        assert set(names) <= set(trial.tensor_names(collection=collection)), collection


def test_what_smdebug_left_out_of_a_compiled_fit_is_there(recorded: Any, shared_trials: Path) -> None:
    name, folder, _, _ = recorded
    expected = json.loads((shared_trials / f"{name}.expected.json").read_text())
    trial = create_trial(str(folder))
    more = set(trial.tensor_names()) - set(expected["tensors"])
    slots = {each for each in more if each.endswith(("/m:0", "/v:0"))}  # of the optimizer, which smdebug did not find
    assert len(slots) == 8
    if name == "gradient_tape":
        assert more == slots
        return
    layers = {f"{layer}/{part}" for layer in ("flatten", "hidden", "logits") for part in ("inputs", "outputs")}
    variables = [f"{layer}/{part}" for layer in ("hidden", "logits") for part in ("kernel", "bias")]
    gradients = {f"gradients/{variable}Grad" for variable in variables}
    assert more - slots == {*layers, *gradients, "inputs", "labels", "predictions"}
    assert set(trial.tensor_names(collection="layers")) == layers
    assert set(trial.tensor_names(collection="gradients")) == gradients
    for gradient in gradients:
        assert trial.tensor(gradient).steps(mode=modes.TRAIN) == [0, 2, 4, 6, 8, 10]
        assert trial.tensor(gradient).steps(mode=modes.EVAL) == []


def test_the_training_is_the_one_without_a_hook(recorded: Any) -> None:
    _, _, plain, hooked = recorded
    assert hooked == plain and len(hooked.splitlines()) == 4


def test_random_numbers_are_those_without_a_hook(tmp_path: Path) -> None:
    def weights(*hooks: Any) -> bytes:
        tf.keras.utils.set_random_seed(1)
        layers = tf.keras.layers
        model = tf.keras.Sequential([tf.keras.Input((3,)), layers.Dense(8), layers.Dropout(0.5), layers.Dense(1)])
        model.compile("sgd", "mse")
        model.fit(*data(), batch_size=4, epochs=4, verbose=0, callbacks=list(hooks))
        return b"".join(weight.tobytes() for weight in model.get_weights())

    late = SaveConfig(save_interval=3, start_step=5)
    hook = KerasHook(str(tmp_path / "run"), save_config=late, include_collections=["gradients", "layers"])
    assert weights(hook) == weights()
    hook.close()
    trial = create_trial(str(tmp_path / "run"))
    assert trial.tensor("gradients/dense/kernelGrad").steps(mode=modes.TRAIN) == [6, 9]


@pytest.mark.parametrize("eagerly", [False, True])
def test_values_are_those_of_the_training(tmp_path: Path, eagerly: bool) -> None:
    hook = KerasHook(str(tmp_path / "run"), save_config=SaveConfig(save_interval=2), save_all=True)
    model, seen = fitted(hook, eagerly=eagerly, epochs=2)
    hook.close()
    trial = create_trial(str(tmp_path / "run"))
    assert trial.steps() == [0, 2, 4, 5]  # behind the last one Keras says what the epoch was
    for step in (0, 2, 4):
        kernel = trial.tensor("first/weights/first/kernel:0").value(step)
        np.testing.assert_array_equal(kernel, seen[step][0])
        np.testing.assert_array_equal(trial.tensor("inputs").value(step), data()[0][step % 3 * 4 : step % 3 * 4 + 4])
        outputs = trial.tensor("first/outputs").value(step)
        np.testing.assert_array_equal(outputs, trial.tensor("last/inputs").value(step))
        before = seen[step - 1][0] if step else None
        gradient = trial.tensor("gradients/first/kernelGrad").value(step)
        if before is not None:
            np.testing.assert_allclose(before - 0.1 * gradient, kernel, rtol=1e-5, atol=1e-7)
    assert trial.tensor_names(collection="biases") == ["first/weights/first/bias:0", "last/weights/last/bias:0"]


def test_by_default_metrics_of_each_500th_step(tmp_path: Path) -> None:
    hook = KerasHook(str(tmp_path / "run"))
    fitted(hook)
    hook.close()
    trial = create_trial(str(tmp_path / "run"))
    assert (trial.steps(), trial.tensor_names()) == ([0, 2], ["batch", "loss", "mae"])
    assert trial.tensor_names(collection="losses") == ["loss"]


def test_modes_have_schedules_of_their_own(tmp_path: Path) -> None:
    never = SaveConfigMode(save_interval=1, end_step=0)
    config = SaveConfig({modes.TRAIN: never, modes.EVAL: SaveConfigMode(1), modes.PREDICT: SaveConfigMode(2)})
    hook = KerasHook(str(tmp_path / "run"), save_config=config, save_all=True)
    model, _ = fitted(hook)
    model.evaluate(*data(), batch_size=4, verbose=0, callbacks=[hook])
    model.predict(data()[0], batch_size=4, verbose=0, callbacks=[hook])
    hook.close()
    trial = create_trial(str(tmp_path / "run"))
    outputs = trial.tensor("last/outputs")
    assert [outputs.steps(mode=mode) for mode in (modes.TRAIN, modes.EVAL, modes.PREDICT)] == [[], [0, 1, 2], [0, 2]]
    assert not any(name.startswith("gradients/") for name in trial.tensor_names())


def test_collections_reductions_and_what_the_program_hands_over(tmp_path: Path) -> None:
    hook = KerasHook(
        str(tmp_path / "run"), save_config=EVERY_STEP, include_collections=["weights", "mine"],
        reduction_config=ReductionConfig(reductions=["max", "prod"], norms=["l2"]),
    )  # fmt: skip
    model = small_model()
    hook.get_collection("mine").add_keras_layer(model.layers[0], inputs=True)

    class HandsOver(tf.keras.callbacks.Callback):  # type: ignore[misc]
        def on_train_batch_end(self, batch: int, logs: Any = None) -> None:
            hook.save_scalar("mine", tf.constant(0.5))
            hook.save_tensor("by_hand", tf.ones((2, 2)))

    model.compile("sgd", "mse")
    model.fit(*data(4), batch_size=4, verbose=0, callbacks=[HandsOver(), hook])
    with pytest.raises(SMDebugTypeError, match="expected one number"):
        hook.save_scalar("mine", tf.ones(2))
    hook.close()
    trial = create_trial(str(tmp_path / "run"))
    kernel = model.get_weights()[0]
    tensor = trial.tensor("first/weights/first/kernel:0")
    assert tensor.reduction_value(0, "max") == pytest.approx(kernel.max(), rel=1e-6)
    assert tensor.reduction_value(0, "prod") == pytest.approx(kernel.prod(), rel=1e-5)
    assert tensor.reduction_value(0, "l2") == pytest.approx(np.linalg.norm(kernel), rel=1e-5)
    assert trial.tensor_names(collection="mine") == ["first/inputs", "first/outputs"]
    assert trial.tensor("scalar/mine").value(0) == 0.5
    np.testing.assert_array_equal(trial.tensor("by_hand").value(0), np.ones((2, 2)))


def taped(hook: Any, model: Any, steps: int, persistent: bool = False) -> list[Any]:
    """Weights of the first layer before each update."""
    optimizer, seen = hook.wrap_optimizer(tf.keras.optimizers.SGD(0.1)), []
    x, y = (tf.constant(each) for each in data(4))
    for _ in range(steps):
        with hook.wrap_tape(tf.GradientTape(persistent=persistent)) as tape:
            loss = tf.reduce_mean(tf.square(model(x, training=True) - y))
            with tape.stop_recording():
                float(loss)
        seen.append(model.get_weights()[0])
        gradients = tape.gradient(loss, model.trainable_variables)
        optimizer.apply_gradients(zip(gradients, model.trainable_variables))
    return seen


@pytest.mark.parametrize("persistent", [False, True])
def test_each_wrapped_tape_is_a_step(tmp_path: Path, persistent: bool) -> None:
    hook = KerasHook(str(tmp_path / "run"), save_config=SaveConfig(save_interval=2), save_all=True)
    model = small_model()
    hook.register_model(model)
    seen = taped(hook, model, 5, persistent)
    with tf.GradientTape() as tape:  # not wrapped
        tape.gradient(tf.reduce_sum(model(tf.ones((1, 3)))), model.trainable_variables)
    hook.close()
    trial = create_trial(str(tmp_path / "run"))
    assert trial.steps(mode=modes.TRAIN) == trial.steps() == [0, 2, 4]
    for step in trial.steps():
        kernel = trial.tensor("weights/first/kernel:0").value(step)
        np.testing.assert_array_equal(kernel, seen[step])
        outputs = trial.tensor("first/outputs").value(step)
        assert outputs.shape == (4, 4)
        if step < 4:
            gradient = trial.tensor("gradients/first/kernelGrad").value(step)
            np.testing.assert_allclose(kernel - 0.1 * gradient, seen[step + 1], rtol=1e-5, atol=1e-7)
    assert trial.tensor_names(collection="losses") == ["loss"]


def test_a_tape_in_a_compiled_function_is_left_alone(tmp_path: Path) -> None:
    hook = KerasHook(str(tmp_path / "run"), save_config=EVERY_STEP)
    variable = tf.Variable(2.0)

    @tf.function  # type: ignore[misc]
    def gradient() -> Any:
        with hook.wrap_tape(tf.GradientTape()) as tape:
            loss = variable * variable
        return tape.gradient(loss, variable)

    assert float(gradient()) == 4
    hook.close()
    assert not (tmp_path / "run").exists()


def test_wrong_usage_is_told(tmp_path: Path) -> None:
    hook = KerasHook(str(tmp_path / "run"))
    with pytest.raises(SMDebugTypeError, match="expected a tf.GradientTape"):
        hook.wrap_tape([])
    with pytest.raises(SMDebugTypeError, match="expected an optimizer"):
        hook.wrap_optimizer([])
    with pytest.raises(SMDebugValueError, match='"keras", "session" or "estimator"'):
        get_hook("others")
    assert get_hook() is hook and get_hook("keras") is hook


def test_the_hook_of_a_configuration(tmp_path: Path) -> None:
    assert get_hook("keras") is None
    file = tmp_path / "config.json"
    file.write_text(
        json.dumps(
            {"LocalPath": str(tmp_path / "run"), "HookParameters": {"save_interval": "2"},
             "CollectionConfigurations": [{"CollectionName": "gradients"}]}
        )  # fmt: skip
    )
    hook = get_hook("keras", json_config_path=str(file), create_if_not_exists=True)
    assert isinstance(hook, KerasHook)
    fitted(hook)
    hook.close()
    gradients = create_trial(str(tmp_path / "run")).tensor_names(collection="gradients")
    assert gradients == [f"gradients/{name}Grad" for name in ("first/bias", "first/kernel", "last/bias", "last/kernel")]


def test_a_request_ends_fit_and_the_program_goes_on(tmp_path: Path) -> None:
    hook = KerasHook(str(tmp_path / "run"), save_config=EVERY_STEP)

    class Asks(tf.keras.callbacks.Callback):  # type: ignore[misc]
        def on_train_batch_end(self, batch: int, logs: Any = None) -> None:
            trainwarden.stop(tmp_path / "run", wait=False)

    model = small_model()
    model.compile("sgd", "mse")
    model.fit(*data(400), batch_size=4, epochs=20, verbose=0, callbacks=[hook, Asks()])
    assert int(model.optimizer.iterations.numpy()) < 2000
    assert trainwarden.open(tmp_path / "run").state.value == "stopped"


def test_a_fault_of_ours_is_not_the_programs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def broken(*_: Any) -> None:
        raise ValueError("broken")

    hook = KerasHook(str(tmp_path / "run"), save_config=EVERY_STEP, save_all=True)
    monkeypatch.setattr(hook, "_save", broken)
    _, seen = fitted(hook)
    hook.close()
    assert len(seen) == 3 and "could not save a batch of Keras: ValueError: broken" in capsys.readouterr().err


def test_under_run_the_hook_of_the_program_captures(tmp_path: Path) -> None:
    program = (
        "import numpy as np, tensorflow as tf\n"
        "from smdebug.tensorflow import KerasHook, SaveConfig\n"
        "model = tf.keras.Sequential([tf.keras.Input((3,)), tf.keras.layers.Dense(1)])\n"
        "model.compile('sgd', 'mse')\n"
        "hook = KerasHook('elsewhere', save_config=SaveConfig(save_interval=2))\n"
        "model.fit(np.ones((20, 3)), np.ones((20, 1)), batch_size=4, verbose=0, callbacks=[hook])\n"
    )
    run_program(program, TRAINWARDEN_ATTACH="1", TRAINWARDEN_RUN_DIR=str(tmp_path / "run"))
    assert [path.name for path in tmp_path.iterdir()] == ["run"]
    trial = create_trial(str(tmp_path / "run"))
    assert trial.steps() == [0, 2, 4] and trial.tensor_names() == ["batch", "loss"]
