"""Programs that train with Gluon: nothing that they do changes, and their runs hold what was trained."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from mxnet import autograd, gluon, lr_scheduler, nd, optimizer
from untouched import Captured, Runner

import trainwarden
from trainwarden.mxnet.rates import rate_of

HYBRID = ["hybrid", "hybrid_static"]
DEVICES = ["devices", "devices_summed"]
WAYS = ["plain", *HYBRID, "numpy", "own_loss", "accumulates", "clips", *DEVICES]
LOSS = "softmaxcrossentropyloss0_output_0"


@pytest.mark.parametrize("way", WAYS)
def test_nothing_that_a_training_does_changes(runner: Runner, way: str) -> None:
    ran = runner.captured("train.py", way)
    assert ran.plain.exit_code == ran.attached.exit_code == 0, ran.attached.stderr
    assert (ran.attached.stdout, ran.attached.stderr) == (ran.plain.stdout, ran.plain.stderr)


@pytest.mark.parametrize("program", ["words.py", "two_trainers.py", "poisoned.py"])
def test_nothing_that_a_program_does_changes(runner: Runner, program: str) -> None:
    ran = runner.captured(program)
    assert ran.plain.exit_code == ran.attached.exit_code == 0, ran.attached.stderr
    assert (ran.attached.stdout, ran.attached.stderr) == (ran.plain.stdout, ran.plain.stderr)


@pytest.mark.parametrize("way", WAYS)
def test_an_update_is_a_step(runner: Runner, way: str) -> None:
    trial = runner.captured("train.py", way).trial
    assert trial.steps("train") == list(range(6)) and trial.steps("eval") == list(range(4))
    assert trial.state.value == "completed" and trial.losses == []


def seen_in(ran: Captured) -> dict[tuple[str, int], np.ndarray]:
    """By tensor and step, without the losses."""
    parts = {key: key.partition(":") for key in ran.seen}
    return {(name, int(step)): ran.seen[key] for key, (step, _, name) in parts.items() if "loss" not in name}


@pytest.mark.parametrize("way", WAYS)
def test_weights_and_gradients_are_those_of_the_update(runner: Runner, way: str) -> None:
    ran = runner.captured("train.py", way)
    seen = seen_in(ran)
    assert len(seen) == 6 * 2 * 8
    for (name, step), value in seen.items():
        np.testing.assert_array_equal(ran.trial.value(name, step, "train"), value, err_msg=f"{name} at {step}")
    assert ran.trial.tensor("batchnorm0_running_mean").steps("train") == list(range(6))
    assert "batchnorm0_running_mean" in ran.trial.tensor_names(collection="buffers")


@pytest.mark.parametrize(("way", "losses"), [("plain", 1), ("hybrid", 1), ("accumulates", 2), ("devices", 2)])
def test_losses_are_means_over_the_batch(runner: Runner, way: str, losses: int) -> None:
    ran = runner.captured("train.py", way)
    for index in range(losses):
        name = f"softmaxcrossentropyloss0_output_{index}"
        assert name in ran.trial.tensor_names(collection="losses")
        for step in range(6):
            found = ran.trial.scalar(name, step, "train")
            assert found == pytest.approx(float(ran.seen[f"{step}:loss{index}"].item()), rel=1e-6), (name, step)
    assert ran.trial.tensor(LOSS).steps("eval") == list(range(4))
    labels = ran.trial.value("softmaxcrossentropyloss0_input_1", 0)
    assert labels.shape == ((4,) if way == "devices" else (8,))
    assert "softmaxcrossentropyloss0_input_1" in ran.trial.tensor_names(collection="labels")


def test_a_loss_of_ones_own_is_what_backward_begins_with(runner: Runner) -> None:
    ran = runner.captured("train.py", "own_loss")
    assert ran.trial.tensor_names(collection="losses") == ["loss_output_0"]
    assert [ran.trial.scalar("loss_output_0", step, "train") for step in range(6)] == pytest.approx(
        [float(ran.seen[f"{step}:loss0"].item()) for step in range(6)], rel=1e-6
    )


def test_blocks_have_their_names_and_kinds(runner: Runner) -> None:
    trial = runner.captured("train.py", "plain").trial
    names = trial.tensor_names("_(in|out)put_0$")
    for block in ("hybridsequential0", "conv0", "conv0_relu", "batchnorm0", "pool0", "dense0", "tanh0", "dropout0"):
        assert f"{block}_input_0" in names and f"{block}_output_0" in names
        assert trial.tensor(f"{block}_output_0").steps("eval") == list(range(4))
    np.testing.assert_array_equal(
        trial.value("conv0_relu_output_0", 2, "train"), np.maximum(trial.value("conv0_relu_input_0", 2, "train"), 0)
    )
    assert trial.tensor_names(collection="relu_outputs") == ["conv0_relu_output_0"]
    assert trial.tensor_names(collection="tanh_inputs") == ["tanh0_input_0"]
    assert trial.tensor_names(collection="image_inputs") == ["conv0_input_0"]
    assert trial.tensor_names(collection="batch_inputs") == ["hybridsequential0_input_0"]


@pytest.mark.parametrize("way", HYBRID)
def test_a_hybridised_model_shows_what_enters_and_leaves_it(runner: Runner, way: str) -> None:
    trial = runner.captured("train.py", way).trial
    outputs = [name for name in trial.tensor_names("_output_") if "loss" not in name]
    assert outputs == ["hybridsequential0_output_0"]
    plain = runner.captured("train.py", "plain").trial
    name = "hybridsequential0_output_0"
    np.testing.assert_allclose(trial.value(name, 0, "eval"), plain.value(name, 0, "eval"), rtol=1e-4)


class _Twice(lr_scheduler.LRScheduler):
    def __call__(self, num_update: int) -> float:
        return 2.0 * num_update


SCHEDULES = [
    lr_scheduler.FactorScheduler(2, 0.5, base_lr=0.4, warmup_steps=3, warmup_begin_lr=0.1),
    lr_scheduler.MultiFactorScheduler([2, 4], 0.1, base_lr=0.4),
    lr_scheduler.PolyScheduler(6, base_lr=0.4),
    lr_scheduler.CosineScheduler(6, base_lr=0.4, warmup_steps=2, warmup_mode="constant", warmup_begin_lr=0.2),
    None,
]


@pytest.mark.parametrize("schedule", SCHEDULES, ids=lambda each: type(each).__name__)
def test_learning_rates_are_those_that_were_taken(schedule: object) -> None:
    sgd = optimizer.SGD(learning_rate=0.4, lr_scheduler=schedule)
    weight, gradient = nd.zeros(1), nd.ones(1)
    for _ in range(8):
        before = weight.asscalar()
        sgd.update(0, weight, gradient, sgd.create_state(0, weight))
        assert rate_of(sgd) == pytest.approx(before - weight.asscalar(), rel=1e-4)


def test_a_schedule_of_ones_own_is_not_asked() -> None:
    assert rate_of(optimizer.SGD(learning_rate=0.4, lr_scheduler=_Twice())) is None


def test_sparse_and_missing_gradients(runner: Runner) -> None:
    trial = runner.captured("words.py").trial
    assert trial.steps("train") == [0, 1, 2, 3] and trial.steps("eval") == []
    embedding = next(name for name in trial.tensor_names("^gradient/.*embedding"))
    assert trial.value(embedding, 0).shape[1] == 6 and len(trial.value(embedding, 0)) <= 28
    gradients = [trial.tensor(f"gradient/model0_dense{part}_weight").steps("train") for part in (0, 1)]
    assert gradients == [[0, 2], [1, 3]], "what no backward pass has reached has no gradient"
    assert "model0_embedding0_input_0" in trial.tensor_names(collection="embedding_inputs")
    assert not trial.tensor_names("totensor|normalize"), "transforms of data are no models"


def test_two_trainers_that_take_turns_have_one_step(runner: Runner) -> None:
    ran = runner.captured("two_trainers.py")
    assert ran.trial.steps("train") == list(range(5))
    for name in ("generator_weight", "gradient/generator_weight", "critic_weight", "gradient/critic_weight"):
        assert ran.trial.tensor(name).steps("train") == list(range(5))
    printed = [line.split() for line in ran.plain.stdout.splitlines()[:5]]
    means = [ran.trial.scalar("sigmoidbinarycrossentropyloss0_output_2", step) for step in range(5)]
    assert means == pytest.approx([float(words[2]) for words in printed], rel=1e-5)


def test_an_error_of_the_program_is_the_programs(runner: Runner) -> None:
    ran = runner.captured("train.py", "fails")
    assert ran.plain.exit_code == ran.attached.exit_code == 1
    assert "an error of the program's own" in ran.attached.stderr
    assert ran.trial.steps("train") == [0, 1, 2, 3] and ran.trial.steps("eval") == [0, 1]


def test_an_error_that_mxnet_has_kept_back_is_the_programs(runner: Runner, tmp_path: Path) -> None:
    alone = {**runner.attached_environment(tmp_path / "x"), "TRAINWARDEN_ATTACH": "0"}
    plain = runner.start("late_error.py", environment=alone)
    ended = runner.start("late_error.py", environment=runner.attached_environment(tmp_path / "run"))
    assert plain.exit_code == ended.exit_code == 1 and ended.stdout == plain.stdout == "loss True\n"
    assert plain.stderr.splitlines()[-1] == ended.stderr.splitlines()[-1]
    assert "could not" not in ended.stderr


def test_a_vetoed_step_changes_nothing(runner: Runner, tmp_path: Path) -> None:
    rules = {"TRAINWARDEN_GUARD_RULES": "ExplodingTensor", "TRAINWARDEN_ON_FIRE": "skip_step"}
    ended = runner.start("poisoned.py", environment={**runner.attached_environment(tmp_path / "run"), **rules})
    expected = runner.captured("poisoned.py", "leave_out").plain
    assert ended.exit_code == 0 and ended.stdout == expected.stdout, ended.stderr
    assert trainwarden.open(tmp_path / "run").steps("train") == list(range(8))


def test_a_rule_ends_the_training(runner: Runner, tmp_path: Path) -> None:
    rules = {"TRAINWARDEN_GUARD_RULES": "ExplodingTensor", "TRAINWARDEN_ON_FIRE": "stop"}
    ended = runner.start("poisoned.py", environment={**runner.attached_environment(tmp_path / "run"), **rules})
    assert ended.exit_code == 143 and "the training was asked to stop" in ended.stderr
    trial = trainwarden.open(tmp_path / "run")
    assert trial.steps("train") == [0, 1, 2, 3] and trial.state.value == "stopped"


def test_a_fault_of_ours_is_not_the_programs(runner: Runner, tmp_path: Path) -> None:
    broken = (
        "import sys; sys.argv = ['train.py', 'plain']\n"
        "import mxnet, trainwarden.mxnet.recorder as recorder, trainwarden.faults as faults\n"
        "faults.TOLERATED_FAULTS = 6\n"
        "def broken(*args): raise ValueError('broken')\n"
        "recorder.Recorder.see_call = recorder.Recorder.hold_update = broken\n"
        "exec(open('train.py').read())\n"
    )
    ended = runner.start("-c", broken, environment=runner.attached_environment(tmp_path / "run"))
    assert (ended.exit_code, ended.stdout) == (0, runner.captured("train.py", "plain").plain.stdout)
    assert "could not capture a call of a block: ValueError: broken" in ended.stderr
    assert "6 faults of the adapter: nothing more is captured in this process" in ended.stderr
    assert trainwarden.open(tmp_path / "run").state.value == "completed"


def test_attach_and_detach_in_a_process_that_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import trainwarden.mxnet as twm

    monkeypatch.setenv("TRAINWARDEN_SAVE_ALL", "1")
    monkeypatch.setenv("TRAINWARDEN_SAVE_INTERVAL", "1")
    model, criterion = gluon.nn.Dense(1, in_units=2), gluon.loss.L2Loss()
    model.initialize()
    trainer = gluon.Trainer(model.collect_params(), "sgd")

    def train(steps: int) -> None:
        for _ in range(steps):
            with autograd.record():
                loss = criterion(model(nd.ones((3, 2))), nd.ones(3))
            loss.backward()
            trainer.step(3)

    for name in ("first", "second"):
        twm.attach(str(tmp_path / name))
        train(3)
        twm.detach()
        train(2)
        assert trainwarden.open(tmp_path / name).steps("train") == [0, 1, 2]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["first", "second"]


def test_the_program_of_the_guide(runner: Runner, tmp_path: Path) -> None:
    program = str(Path(__file__).parents[4] / "examples" / "gluon" / "digits.py")
    rules = {"TRAINWARDEN_GUARD_RULES": "ExplodingTensor", "TRAINWARDEN_ON_FIRE": "skip_step"}
    alone = {**runner.attached_environment(tmp_path / "x"), "TRAINWARDEN_ATTACH": "0"}
    spoilt = runner.start(program, "--spoil", environment=alone).stdout.splitlines()
    ended = runner.start(program, "--spoil", environment={**runner.attached_environment(tmp_path / "run"), **rules})
    assert ended.exit_code == 0, ended.stderr
    first, last = (float(lines[-1].split()[-1]) for lines in (spoilt, ended.stdout.splitlines()))
    assert first < 0.5 and last > 0.95
    assert trainwarden.open(tmp_path / "run").steps("train") == list(range(128))
