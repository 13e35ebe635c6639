"""Programs that train with JAX: nothing that they do changes, and their runs hold what was trained."""

from __future__ import annotations

import numpy as np
import pytest
from untouched import Captured, Runner

STEPS = 6
NAMES = ["hidden/kernel", "hidden/bias", "out/kernel", "out/bias"]
LOOPS = ["optax_jit", "donated", "decorated", "nested", "remat", "by_hand", "by_grad", "jitted_parts", "eager_update",
         "eager", "method", "compiled_again", "static_flag"]  # fmt: skip
ALL = [*LOOPS, "scan", "ensemble"]


def ran(runner: Runner, way: str) -> Captured:
    return runner.captured("train.py", way)


@pytest.mark.parametrize("way", ALL)
def test_nothing_that_a_training_does_changes(runner: Runner, way: str) -> None:
    done = ran(runner, way)
    assert done.plain.exit_code == 0, done.plain.stderr
    assert done.attached.stdout == done.plain.stdout
    assert (done.attached.stderr, done.attached.exit_code) == (done.plain.stderr, 0)


@pytest.mark.parametrize("way", ALL)
def test_steps_are_those_of_the_training(runner: Runner, way: str) -> None:
    trial = ran(runner, way).trial
    assert trial.steps("train") == list(range(STEPS)) and trial.steps("eval") == []
    assert trial.state.value == "completed" and trial.losses == []


@pytest.mark.parametrize("way", [way for way in ALL if way != "ensemble"])
def test_the_loss_of_each_step_is_there(runner: Runner, way: str) -> None:
    done = ran(runner, way)
    found = [done.trial.scalar("loss", step, "train") for step in range(STEPS)]
    assert found == pytest.approx(done.seen["losses"].tolist(), rel=1e-6)
    assert done.trial.tensor_names(collection="losses") == ["loss"]


@pytest.mark.parametrize("way", LOOPS)
def test_gradients_and_weights_are_those_of_the_step(runner: Runner, way: str) -> None:
    done = ran(runner, way)
    assert sorted(done.trial.tensor_names(collection="gradients")) == sorted(f"gradient/{name}" for name in NAMES)
    for name in [*NAMES, *(f"gradient/{name}" for name in NAMES)]:
        expected = done.seen[name.replace("/", "|")]
        found = np.asarray(done.trial.value(name, STEPS - 1))
        assert found.shape == expected.shape
        np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-6, err_msg=name)
    assert not (np.asarray(done.trial.value("hidden/kernel", 0)) == done.seen["hidden|kernel"]).all()
