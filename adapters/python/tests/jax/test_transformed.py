"""Jitted functions are what they were, and trainings within transformations are captured or said not to be."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from untouched import EVERYTHING, Runner

import trainwarden

WHOLE = ["bias", "gradient/bias", "gradient/kernel", "kernel"]
# What optax.MultiSteps keeps from batch to batch.
ACCUMULATED = [f"optimizer_state/{name}" for name in ("bias/acc_grads", "kernel/acc_grads", "gradient_step", "mini_step")]
# The steps, the tensors, and what is said of those that cannot be had.
EXPECTED = {
    "sharded": (4, ["loss", *WHOLE], None),
    "cut_weights": (4, ["loss", *WHOLE], None),
    "cut_twice": (4, ["loss", *WHOLE], None),
    "shard_map": (4, WHOLE, "1 tensors within shard_map of a jitted function cannot be captured"),
    "pmap": (0, [], "a training was traced, and nothing of it captured: it is not called through jax.jit"),
    "cond": (4, [], "7 tensors within cond of a jitted function cannot be captured"),
    "while_loop": (4, ["bias", "kernel", "loss"], "4 tensors within while of a jitted function cannot be captured"),
    "multi_steps": (4, ["loss", *WHOLE, *ACCUMULATED], None),
    "two_models": (
        4,
        ["loss", "loss#1", *WHOLE, "model_1/bias", "model_1/kernel", "gradient/model_1/bias", "gradient/model_1/kernel"],
        None,
    ),
    "accumulated": (4, ["loss", "loss#1", *WHOLE], None),
    "eighths": (
        4,
        ["loss", *WHOLE],
        "arrays of float8_e4m3b11fnuz are kept as their statistics, which JAX computes in float32",
    ),
    "keys_and_halves": (4, ["loss", *WHOLE], None),
}


def test_a_jitted_function_is_what_it_was(runner: Runner) -> None:
    done = runner.captured("jitted.py")
    assert done.plain.exit_code == 0, done.plain.stderr
    assert done.attached.stdout.splitlines() == done.plain.stdout.splitlines()
    assert done.attached.stderr == done.plain.stderr


@pytest.mark.parametrize("way", list(EXPECTED))
def test_what_cannot_be_captured_is_said_and_nothing_changes(runner: Runner, way: str) -> None:
    done = runner.captured("transformed.py", way)
    steps, names, said = EXPECTED[way]
    assert done.plain.exit_code == 0, done.plain.stderr
    assert done.attached.stdout == done.plain.stdout
    assert done.attached.stderr.replace(done.plain.stderr, "") == ("" if said is None else f"trainwarden: {said}\n")
    if steps == 0:
        assert not done.run_dir.exists()
        return
    assert sorted(done.trial.tensor_names()) == sorted(names)
    assert done.trial.losses == []
    if names:
        assert done.trial.steps("train") == list(range(steps))


@pytest.mark.parametrize("way", ["cut_weights", "cut_twice"])
def test_arrays_that_are_cut_over_devices_are_whole_in_the_run(runner: Runner, way: str) -> None:
    done = runner.captured("transformed.py", way)
    weights = bytes.fromhex(done.plain.stdout.split()[-1])
    expected = np.frombuffer(weights, np.float32)
    assert np.asarray(done.trial.value("kernel", 3)).ravel().tolist() == expected[1:].tolist()


@pytest.mark.parametrize("way", ["cut_weights", "cut_twice"])
def test_statistics_of_arrays_that_are_cut_are_those_of_the_whole(runner: Runner, way: str, tmp_path: Path) -> None:
    """To the last bit, though none was put together; and parts that several devices have count once."""
    config = {**EVERYTHING, "keep": {"values": False, "statistics": True}}
    ended = runner.start("transformed.py", way, environment=runner.attached_environment(tmp_path / "run", config))
    whole = runner.captured("transformed.py", way)
    assert (ended.exit_code, ended.stdout) == (0, whole.plain.stdout)
    trial = trainwarden.open(tmp_path / "run")
    assert trial.losses == []
    for name in WHOLE:
        for step in range(4):
            value = np.asarray(whole.trial.value(name, step))
            found = trial.statistics(name, step)
            assert found == trainwarden.compute_statistics(value), (name, step)
    

def test_arrays_that_only_jax_can_read_have_approximate_statistics(runner: Runner) -> None:
    done = runner.captured("transformed.py", "eighths")
    ml_dtypes = pytest.importorskip("ml_dtypes")
    weights = bytes.fromhex(done.plain.stdout.split()[-1])  # a bias of four bytes, and four of a byte
    kernel = np.frombuffer(weights[4:], ml_dtypes.float8_e4m3b11fnuz).astype(np.float64)
    found = done.trial.statistics("kernel", 3)
    assert found.approximate and not done.trial.statistics("bias", 3).approximate
    assert (found.count, found.min, found.max) == (4, kernel.min(), kernel.max())
    assert found.zero_count == (kernel == 0).sum() and found.nan_count == found.inf_count == 0
    assert found.mean == pytest.approx(kernel.mean(), rel=1e-6)
    assert found.std == pytest.approx(kernel.std(), rel=1e-6)
    assert found.l2 == pytest.approx(np.linalg.norm(kernel), rel=1e-6)
    assert done.trial.tensor("gradient/kernel").steps() == [0, 1, 2, 3]


FAULTS = {
    "twin": "import trainwarden.jax.twins as twins; twins.jaxpr_as_fun = None",
    "plan": "import trainwarden.jax.twins as twins; twins.plan_and_program = None",
    "record": "import trainwarden.jax.recorder as recorder; recorder.Recorder.record = None",
    "tag": "import trainwarden.jax.tags as tags; tags.mark_tree = None",
}


@pytest.mark.parametrize("fault", list(FAULTS))
def test_a_fault_of_ours_is_none_of_the_trainings(runner: Runner, fault: str, tmp_path: Path) -> None:
    program = f"import jax; {FAULTS[fault]}; import runpy, sys; sys.argv = ['train.py', 'donated']; "
    program += "runpy.run_path('train.py', run_name='__main__')"
    ended = runner.start("-c", program, environment=runner.attached_environment(tmp_path / "run", EVERYTHING))
    assert (ended.exit_code, ended.stdout) == (0, runner.captured("train.py", "donated").plain.stdout)
    assert "Traceback" not in ended.stderr and ended.stderr.count("trainwarden: error") <= 3, ended.stderr


def test_who_owns_a_step_captures_it(runner: Runner, tmp_path: Path) -> None:
    """A trainer further out, as Keras': this adapter stands back."""
    program = (
        "from trainwarden._owners import owning; import runpy, sys; sys.argv = ['train.py', 'optax_jit']\n"
        "with owning(): runpy.run_path('train.py', run_name='__main__')"
    )
    ended = runner.start("-c", program, environment=runner.attached_environment(tmp_path / "run", EVERYTHING))
    assert (ended.exit_code, ended.stderr) == (0, "")
    assert ended.stdout == runner.captured("train.py", "optax_jit").plain.stdout
    assert not (tmp_path / "run").exists()


def test_what_is_not_captured_is_compiled_once(runner: Runner, tmp_path: Path) -> None:
    """Helpers that are jitted get no twin."""
    program = (
        "import jax, jax.numpy as jnp\n"
        "compiled = []\n"
        "jax.monitoring.register_event_duration_secs_listener(lambda event, *_, **__: compiled.append(event))\n"
        "helper = jax.jit(lambda x: jnp.tanh(x) * 2)\n"
        "for _ in range(3): helper(jnp.ones(3))\n"
        "print(sorted(compiled))"
    )
    plain = runner.start("-c", program, environment=runner.attached_environment(tmp_path / "run"))
    without = {**runner.attached_environment(tmp_path / "run"), "TRAINWARDEN_ATTACH": "0"}
    assert plain.stdout == runner.start("-c", program, environment=without).stdout
    assert plain.stdout.count("compile") > 0


@pytest.mark.parametrize("first", ["from jax import jit, grad", "import flax.linen", "import equinox", "import optax"])
def test_the_order_of_imports_does_not_matter(runner: Runner, first: str, tmp_path: Path) -> None:
    pytest.importorskip(first.split()[1].partition(".")[0])
    program = f"{first}\nimport runpy, sys; sys.argv = ['train.py', 'by_hand']\n"
    program += "runpy.run_path('train.py', run_name='__main__')"
    ended = runner.start("-c", program, environment=runner.attached_environment(tmp_path / "run", EVERYTHING))
    assert ended.exit_code == 0, ended.stderr
    assert trainwarden.open(tmp_path / "run").steps("train") == list(range(6))
