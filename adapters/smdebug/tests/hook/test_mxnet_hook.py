"""The hook for Gluon: programs as they were recorded with smdebug, and what the hook promises."""

from __future__ import annotations

import copy
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import trainwarden
from smdebug.core.modes import ModeKeys
from smdebug.exceptions import SMDebugError, SMDebugTypeError
from smdebug.trials import create_trial

mx = pytest.importorskip("mxnet")
gluon = pytest.importorskip("mxnet.gluon")

from smdebug.mxnet import Hook, ReductionConfig, SaveConfig, del_hook, get_hook, modes  # noqa: E402


@pytest.fixture(autouse=True)
def nobody_stays() -> Any:
    yield
    del_hook()


def small_model() -> tuple[Any, Any, Any]:
    model = gluon.nn.HybridSequential(prefix="net_")
    with model.name_scope():
        model.add(gluon.nn.Dense(4, activation="relu", in_units=3), gluon.nn.Dense(2, in_units=4))
    model.initialize()
    trainer = gluon.Trainer(model.collect_params(), "sgd", {"learning_rate": 0.1})
    return model, gluon.loss.SoftmaxCrossEntropyLoss(prefix="crossloss0_"), trainer


def train(model: Any, criterion: Any, trainer: Any, steps: int) -> list[Any]:
    losses = []
    for step in range(steps):
        with mx.autograd.record():
            loss = criterion(model(mx.nd.ones((5, 3)) * step), mx.nd.array([0, 1, 0, 1, 1]))
        loss.backward()
        trainer.step(5)
        losses.append(loss.asnumpy())
        loss[:] = 0
    return losses


@pytest.mark.parametrize("name", ["gluon_cnn", "gluonnlp_bert"])
def test_a_program_as_it_was_recorded(name: str, shared_data: Path, shared_trials: Path, tmp_path: Path) -> None:
    """smdebug left out gradients of the last step before an evaluation and weights of some steps; ours has them."""
    program = shared_data / "smdebug_programs" / f"{name}.py"
    if not program.exists():
        pytest.skip(f"no program {program}")
    if name == "gluonnlp_bert":
        pytest.importorskip("gluonnlp")
    subprocess.run([sys.executable, str(program), str(tmp_path / "run")], check=True, timeout=200)
    expected = json.loads((shared_trials / f"{name}.expected.json").read_text())
    trial = create_trial(str(tmp_path / "run"))
    assert trial.steps() == expected["steps"]
    assert {mode.name: trial.steps(mode=mode) for mode in ModeKeys} == expected["modes"]
    assert trial.workers() == expected["workers"]
    more = set(trial.tensor_names()) - set(expected["tensors"])
    assert all("put_" in each for each in more), "what blocks take and give"
    assert (name == "gluon_cnn") == bool(more)
    for tensor_name, recorded in expected["tensors"].items():
        tensor = trial.tensor(tensor_name)
        for step, numbers in recorded.items():
            value = np.asarray(tensor.value(int(step)))
            assert list(value.shape) == numbers["shape"] and str(value.dtype) == numbers["dtype"]
            found = [value.mean(dtype=np.float64), value.ravel()[0], value.ravel()[-1]]
            wanted = [numbers[key] for key in ("mean", "first", "last")]
            # Another processor adds up in another order, and the training carries that on.
            np.testing.assert_allclose(found, wanted, rtol=1e-3, atol=1e-6, err_msg=f"{tensor_name} {step}")
        assert not tensor_name.startswith("gradient/") or not tensor.steps(mode=ModeKeys.EVAL)
    for collection in ("losses", "weights", "biases", "gradients"):
        assert sorted(trial.tensor_names(collection=collection)) == expected["collections"][collection], collection


def test_values_are_those_of_the_training(tmp_path: Path) -> None:
    model, criterion, trainer = small_model()
    hook = Hook(tmp_path / "run", save_config=SaveConfig(save_interval=2), save_all=True)
    hook.register_block(model)
    hook.register_block(criterion)
    losses = train(model, criterion, trainer, 5)
    weight = model[1].weight.data().asnumpy()
    gradient = model[1].weight.grad().asnumpy()
    hook.close()
    trial = create_trial(str(tmp_path / "run"))
    assert trial.steps() == [0, 2, 4]
    for step in trial.steps():
        np.testing.assert_array_equal(trial.tensor("crossloss0_output_0").value(step), losses[step])
        np.testing.assert_array_equal(trial.tensor("net_dense0_input_0").value(step), np.full((5, 3), step))
    np.testing.assert_array_equal(trial.tensor("net_dense1_weight").value(4), weight)
    np.testing.assert_array_equal(trial.tensor("gradient/net_dense1_weight").value(4), gradient)
    before, behind = (trial.tensor(f"net_dense0_relu_{part}put_0").value(2) for part in ("in", "out"))
    np.testing.assert_array_equal(behind, np.maximum(before, 0))
    assert trial.tensor_names(collection="losses") == ["crossloss0_output_0"]


def test_by_default_losses_of_each_500th_step(tmp_path: Path) -> None:
    model, criterion, trainer = small_model()
    hook = Hook(tmp_path / "run")
    hook.register_block(model)
    hook.register_block(criterion)
    train(model, criterion, trainer, 3)
    hook.close()
    trial = create_trial(str(tmp_path / "run"))
    assert (trial.steps(), trial.tensor_names()) == ([0], ["crossloss0_output_0"])


def test_evaluation_saves_no_gradients(tmp_path: Path) -> None:
    model, criterion, trainer = small_model()
    hook = Hook(tmp_path / "run", save_config=SaveConfig(save_interval=1), save_all=True)
    hook.register_block(model)
    hook.set_mode(modes.TRAIN)
    train(model, criterion, trainer, 2)
    hook.set_mode(modes.EVAL)
    model(mx.nd.ones((5, 3)))
    hook.close()
    trial = create_trial(str(tmp_path / "run"))
    gradient, output = trial.tensor("gradient/net_dense0_weight"), trial.tensor("net_dense1_output_0")
    assert (gradient.steps(mode=modes.TRAIN), gradient.steps(mode=modes.EVAL)) == ([0, 1], [])
    assert (output.steps(mode=modes.TRAIN), output.steps(mode=modes.EVAL)) == ([0, 1], [0])


def test_reductions_scalars_and_tensors_by_hand(tmp_path: Path) -> None:
    model, criterion, trainer = small_model()
    reductions = ReductionConfig(reductions=["max", "prod"], norms=["l2"])
    every_step = SaveConfig(save_interval=1)
    hook = Hook(
        tmp_path / "run", reduction_config=reductions, save_config=every_step, include_collections=["weights"]
    )
    hook.get_collection("mine").add_block_tensors(model[0])
    hook.register_block(model)
    train(model, criterion, trainer, 1)
    hook.save_scalar("accuracy", mx.nd.array([0.5]))
    hook._write_raw_tensor_simple("input_tokens", [["a", "b"]])
    hook.save_tensor("by_hand", mx.nd.ones((2, 2)))
    with pytest.raises(SMDebugTypeError, match="expected a number"):
        hook.save_scalar("accuracy", mx.nd.ones(2))
    weight = model[0].weight.data().asnumpy()
    hook.close()
    trial = create_trial(str(tmp_path / "run"))
    tensor = trial.tensor("net_dense0_weight")
    assert tensor.reduction_value(0, "max") == pytest.approx(weight.max(), rel=1e-6)
    assert tensor.reduction_value(0, "prod") == pytest.approx(weight.prod(), rel=1e-5)
    assert tensor.reduction_value(0, "l2") == pytest.approx(np.linalg.norm(weight), rel=1e-5)
    assert trial.tensor("scalar/accuracy").value(0) == 0.5
    assert np.asarray(trial.tensor("input_tokens").value(0)).ravel().tolist() == ["a", "b"]
    np.testing.assert_array_equal(trial.tensor("by_hand").value(0), np.ones((2, 2)))


def test_a_copied_model_takes_nothing_along(tmp_path: Path) -> None:
    model, _, _ = small_model()
    hook = Hook(tmp_path / "run", save_config=SaveConfig(save_interval=1), save_all=True)
    hook.register_block(model)
    copy.deepcopy(model)(mx.nd.ones((5, 3)))
    model(mx.nd.ones((5, 3)))
    hook.close()
    assert create_trial(str(tmp_path / "run")).steps() == [0]


def test_only_blocks_can_be_registered(tmp_path: Path) -> None:
    with pytest.raises(SMDebugError, match="expected a Block of Gluon, found list"):
        Hook(tmp_path / "run").register_hook([])


def test_a_request_ends_the_training(tmp_path: Path) -> None:
    model, criterion, trainer = small_model()
    run = tmp_path / "run"
    hook = Hook(run, save_config=SaveConfig(save_interval=1), save_all=True)
    hook.register_block(model)
    train(model, criterion, trainer, 2)
    trainwarden.stop(run, wait=False)
    with pytest.raises(trainwarden.StopTraining):
        train(model, criterion, trainer, 5000)
    assert trainwarden.open(run).state.value == "stopped"


def test_under_run_the_hook_of_the_program_captures(tmp_path: Path) -> None:
    program = (
        "import mxnet as mx\n"
        "from mxnet import autograd, gluon\n"
        "from smdebug.mxnet import Hook, SaveConfig\n"
        "model, criterion = gluon.nn.Dense(2, in_units=3), gluon.loss.L2Loss()\n"
        "model.initialize()\n"
        "trainer = gluon.Trainer(model.collect_params(), 'sgd')\n"
        "hook = Hook('elsewhere', save_config=SaveConfig(save_interval=2))\n"
        "hook.register_block(model); hook.register_block(criterion)\n"
        "for _ in range(5):\n"
        "    with autograd.record(): loss = criterion(model(mx.nd.ones((4, 3))), mx.nd.ones((4, 2)))\n"
        "    loss.backward(); trainer.step(4)\n"
    )
    environment = {**os.environ, "TRAINWARDEN_ATTACH": "1", "TRAINWARDEN_RUN_DIR": str(tmp_path / "run")}
    done = subprocess.run(
        [sys.executable, "-c", program],
        env=environment, cwd=tmp_path, capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["run"]
    trial = create_trial(str(tmp_path / "run"))
    assert trial.steps() == [0, 2, 4] and trial.tensor_names() == ["l2loss0_output_0"]


def test_the_hook_of_a_configuration(tmp_path: Path) -> None:
    assert get_hook() is None
    file = tmp_path / "config.json"
    file.write_text(
        json.dumps(
            {"LocalPath": str(tmp_path / "run"), "HookParameters": {"save_interval": "2"},
             "CollectionConfigurations": [{"CollectionName": "gradients"}]}
        )  # fmt: skip
    )
    hook = get_hook(str(file), create_if_not_exists=True)
    assert isinstance(hook, Hook) and get_hook() is hook
    model, criterion, trainer = small_model()
    hook.register_block(model)
    train(model, criterion, trainer, 3)
    hook.close()
    trial = create_trial(str(tmp_path / "run"))
    assert trial.steps() == [0, 2]
    parts = ("0_bias", "0_weight", "1_bias", "1_weight")
    assert trial.tensor_names() == [f"gradient/net_dense{part}" for part in parts]


def test_an_error_that_mxnet_has_kept_back_is_the_programs(tmp_path: Path) -> None:
    model, _, _ = small_model()
    Hook(tmp_path / "run", save_config=SaveConfig(save_interval=1), save_all=True).register_block(model)
    with pytest.raises(mx.base.MXNetError, match="sca|loc|scale|> 0|params"):
        model(mx.nd.random.normal(0, -1, (4, 3)))


def test_a_fault_of_ours_is_not_the_programs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def broken(*_: Any) -> None:
        raise ValueError("broken")

    model, criterion, trainer = small_model()
    hook = Hook(tmp_path / "run", save_config=SaveConfig(save_interval=1), save_all=True)
    hook.register_block(model)
    monkeypatch.setattr(hook, "save_call", broken)
    train(model, criterion, trainer, 2)
    assert "could not save what net_dense0 computes" in capsys.readouterr().err
