"""Programs that train with JAX: nothing that they do changes, and their runs hold what was trained."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from untouched import Captured, Runner

import trainwarden

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


@pytest.mark.parametrize("way", ["prints", "calls", "asks", "called_wrongly", "lets_go", "policies"])
def test_what_a_step_does_outside_it_does_once(runner: Runner, way: str) -> None:
    done = runner.captured("outside.py", way)
    assert done.plain.exit_code == done.attached.exit_code == 0, done.plain.stderr + done.attached.stderr
    assert done.attached.stdout == done.plain.stdout
    assert "error" not in done.attached.stderr


def test_each_shape_is_compared_by_itself() -> None:
    """A twin is compiled for each, and may round in another way in one of them alone: that of the last batch, say."""
    from trainwarden.jax.twins import Program

    program, batches = Program(lambda rows: rows, {}), [8, 8, 8, 8, 3, 8, 3]
    asked = [program.is_to_be_compared(("loss",), (np.zeros((rows, 2)),), {}) for rows in batches]
    assert asked == [True, True, False, True, True, False, True]
    assert program.is_to_be_compared(("loss", "gradient"), (np.zeros((8, 2)),), {})


def test_tensors_of_a_step_that_prints_are_captured(runner: Runner) -> None:
    trial = runner.captured("outside.py", "prints").trial
    assert trial.steps("train") == list(range(9))
    assert "gradient/w" in trial.tensor_names() and trial.value("gradient/w", 8).shape == (4,)


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


@pytest.mark.parametrize("way", ["donated", "jitted_parts"])
def test_losses_of_steps_that_are_not_captured_are_there(runner: Runner, way: str, tmp_path: Path) -> None:
    """The last one, too, for which no next step comes."""
    config = {"include_collections": ["gradients"], "save": {"save_interval": 3}}
    ended = runner.start("train.py", way, environment=runner.attached_environment(tmp_path / "run", config))
    plain = ran(runner, way).plain
    assert (ended.exit_code, ended.stdout, ended.stderr) == (0, plain.stdout, plain.stderr)
    trial = trainwarden.open(tmp_path / "run")
    said = [float(line.split()[1]) for line in plain.stdout.splitlines() if line.startswith("loss")]
    assert [trial.scalar("loss", step) for step in range(STEPS)] == pytest.approx(said, rel=1e-6)
    assert trial.steps("train") == list(range(STEPS))
    assert trial.tensor("gradient/out/kernel").steps() == [0, 3]


def test_a_loop_within_a_function_has_its_steps(runner: Runner) -> None:
    done = ran(runner, "scan")
    assert np.asarray(done.trial.value("gradient/hidden/kernel", 2)).shape == (4, 8)
    plain = ran(runner, "optax_jit").trial
    for step in range(STEPS):
        expected = np.asarray(plain.value("gradient/hidden/kernel", step))
        found = np.asarray(done.trial.value("gradient/hidden/kernel", step))
        np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-6)
    np.testing.assert_allclose(np.asarray(done.trial.value("out/bias", STEPS - 1)), done.seen["out|bias"], rtol=1e-6)


def test_members_of_an_ensemble_lie_beside_each_other(runner: Runner) -> None:
    done = ran(runner, "ensemble")
    assert np.asarray(done.trial.value("gradient/hidden/kernel", 0)).shape == (2, 4, 8)
    found = np.asarray(done.trial.value("hidden/kernel", STEPS - 1))
    np.testing.assert_allclose(found, done.seen["hidden|kernel"], rtol=1e-6)


@pytest.mark.parametrize("way", ["by_hand", "scan", "optax_jit"])
def test_weights_alone_have_the_same_steps(runner: Runner, way: str, tmp_path: Path) -> None:
    config = {"include_collections": ["weights"], "save": {"save_interval": 1}}
    ended = runner.start("train.py", way, environment=runner.attached_environment(tmp_path / "run", config))
    assert (ended.exit_code, ended.stdout) == (0, ran(runner, way).plain.stdout), ended.stderr
    trial = trainwarden.open(tmp_path / "run")
    assert trial.steps("train") == list(range(STEPS))
    assert sorted(trial.tensor_names()) == ["hidden/kernel", "loss", "out/kernel"]
    last = np.asarray(trial.value("out/kernel", STEPS - 1))
    np.testing.assert_allclose(last, ran(runner, way).seen["out|kernel"], rtol=1e-6)
