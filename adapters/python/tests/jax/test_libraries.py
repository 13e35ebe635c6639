"""Programs that train with flax and equinox."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from untouched import Captured, Runner

import trainwarden

STEPS = 5


@pytest.fixture(params=["linen", "nnx", "equinox", "multi_steps"])
def done(request: pytest.FixtureRequest, runner: Runner) -> Captured:
    pytest.importorskip({"equinox": "equinox", "multi_steps": "optax"}.get(request.param, "flax"))
    return runner.captured("libraries.py", request.param)


def test_nothing_that_a_training_does_changes(done: Captured) -> None:
    assert done.plain.exit_code == 0, done.plain.stderr
    assert (done.attached.stdout, done.attached.stderr) == (done.plain.stdout, done.plain.stderr)


def test_losses_gradients_and_weights_are_there(done: Captured) -> None:
    trial = done.trial
    assert trial.steps("train") == list(range(STEPS)) and trial.losses == []
    found = [trial.scalar("loss", step, "train") for step in range(STEPS)]
    assert found == pytest.approx(done.seen["losses"].tolist(), rel=1e-6)
    names = [*trial.tensor_names(collection="weights"), *trial.tensor_names(collection="biases")]
    assert len(names) == 4
    assert sorted(trial.tensor_names(collection="gradients")) == sorted(f"gradient/{name}" for name in names)
    for name in names:
        assert trial.value(name, STEPS - 1, "train").shape == trial.value(f"gradient/{name}", STEPS - 1, "train").shape


def test_weights_of_the_last_step_are_those_the_program_ends_with(runner: Runner) -> None:
    for way, name, key in (
        ("linen", "block/Dense_0/bias", "block_bias"),
        ("nnx", "hidden/kernel", "hidden_kernel"),
        ("equinox", "layers/0/weight", "hidden_kernel"),
        ("multi_steps", "hidden/kernel", "hidden_kernel"),
    ):
        done = runner.captured("libraries.py", way)
        np.testing.assert_allclose(np.asarray(done.trial.value(name, STEPS - 1, "train")), done.seen[key], rtol=1e-6)


def test_where_gradients_are_summed_up_each_batch_is_a_step(runner: Runner) -> None:
    trial = runner.captured("libraries.py", "multi_steps").trial
    kernels = [np.asarray(trial.value("hidden/kernel", step, "train")) for step in range(STEPS)]
    changed = [not np.array_equal(before, after) for before, after in zip(kernels, kernels[1:])]
    assert changed == [True, False, True, False]
    assert all(np.abs(trial.value("gradient/hidden/kernel", step, "train")).max() > 0 for step in range(STEPS))


def test_numbers_that_a_step_gives_in_a_dict_are_metrics(runner: Runner, tmp_path: Path) -> None:
    done = runner.captured("libraries.py", "multi_steps")
    environment = runner.attached_environment(tmp_path / "run", {"include_collections": ["losses"]})
    assert runner.start("libraries.py", "multi_steps", environment=environment).exit_code == 0
    for trial in (done.trial, trainwarden.open(tmp_path / "run")):
        assert trial.tensor_names(collection="metrics") == ["error/root"]
        found = [trial.scalar("error/root", step, "train") for step in range(STEPS)]
        assert found == pytest.approx(np.sqrt(done.seen["losses"]).tolist(), rel=1e-6)


def test_outputs_of_layers_and_judging_are_there(runner: Runner) -> None:
    done = runner.captured("libraries.py", "linen")
    trial = done.trial
    assert sorted(trial.tensor_names(collection="outputs")) == [
        "Dense_0_output_0", "Net_output_0", "block/Dense_0_output_0", "block/Dropout_0_output_0", "block_output_0"
    ]  # fmt: skip
    assert trial.steps("eval") == list(range(STEPS)) and trial.steps("predict") == [0]
    judged = [float(line.split()[1]) for line in done.plain.stdout.splitlines() if line.startswith("judged")]
    assert [trial.scalar("result", step, "eval") for step in range(STEPS)] == pytest.approx(judged, rel=1e-6)
    np.testing.assert_allclose(np.asarray(trial.value("Net_output_0", 0, "predict")), done.seen["output"], rtol=1e-6)
    dropped = np.asarray(trial.value("block/Dropout_0_output_0", 0, "train"))
    assert 0.2 < (dropped == 0).mean() < 0.95, "of the pass that trains, with dropout"
