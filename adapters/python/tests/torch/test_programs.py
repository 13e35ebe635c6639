"""What is captured of untouched programs: names, steps, modes, and values that the programs saw themselves."""

from __future__ import annotations

import json
from importlib.util import find_spec

import numpy as np
import pytest

import trainwarden
from running import Captured, Runner, needs_scaler, needs_torch_2

_OF_A_STEP = ("phase/forward", "phase/loss", "phase/backward", "phase/optimizer", "phase/rest", "phase/step")


def check_seen(run: Captured, *names: str) -> None:
    """Each value that the program kept is in the run, at its step. "eval/NAME" is of mode eval."""
    assert set(names) <= set(run.seen), sorted(run.seen)
    for name, values in run.seen.items():
        mode, _, tensor = name.partition("/") if name.startswith(("train/", "eval/")) else ("train", "", name)
        steps = run.trial.tensor(tensor).steps(mode)[: len(values)]
        assert len(steps) == len(values), name
        for step, expected in zip(steps, values):
            actual = run.trial.value(tensor, step, mode)
            np.testing.assert_array_equal(actual, expected, err_msg=f"{name} at step {step}")


def test_resnet_like(runner: Runner) -> None:
    run = runner.captured("resnet_like.py")
    check_seen(run, "CrossEntropyLoss_output_0", "stem.weight", "gradient/stem.weight", "ResNet_output_0")
    names = run.trial.tensor_names()
    assert {"layer1.0.bn1.running_mean", "layer1.1.conv2_input_0", "optimizer_state/fc.bias/momentum_buffer"} <= set(
        names
    )
    assert {"layer1.0.relu_output_0", "layer1.0.relu_output_1"} <= set(names)  # called twice in a step
    assert set(_OF_A_STEP) <= set(names)
    assert run.trial.tensor_names(collection="losses") == ["CrossEntropyLoss_output_0"]


def test_activations_are_what_they_were_before_in_place_changes(runner: Runner) -> None:
    trial = runner.captured("resnet_like.py").trial
    normalised, active = trial.value("layer1.0.bn1_output_0", 2, "train"), trial.value(
        "layer1.0.relu_output_0", 2, "train"
    )
    assert normalised.min() < 0
    np.testing.assert_array_equal(active, np.maximum(normalised, 0))


def test_dict_outputs(runner: Runner) -> None:
    run = runner.captured("hf_style.py")
    check_seen(run, "CrossEntropyLoss_output_0", "LanguageModel_output_1", "gradient/encoder.dense.weight")
    names = set(run.trial.tensor_names())
    assert {"LanguageModel_input_0", "LanguageModel_input_2"} <= names  # keywords
    assert {"encoder_output_0", "encoder_output_1"} <= names  # a dataclass with a tuple in it
    assert "head.weight" not in names  # tied to the embeddings
    assert "encoder.embeddings.weight" in names


def test_two_optimizers(runner: Runner) -> None:
    run = runner.captured("gan.py")
    check_seen(run, "netG.0.weight", "netD.0.weight", "gradient/netG.0.weight", "gradient/netD.0.weight")
    assert run.trial.steps("train") == list(range(6))
    assert "BCEWithLogitsLoss_output_3" not in run.trial.tensor_names()


def test_an_optimizer_that_steps_for_each_fifth_batch(runner: Runner) -> None:
    run = runner.captured("wgan.py")
    check_seen(run, "critic.0.weight", "generator.0.weight", "gradient/critic.0.weight", "gradient/generator.0.weight")
    assert run.trial.steps("train") == list(range(30))
    assert run.trial.tensor("generator.0.weight").steps("train") == [4, 9, 14, 19, 24, 29]


def test_an_optimizer_around_another_is_not_waited_for(runner: Runner) -> None:
    run = runner.captured("wrapped_optimizer.py")
    check_seen(run, "loss_output_0", "weight", "gradient/weight")
    assert run.trial.steps("train") == list(range(8))
    assert "loss_output_1" not in run.trial.tensor_names()


def test_an_optimizer_that_another_one_calls_is_not_waited_for(runner: Runner) -> None:
    run = runner.captured("nested_optimizer.py")
    check_seen(run, "loss_output_0", "weight", "gradient/weight")
    assert run.trial.steps("train") == list(range(6))
    assert run.trial.tensor("loss_output_0").steps("train") == list(range(6))


def test_torch_may_be_looked_for_before_it_is_imported(runner: Runner) -> None:
    run = runner.captured("looked_up.py")
    check_seen(run, "weight")
    assert run.trial.steps("train") == list(range(4))


def test_settings_that_are_no_plain_numbers(runner: Runner) -> None:
    run = runner.captured("odd_settings.py")
    check_seen(run, "mse_loss_output_0", "trainwarden/clip/norm")
    assert run.trial.steps("train") == list(range(4))
    assert not run.trial.has_tensor("trainwarden/clip/limit")
    (described,) = run.trial.value("trainwarden/optimizer", 0, "train").tolist()
    assert json.loads(described)["optimizers"] == [{"kind": "Pair", "groups": [{"parameters": 2}]}]


def test_a_model_that_is_tried_while_it_is_made(runner: Runner) -> None:
    run = runner.captured("tried_first.py")
    check_seen(run, "MSELoss_output_0", "body.0.weight", "head.weight")
    assert run.trial.modes == ["train"]
    assert run.trial.steps("train") == list(range(4))


def test_a_model_that_is_asked_before_it_is_trained(runner: Runner) -> None:
    run = runner.captured("tried_first.py", "asked")
    check_seen(run, "MSELoss_output_0", "body.0.weight", "head.weight")
    assert (run.trial.steps("predict"), run.trial.steps("train")) == ([0], list(range(4)))


def test_a_loss_has_one_name_and_is_not_scaled(runner: Runner) -> None:
    run = runner.captured("scaled_loss.py")
    check_seen(run, "train/nll_loss_output_0", "eval/nll_loss_output_0")
    assert [name for name in run.trial.tensor_names() if "loss_output" in name] == ["nll_loss_output_0"]


def test_accumulated_gradients_are_of_one_step(runner: Runner) -> None:
    run = runner.captured("accumulation.py")
    check_seen(run, "mse_loss_output_0", "0_output_1", "gradient/0.weight")
    assert run.trial.steps("train") == list(range(4))
    # One series for each tensor: activations of the first batch, and the mean of the losses.
    names = run.trial.tensor_names()
    assert [name for name in names if name.endswith(("_output_1", "_output_2", "_input_2"))] == ["0_output_1"]


def test_train_and_eval(runner: Runner) -> None:
    run = runner.captured("eval_loop.py")
    check_seen(run, "train/CrossEntropyLoss_output_0", "eval/CrossEntropyLoss_output_0")
    assert (len(run.trial.steps("train")), len(run.trial.steps("eval"))) == (6, 4)
    assert [str(run.trial.mode_of(step).value) for step in range(10)] == (["train"] * 3 + ["eval"] * 2) * 2
    assert "teacher.Net_output_0" in run.trial.tensor_names()
    assert "head.weight" in run.trial.tensor_names()  # the only one that is trained has no prefix


def test_shared_frozen_and_stray_parameters(runner: Runner) -> None:
    run = runner.captured("shared.py")
    check_seen(run, "first.weight", "gradient/first.weight", "gradient/param_0", "loss_output_0")
    names = set(run.trial.tensor_names())
    assert not names & {"second.weight", "frozen.weight", "gradient/frozen.weight", "gradient/unused.weight"}
    assert {"second.bias", "frozen_output_0", "param_0", "optimizer_state/param_0/exp_avg"} <= names


def test_models_that_change(runner: Runner) -> None:
    run = runner.captured("changing.py")
    check_seen(run, "nll_loss_output_0", "layers.0.weight")
    trial = run.trial
    assert trial.tensor("layers.1.weight").steps("train") == [2, 3, 4, 5]
    assert trial.tensor("layers.1_output_0").steps("train") == [2, 3, 4, 5]
    assert [trial.shape("head.weight", step, "train") for step in (3, 4)] == [(2, 4), (3, 4)]
    assert "models alive 0" in run.attached.stdout


def test_lbfgs(runner: Runner) -> None:
    run = runner.captured("lbfgs.py")
    check_seen(run, "weight", "gradient/weight")
    assert "mse_loss_output_3" in run.trial.tensor_names()  # a closure that is called several times


def test_autocast(runner: Runner) -> None:
    run = runner.captured("autocast.py")
    check_seen(run, "MSELoss_output_0")
    assert str(run.trial.tensor_info("2_output_0").dtype) == "bfloat16"
    assert str(run.trial.tensor_info("0.weight").dtype) == "float32"


def test_what_is_recomputed_in_backward_is_captured_once(runner: Runner) -> None:
    run = runner.captured("checkpointed.py")
    check_seen(run, "block.0_output_0", "gradient/block.0.weight")
    assert "block.0_output_1" not in run.trial.tensor_names()


def test_script_modules(runner: Runner) -> None:
    run = runner.captured("scripted.py")
    check_seen(run, "fc.weight", "gradient/fc.weight", "mse_loss_output_0")


def test_what_a_program_saves_and_copies_knows_nothing_of_us(runner: Runner) -> None:
    run = runner.captured("saving.py")
    assert "trainwarden" not in run.attached.stdout
    assert run.trial.tensor("fc.weight").steps("train") == [0, 1, 2]


def test_predictions_are_steps(runner: Runner) -> None:
    run = runner.captured("predicting.py")
    steps = run.trial.steps("predict")
    assert steps == [0, 1, 2]
    for step, expected in zip(steps, run.seen["Net_output_0"]):
        np.testing.assert_array_equal(run.trial.value("Net_output_0", step, "predict"), expected)


@pytest.mark.parametrize("start", ["fork", "spawn"])
def test_workers_that_load_data_capture_nothing(runner: Runner, start: str) -> None:
    run = runner.captured("workers.py", start)
    check_seen(run, "MSELoss_output_0")
    assert run.trial.workers == ["rank-00000"]
    assert [path for path in run.run_dir.parent.glob(run.run_dir.name + "-p*")] == []


def test_ranks(runner: Runner) -> None:
    trial = runner.captured("ddp.py", "spawn").trial
    assert trial.workers == ["rank-00000", "rank-00001"]
    assert trial.steps("train") == [0, 1, 2, 3]
    first, second = (trial.value("gradient/0.weight", 2, "train", worker) for worker in trial.workers)
    np.testing.assert_array_equal(first, second)  # reduced over the ranks
    first, second = (trial.value("0_input_0", 2, "train", worker) for worker in trial.workers)
    assert not np.array_equal(first, second)


@needs_torch_2
@pytest.mark.parametrize("how", ["module", "in_place", "function"])
def test_compiled(runner: Runner, how: str) -> None:
    run = runner.captured("compiled.py", "eager", how)
    trial = run.trial
    if how == "function":
        run.seen.pop("Net_output_0")  # the model is called inside the compiled region only
    check_seen(run, "CrossEntropyLoss_output_0", "gradient/fc1.weight", "fc1.weight")
    assert "fc1_output_0" not in trial.tensor_names()
    if how != "function":
        assert "torch.compile" in str(trial.value("trainwarden/not_captured", 0, "train")[0])


@needs_torch_2
@pytest.mark.parametrize("what", ["model", "step", "export"])
def test_compiled_in_the_middle_of_a_training(runner: Runner, what: str) -> None:
    run = runner.captured("compiled_late.py", what)
    assert run.attached.stdout == run.plain.stdout, "with the same graphs"
    if what == "step":  # the first ones that nobody is notified of are no steps: averaging changes weights, too
        assert run.trial.steps("train")[:4] == list(range(4))
        return
    assert run.trial.steps("train") == list(range(8))
    check_seen(run, "CrossEntropyLoss_output_0", "gradient/0.weight", "0.weight")


@needs_torch_2
@pytest.mark.parametrize("how", ["whole", "optimizer"])
def test_a_compiled_step_of_the_optimizer_ends_a_step(runner: Runner, how: str) -> None:
    run = runner.captured("compiled_step.py", how)
    trial = run.trial
    assert trial.steps("train") == list(range(10))
    for name in ("loss_output_0", "0.weight", "optimizer_state/0.weight/exp_avg"):
        # What follows the last backward pass is seen only where the model still lives when the program ends.
        assert trial.tensor(name).steps("train")[:9] == list(range(9))
        for step, expected in enumerate(run.seen[name][:9]):
            np.testing.assert_array_equal(trial.value(name, step, "train"), expected)
    # When the first step ends it is not known yet that nobody is notified of it.
    assert trial.tensor("gradient/0.weight").steps("train") == list(range(1, 10))
    for step in range(1, 10):
        np.testing.assert_array_equal(trial.value("gradient/0.weight", step, "train"), run.seen["gradient/0.weight"][step])
    assert "step() of Adam" in str(trial.value("trainwarden/not_captured", 0, "train")[0])


def test_steps_before_a_failure_are_there(runner: Runner) -> None:
    trial = runner.captured("failing.py", "loop").trial
    assert trial.tensor("fc.weight").steps("train") == [0, 1, 2]


@pytest.mark.parametrize("how", ["exit", "message", "interrupt"])
def test_steps_before_an_end_are_there(runner: Runner, how: str) -> None:
    trial = runner.captured("exiting.py", how).trial
    assert trial.tensor("weight").steps("train") == [0, 1, 2]


@pytest.mark.parametrize("how", ["abrupt", "terminate"])
def test_an_end_without_a_word_leaves_whole_steps(runner: Runner, how: str) -> None:
    trial = runner.captured("exiting.py", how).trial
    assert trial.steps("train") == [0, 1, 2][: len(trial.steps("train"))]
    for step in trial.steps("train"):
        assert trial.value("gradient/weight", step, "train").shape == (2, 4)


def test_models_in_wrappers_and_in_parts(runner: Runner) -> None:
    run = runner.captured("parallel.py")
    check_seen(run, "gradient/net.0.weight", "gradient/pair.decoder.weight", "pair.encoder_output_0")
    assert run.trial.steps("train") == [0, 1, 2]


def test_a_forked_child_that_trains_has_a_run_of_its_own(runner: Runner) -> None:
    run = runner.captured("forked.py")
    assert run.attached.stdout == run.plain.stdout
    assert len(run.attached.stderr.splitlines()) == 1
    (beside,) = run.run_dir.parent.glob(run.run_dir.name + "-p*")
    assert trainwarden.open(beside).steps("train") == [0, 1, 2]
    assert run.trial.steps("train") == [0, 1, 2, 3]


@needs_scaler
def test_a_step_that_a_gradient_scaler_skips_is_none(runner: Runner) -> None:
    run = runner.captured("scaled.py")
    check_seen(run, "gradient/weight", "weight")
    assert run.trial.steps("train") == [0, 1, 2]
    losses = [float(line.split()[3]) for line in run.plain.stdout.splitlines() if line.startswith("step")]
    kept = [run.trial.scalar("mse_loss_output_0", step, "train") for step in (0, 2)]  # as they are before they are scaled
    assert kept == pytest.approx([losses[0], losses[3]])


def test_wrappers_of_libraries_change_no_names(runner: Runner) -> None:
    run = runner.captured("wrapped_model.py")
    check_seen(run, "gradient/body.lora_A.default.weight", "gradient/body.bias", "body.bias", "head.weight")
    names = run.trial.tensor_names()
    assert {"Net_output_0", "body_output_0", "body.base_layer_output_0", "head_output_0"} <= set(names)
    wrapped = ("base_model", "module", "base_layer.", "#", "PeftModel", "BaseTuner", "_output_1")
    assert [name for name in names if any(part in name for part in wrapped)] == []


@pytest.mark.skipif(find_spec("torch.distributed.pipelining") is None, reason="this torch has no pipelines")
@pytest.mark.parametrize("loss", ["module", "function"])
def test_micro_batches_of_a_pipeline_are_one_step(runner: Runner, loss: str) -> None:
    run = runner.captured("pipeline.py", loss)
    check_seen(run, "gradient/0.weight", "0.weight", "2_output_0")
    assert run.trial.steps("train") == list(range(4))
    names = run.trial.tensor_names()
    assert [name for name in names if name.endswith(("_output_1", "_input_4"))] == []
    assert len(run.trial.tensor_names(collection="losses")) == 1


@needs_torch_2
@pytest.mark.parametrize("how", ["loss", "samples", "beside", "stacked"])
def test_losses_and_parameters_of_transforms(runner: Runner, how: str) -> None:
    run = runner.captured("transformed.py", how)
    check_seen(run, *(["gradient/weight", "weight"] if how == "stacked" else ["gradient/0.weight", "0.weight"]))
    assert [name for name in run.trial.tensor_names() if "param_" in name] == []
    assert run.trial.steps("train") == list(range(4))
    assert run.trial.tensor_names(collection="losses") == [name for name in run.seen if "loss" in name]


@needs_torch_2
def test_tensors_without_values_are_passed_over(runner: Runner) -> None:
    run = runner.captured("functional.py")
    check_seen(run, "gradient/fc.weight", "fc.weight")
    assert run.trial.tensor("MSELoss_output_0").steps("train") == [0, 1, 2]  # the mean over the samples
    assert run.trial.losses == []
