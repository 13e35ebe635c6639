"""The hook of PyTorch: what raises, what never does, and what is kept when things go wrong."""

from __future__ import annotations

import copy
import io
import json
import os
import pickle
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import nn

import smdebug.pytorch as smd
import trainwarden
from hook_runs import SCRIPTS, read_ours, run
from smdebug.core.hook import BaseHook
from smdebug.exceptions import (
    InvalidCollectionConfiguration,
    SMDebugError,
    SMDebugRuntimeError,
    SMDebugTypeError,
    SMDebugValueError,
)

EVERY_STEP = smd.SaveConfig(save_interval=1)


@pytest.fixture(autouse=True)
def _no_hook() -> Any:
    yield
    smd.del_hook()


def train(hook: smd.Hook, model: nn.Module, steps: int = 2) -> None:
    hook.register_module(model)
    for _ in range(steps):
        model(torch.randn(2, 3)).sum().backward()


# Where it writes.


def test_out_dir_is_needed() -> None:
    with pytest.raises(RuntimeError, match="out_dir"):
        smd.Hook()


def test_a_finished_run_is_refused_and_an_unfinished_one_is_not(run_dir: Path) -> None:
    train(hook := smd.Hook(run_dir), nn.Linear(3, 1))
    hook.close()
    hook.close()
    with pytest.raises(SMDebugRuntimeError, match="finished"):
        smd.Hook(run_dir)
    smdebugs = run_dir.parent / "smdebugs"
    (smdebugs / "collections").mkdir(parents=True)
    smd.Hook(smdebugs)
    (smdebugs / "training_job_end.ts").touch()
    with pytest.raises(SMDebugRuntimeError, match="finished"):
        smd.Hook(smdebugs)


def test_a_dry_run_writes_nothing(run_dir: Path) -> None:
    train(hook := smd.Hook(run_dir, dry_run=True, save_all=True), nn.Linear(3, 1))
    hook.close()
    assert not run_dir.exists()


def test_a_folder_that_cannot_be_written_does_not_stop_the_training(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    train(hook := smd.Hook(tmp_path / "file" / "run", save_config=EVERY_STEP), nn.Linear(3, 1))
    assert hook.step == 1
    hook.close()


def test_a_second_hook_on_the_same_folder_is_silent(run_dir: Path) -> None:
    first, second = (smd.Hook(run_dir, save_config=EVERY_STEP, save_all=True) for _ in range(2))
    train(first, nn.Linear(3, 1))
    train(second, nn.Linear(3, 1), steps=5)
    second.close()
    first.close()
    assert len(read_ours(run_dir).steps) == 2


def test_under_trainwarden_run_its_folder_is_taken(run_dir: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRAINWARDEN_RUN_DIR", str(run_dir))
    hook = smd.Hook(run_dir.parent / "elsewhere", save_config=EVERY_STEP, save_all=True)
    assert hook.out_dir == str(run_dir)
    train(hook, nn.Linear(3, 1))
    hook.close()
    assert [name for _, name, _ in read_ours(run_dir).steps] == ["GLOBAL"] * 2


def test_what_is_attached_leaves_the_capturing_to_the_hook(run_dir: Path) -> None:
    """The adapter would capture what nobody asked for, and end steps with those of the optimizer."""
    program = (
        "import trainwarden.torch as twt; twt.attach()\n"
        "import sys; sys.argv = ['programs.py', 'unused', 'parts']\n"
        f"sys.path.insert(0, {str(SCRIPTS)!r}); import programs; programs.main()\n"
    )
    script = run_dir.parent / "attached.py"
    script.write_text(program)
    run(sys.executable, str(script), variables={"TRAINWARDEN_RUN_DIR": str(run_dir), "TRAINWARDEN_SAVE_ALL": "1"})
    recorded = read_ours(run_dir)
    assert len(recorded.steps) == 4 and recorded.tensors["Net_fc.weight"] == [0, 2, 4, 6]
    assert not [name for name in recorded.tensors if name.startswith(("phase/", "conv1"))]


# Wrong usage.


def test_what_can_be_registered(run_dir: Path) -> None:
    hook, model = smd.Hook(run_dir), nn.Sequential(nn.Linear(3, 1))
    with pytest.raises(SMDebugError, match="Module"):
        hook.register_module("model")
    hook.register_hook(model)
    with pytest.raises(AssertionError, match="already"):
        hook.register_module(model)
    with pytest.raises(AssertionError, match="already"):
        hook.register_module(model[0])
    with pytest.raises(AssertionError, match="_Loss"):
        hook.register_loss(nn.functional.mse_loss)
    assert hook.has_registered_module and not hook.has_registered_loss_module


@pytest.mark.parametrize("wrong", ["x", [1, 2], torch.ones(2), None, {}, torch.nn])
def test_a_scalar_is_one_number(run_dir: Path, wrong: Any) -> None:
    with pytest.raises(SMDebugTypeError, match="number"):
        smd.Hook(run_dir).save_scalar("wrong", wrong)


@pytest.mark.parametrize(
    ("options", "error"),
    [
        ({"include_workers": "some"}, SMDebugValueError),
        ({"save_config": 5}, SMDebugTypeError),
        ({"save_config": {"TRAIN": 5}}, SMDebugValueError),
    ],
)
def test_a_wrong_option_is_an_error(run_dir: Path, options: dict[str, Any], error: type[Exception]) -> None:
    with pytest.raises(error, match="expected"):
        smd.Hook(run_dir, **options)


def test_other_wrong_arguments(run_dir: Path) -> None:
    hook = smd.Hook(run_dir)
    with pytest.raises(SMDebugValueError, match="TRAIN"):
        hook.set_mode("train")  # type: ignore[arg-type]
    with pytest.raises(SMDebugTypeError, match="Collection"):
        hook.add_collection("mine")  # type: ignore[arg-type]
    with pytest.raises(AssertionError, match="Tensor"):
        hook.record_tensor_value("loss", 1.0)
    with pytest.raises(SMDebugError, match="there are: all"):
        hook.get_collection("mine", create=False)


def test_a_collection_that_matches_nothing_is_an_error_at_the_first_step(run_dir: Path) -> None:
    hook = smd.Hook(run_dir, include_collections=["mine"])
    hook.get_collection("mine")
    with pytest.raises(InvalidCollectionConfiguration, match="mine"):
        train(hook, nn.Linear(3, 1))


def test_a_bad_pattern_is_an_error_at_the_first_step(run_dir: Path) -> None:
    with pytest.raises(SMDebugValueError, match=r"\(relu"):
        train(smd.Hook(run_dir, include_regex=["(relu"]), nn.Linear(3, 1))


def test_a_module_of_a_collection_must_be_registered(run_dir: Path) -> None:
    hook = smd.Hook(run_dir)
    hook.get_collection("mine").add_module_tensors(nn.ReLU())
    with pytest.raises(SMDebugError, match="ReLU"):
        train(hook, nn.Linear(3, 1))


# Steps and modes.


def test_steps_are_counted_over_all_modes_and_in_each(run_dir: Path) -> None:
    hook, model = smd.Hook(run_dir, save_config=EVERY_STEP, save_all=True), nn.Linear(3, 1)
    assert (hook.step, hook.mode, hook.mode_steps) == (-1, smd.modes.GLOBAL, {smd.modes.GLOBAL: -1})
    hook.register_module(model)
    for mode in (smd.modes.TRAIN, smd.modes.TRAIN, smd.modes.EVAL, smd.modes.TRAIN, smd.modes.TRAIN):
        hook.set_mode(mode)
        model(torch.randn(2, 3))
    assert hook.mode_steps == {smd.modes.GLOBAL: 4, smd.modes.TRAIN: 3, smd.modes.EVAL: 0}
    hook.close()
    expected = [(0, "TRAIN", 0), (1, "TRAIN", 1), (2, "EVAL", 0), (3, "TRAIN", 2), (4, "TRAIN", 3)]
    assert read_ours(run_dir).steps == expected


def test_no_gradients_in_evaluation(run_dir: Path) -> None:
    hook = smd.Hook(run_dir, save_config=EVERY_STEP, include_collections=["gradients", "weights"])
    for mode in (smd.modes.EVAL, smd.modes.PREDICT):
        hook.set_mode(mode)
        train(hook, nn.Linear(3, 1), steps=1)
    hook.close()
    assert sorted(read_ours(run_dir).tensors) == ["Linear_weight"]


def test_a_step_is_visible_when_the_next_one_begins(run_dir: Path) -> None:
    hook, model = smd.Hook(run_dir, save_config=EVERY_STEP, save_all=True), nn.Linear(3, 1)
    train(hook, model, steps=1)
    hook.save_scalar("after the step", 1)
    model(torch.randn(2, 3))
    hook._recording.core.flush()
    trial = trainwarden.open(run_dir)
    assert trial.steps() == [0]
    assert trial.scalar("scalar/after the step", 0) == 1
    hook.close()


def test_steps_before_a_kill_are_readable(run_dir: Path) -> None:
    program = (
        "import os, signal, torch, smdebug.pytorch as smd\n"
        f"hook = smd.Hook({str(run_dir)!r}, save_config=smd.SaveConfig(save_interval=1), save_all=True)\n"
        "model = torch.nn.Linear(3, 1); hook.register_module(model)\n"
        "for _ in range(4): model(torch.randn(2, 3)).sum().backward()\n"
        "hook._recording.core.flush()\n"
        "os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    environment = {**os.environ, "SMDEBUG_LOG_LEVEL": "off"}
    killed = subprocess.run([sys.executable, "-c", program], env=environment, check=False)
    assert killed.returncode == -signal.SIGKILL
    assert read_ours(run_dir).tensors["gradient/Linear_weight"] == [0, 1, 2]
    train(again := smd.Hook(run_dir, save_config=EVERY_STEP, save_all=True), nn.Linear(3, 1))
    again.close()


def test_a_program_need_not_close_its_hook(run_dir: Path) -> None:
    program = (
        "import torch, smdebug.pytorch as smd\n"
        f"hook = smd.Hook({str(run_dir)!r}, save_config=smd.SaveConfig(save_interval=1), save_all=True)\n"
        "model = torch.nn.Linear(3, 1); hook.register_module(model); model(torch.randn(2, 3)).sum().backward()\n"
    )
    subprocess.run([sys.executable, "-c", program], env={**os.environ, "SMDEBUG_LOG_LEVEL": "off"}, check=True)
    assert trainwarden.open(run_dir).loaded_all_steps
    assert read_ours(run_dir).tensors["gradient/Linear_weight"] == [0]


def test_a_request_to_stop_ends_the_training_at_a_step(run_dir: Path) -> None:
    hook, model = smd.Hook(run_dir, save_config=EVERY_STEP, save_all=True), nn.Linear(3, 1)
    train(hook, model, steps=3)
    request = {"type": "stop", "key": "test", "reason": "seen enough", "requested_by": "a test", "unix_ns": 1}
    (run_dir / "control").mkdir(exist_ok=True)
    (run_dir / "control" / "part").write_text(json.dumps(request))
    (run_dir / "control" / "part").rename(run_dir / "control" / "stop-test.json")
    with pytest.raises(trainwarden.StopTraining, match="seen enough"):
        while True:
            model(torch.randn(2, 3))
    steps = read_ours(run_dir).steps
    assert len(steps) == hook.step + 1
    assert trainwarden.open(run_dir).state.value == "stopped"
    model(torch.randn(2, 3))  # who goes on all the same is not captured any more
    hook.close()


# What is saved.


def test_scalars_are_saved_at_every_step_and_before_the_first(run_dir: Path) -> None:
    hook, model = smd.Hook(run_dir, save_config=smd.SaveConfig(end_step=0)), nn.Linear(3, 1)
    hook.register_module(model)
    hook.save_scalar("early", np.float32(0.5))
    for value in (1, np.int64(2), torch.tensor([3.0])):
        model(torch.randn(2, 3))
        hook.save_scalar("number", value)
    hook.close()
    trial = trainwarden.open(run_dir)
    assert trial.tensor("scalar/number").scalars() == {0: 1, 1: 2, 2: 3}
    assert trial.tensor("scalar/early").scalars() == {0: 0.5}


def test_scalars_without_a_model(run_dir: Path) -> None:
    hook = smd.Hook(run_dir)
    hook.save_scalar("alone", 2)
    hook.close()
    assert trainwarden.open(run_dir).tensor("scalar/alone").scalars() == {0: 2}


def test_metrics_also_go_to_the_platform(run_dir: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SAGEMAKER_METRICS_DIRECTORY", str(run_dir.parent / "metrics"))
    hook = smd.Hook(run_dir)
    train(hook, nn.Linear(3, 1), steps=1)
    hook.save_scalar("accuracy", 0.5, sm_metric=True, timestamp=7.0)
    hook.save_scalar("not one", 0.5)
    hook.close()
    written = (run_dir.parent / "metrics" / f"{os.getpid()}.json").read_text()
    assert written == (
        '{"MetricName": "scalar/accuracy_GLOBAL", "Value": 0.5, "Timestamp": 7.0, "IterationNumber": 0}\n'
    )


def test_a_tensor_handed_over_is_in_all_its_collections(run_dir: Path) -> None:
    hook, model = smd.Hook(run_dir, save_config=smd.SaveConfig(save_interval=2)), nn.Linear(3, 1)
    hook.register_module(model)
    for step in range(4):
        hook.save_tensor("labels", torch.full((2,), step), ["first", "second"])
        hook.save_tensor("labels", torch.full((2,), step), "third")
        model(torch.randn(2, 3)).sum().backward()
    hook.save_tensor("unreadable", {"a": 1})
    hook.close()
    recorded = read_ours(run_dir)
    assert recorded.tensors == {"labels": [0, 2]}
    assert recorded.values["labels", 2].tolist() == [2, 2]
    assert [recorded.collections[name] for name in ("first", "second", "third")] == [["labels"]] * 3


def test_raw_values_and_texts(run_dir: Path) -> None:
    hook, model = smd.Hook(run_dir, save_config=smd.SaveConfig(save_interval=2)), nn.Linear(3, 1)
    hook.register_module(model)
    input_tokens = ["[CLS]", "héllo", "[SEP]"]
    hook._write_raw_tensor_simple("before", 1.5)
    for _ in range(2):
        model(torch.randn(2, 3))
        hook._write_raw_tensor_simple("input_tokens", input_tokens)
        hook._write_raw_tensor_simple("numbers", [[1, 2], [3, 4]], timestamp=1.0)
    hook.close()
    recorded = read_ours(run_dir)
    assert recorded.tensors == {"before": [0], "input_tokens": [0], "numbers": [0]}
    assert recorded.values["input_tokens", 0].tolist() == input_tokens
    assert recorded.values["numbers", 0].tolist() == [[1, 2], [3, 4]]


@pytest.mark.parametrize(
    "dtype", [torch.float64, torch.float16, torch.bfloat16, torch.int8, torch.uint8, torch.int16, torch.bool]
)
def test_every_type_is_saved(run_dir: Path, dtype: torch.dtype) -> None:
    hook, model = smd.Hook(run_dir, save_config=EVERY_STEP, include_regex=["output"]), nn.Identity()
    hook.register_module(model)
    value = torch.tensor([[0, 1], [1, 0]]).to(dtype)
    model(value.t())
    hook.close()
    trial = trainwarden.open(run_dir)
    assert trial.tensor_info("Identity_output_0").dtype == str(dtype).removeprefix("torch.")
    assert np.array_equal(trial.value("Identity_output_0", 0).astype(float), value.t().double().numpy())


def test_products_and_shapes(run_dir: Path) -> None:
    hook = smd.Hook(run_dir, save_config=EVERY_STEP, include_collections=["weights", "biases"])
    hook.get_collection("weights").reduction_config = smd.ReductionConfig(["prod", "std"], ["prod"], norms=["l1"])
    hook.get_collection("biases").reduction_config = smd.ReductionConfig(save_shape=True)
    model = nn.Linear(3, 1)
    with torch.no_grad():
        model.weight.copy_(torch.tensor([[1.0, -2.0, 4.0]]))
    train(hook, model, steps=1)
    hook.close()
    recorded = read_ours(run_dir)
    assert recorded.values == {}
    assert recorded.shapes["Linear_bias", 0] == (1,)
    assert recorded.reductions["Linear_weight", 0] == pytest.approx(
        {("prod", False): -8, ("prod", True): 8, ("std", False): 6**0.5, ("l1", False): 7}
    )


# The singleton.


def test_the_hook_of_this_process(run_dir: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert smd.get_hook() is None
    hook = smd.Hook(run_dir)
    assert smd.get_hook() is hook and isinstance(hook, BaseHook)
    with pytest.raises(SMDebugTypeError, match="hook"):
        smd.set_hook("hook")  # type: ignore[arg-type]
    monkeypatch.setenv("USE_SMDEBUG", "0")
    assert smd.get_hook(create_if_not_exists=True) is None
    monkeypatch.delenv("USE_SMDEBUG")
    smd.del_hook()
    assert smd.get_hook() is None
    monkeypatch.setenv("SMDEBUG_CONFIG_FILE_PATH", str(run_dir / "missing.json"))
    assert smd.get_hook(create_if_not_exists=True) is None
    with pytest.raises(FileNotFoundError):
        smd.Hook.create_from_json_file()


# The model is the program's.


def test_copies_of_a_model_know_nothing_of_the_hook(run_dir: Path) -> None:
    hook, model = smd.Hook(run_dir, save_config=EVERY_STEP, save_all=True), nn.Sequential(nn.Linear(3, 1))
    hook.register_module(model)
    buffer = io.BytesIO()
    torch.save(model, buffer)
    buffer.seek(0)
    for copied in (copy.deepcopy(model), pickle.loads(pickle.dumps(model)), torch.load(buffer, weights_only=False)):
        copied(torch.randn(2, 3)).sum().backward()
        assert torch.equal(copied[0].weight, model[0].weight)
    assert hook.step == -1
    assert list(model.state_dict()) == ["0.weight", "0.bias"]


def test_the_hook_keeps_no_model_alive(run_dir: Path) -> None:
    import gc
    import weakref

    hook, model = smd.Hook(run_dir), nn.Linear(3, 1)
    train(hook, model)
    gone = weakref.ref(model)
    del model
    gc.collect()
    assert gone() is None


def test_a_fault_of_ours_does_not_reach_the_training(
    run_dir: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    hook, model = smd.Hook(run_dir, save_config=EVERY_STEP, save_all=True), nn.Linear(3, 1)
    train(hook, model, steps=1)
    monkeypatch.setattr(hook._writer, "save", lambda *_: 1 / 0)
    model(torch.randn(2, 3)).sum().backward()
    assert model.weight.grad is not None and hook.step == 1
    assert "ZeroDivisionError" in capfd.readouterr().err
    hook.close()


def test_workers_of_a_job(run_dir: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WORLD_SIZE", "2")
    for include_workers, folder in (("one", run_dir), ("all", run_dir.with_name("all"))):
        hooks = []
        for rank in (1, 0):
            monkeypatch.setenv("RANK", str(rank))
            hooks.append(smd.Hook(folder, save_config=EVERY_STEP, save_all=True, include_workers=include_workers))
            assert hooks[-1].worker == f"worker_{rank}"
            train(hooks[-1], nn.Linear(3, 1))
        for hook in hooks:
            hook.close()
    assert trainwarden.open(run_dir).workers == ["rank-00000"]
    assert trainwarden.open(run_dir.with_name("all")).workers == ["rank-00000", "rank-00001"]
