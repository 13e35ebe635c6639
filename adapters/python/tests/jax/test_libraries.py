"""Programs that train with flax and equinox."""

from __future__ import annotations

import numpy as np
import pytest
from untouched import Captured, Runner

STEPS = 5


@pytest.fixture(params=["linen", "nnx", "equinox"])
def done(request: pytest.FixtureRequest, runner: Runner) -> Captured:
    pytest.importorskip("equinox" if request.param == "equinox" else "flax")
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
    ):
        done = runner.captured("libraries.py", way)
        np.testing.assert_allclose(np.asarray(done.trial.value(name, STEPS - 1, "train")), done.seen[key], rtol=1e-6)


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
