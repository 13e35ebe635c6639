"""Signals of programs that know nothing of us, and that nothing is looked at when they are not wanted."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Optional

import pytest

import trainwarden
from running import Captured, Runner, needs_scaler
from test_programs import check_seen

ZEROING = ["optimizer", "module", "none", "data", "never"]
TENSORS = ("calls", "indices", "model", "optimizer", "checkpoint")
FORWARD, BACKWARD, STEP, ZERO, CLIP, UNSCALE = 1, 2, 3, 4, 5, 6
ONLY_SIGNALS = {"include_collections": ["signals"], "save": {"save_interval": 1}, "when_full": "block"}


def signal(trial: trainwarden.Trial, name: str, mode: str = "train") -> dict[int, Any]:
    """The values of a signal by step."""
    name = "trainwarden/" + name
    if not trial.has_tensor(name):
        return {}
    steps = trial.tensor(name).steps(mode)
    if name.endswith(TENSORS):
        return {step: trial.value(name, step, mode).tolist() for step in steps}
    return {step: trial.scalar(name, step, mode) for step in steps}


def run_with(runner: Runner, run_dir: Path, config: Optional[dict[str, object]], *command: str) -> trainwarden.Trial:
    environment = runner.attached_environment(run_dir, config)
    ended = runner.start(*command, environment=environment)
    assert (ended.stderr, ended.exit_code) == ("", 0)
    return trainwarden.open(run_dir)


@pytest.fixture(scope="module", params=["0", "2"], ids=["in this process", "by workers"])
def whole(request: pytest.FixtureRequest, runner: Runner) -> Captured:
    return runner.captured("signals.py", "optimizer", request.param)


def test_nothing_that_the_program_does_changes(whole: Captured) -> None:
    assert (whole.attached.stdout, whole.attached.stderr) == (whole.plain.stdout, whole.plain.stderr)


def test_values_that_the_program_saw(whole: Captured) -> None:
    check_seen(
        whole, "train/trainwarden/clip/norm", "train/trainwarden/batch/indices", "eval/trainwarden/batch/indices"
    )  # fmt: skip
    assert whole.trial.steps("train") == list(range(6)) and whole.trial.steps("eval") == list(range(4))


def test_calls(whole: Captured) -> None:
    calls = signal(whole.trial, "calls")
    assert calls.pop(0) in ([FORWARD, BACKWARD, CLIP, STEP], [ZERO, FORWARD, BACKWARD, CLIP, STEP])
    assert list(calls.values()) == [[ZERO, FORWARD, BACKWARD, CLIP, STEP]] * 5
    assert signal(whole.trial, "calls", "eval") == {}


def test_batches(whole: Captured) -> None:
    assert list(signal(whole.trial, "batch/epoch").values()) == [0, 0, 0, 1, 1, 1]
    assert list(signal(whole.trial, "batch/number").values()) == [0, 1, 2] * 2


def test_modes_of_modules(whole: Captured) -> None:
    assert set(signal(whole.trial, "called_in_train").values()) == {1}  # dropout
    assert set(signal(whole.trial, "called_in_eval").values()) == {1}  # batch norm, which the program keeps in eval mode
    assert set(signal(whole.trial, "called_in_eval", "eval").values()) == {2}


def test_dropout_that_is_kept_in_evaluation_on_purpose(runner: Runner, tmp_path: Path) -> None:
    program = '''
import torch
from torch import nn
net = nn.Sequential(nn.Linear(3, 4), nn.Dropout(0.5), nn.Linear(4, 1))
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for _ in range(3):
    optimizer.zero_grad()
    net(torch.ones(2, 3)).sum().backward()
    optimizer.step()
net.eval()
net[1].train()
with torch.no_grad():
    for _ in range(6):
        net(torch.ones(2, 3))
'''
    trial = run_with(runner, tmp_path / "run", ONLY_SIGNALS, "-c", program)
    assert set(signal(trial, "called_in_train").values()) == {1}
    assert trial.steps("eval") and signal(trial, "called_in_train", "eval") == {}


def test_numbers(whole: Captured) -> None:
    trial = whole.trial
    assert list(signal(trial, "learning_rate/0").values()) == [0.1, 0.1, 0.05, 0.05, 0.025, 0.025]
    assert set(signal(trial, "clip/limit").values()) == {0.5}
    assert set(signal(trial, "stale_gradients").values()) == {0} and 0 not in signal(trial, "stale_gradients")
    assert all(10e6 < number < 100e9 for number in signal(trial, "memory/host_bytes").values())
    assert all(0 < number < 60 for number in signal(trial, "step_seconds").values())
    assert not trial.has_tensor("trainwarden/memory/device_bytes")
    assert not trial.has_tensor("trainwarden/amp/scale")


def test_descriptions(whole: Captured) -> None:
    (model,) = signal(whole.trial, "model").values()
    document = json.loads(model[0])
    assert {"name": "norm", "kind": "BatchNorm1d"} in document["modules"]
    assert document["parameters"][0] == {"name": "fc1.weight", "trainable": True, "optimized": True}
    assert document["parameters"][-1] == {"name": "fc2.bias", "trainable": False, "optimized": False}
    assert document["foreign"] == 1
    (optimizer,) = signal(whole.trial, "optimizer").values()
    groups = [{"parameters": 4, "lr": 0.1, "momentum": 0.9}, {"parameters": 2, "lr": 0.2, "momentum": 0.9}]
    assert json.loads(optimizer[0]) == {"optimizers": [{"kind": "SGD", "groups": groups}]}


@pytest.mark.parametrize("how", ZEROING)
def test_stale_gradients(runner: Runner, tmp_path: Path, how: str) -> None:
    trial = run_with(runner, tmp_path / "run", ONLY_SIGNALS, "signals.py", how, "0")
    stale, calls = signal(trial, "stale_gradients"), signal(trial, "calls")
    assert sorted(stale) == [1, 2, 3, 4, 5]
    assert all((number > 0) == (how == "never") for number in stale.values())
    assert all((ZERO in calls[step]) == (how != "never") for step in stale)


def test_used_gradients_of_another_optimizer_are_its_own_affair(runner: Runner, tmp_path: Path) -> None:
    trial = run_with(runner, tmp_path / "run", ONLY_SIGNALS, "gan.py")
    numbers = [trial.scalar(name, step) for name in trial.tensor_names(collection="signals") if "stale" in name
               for step in trial.tensor(name).steps("train")]  # fmt: skip
    assert len(numbers) >= 5 and set(numbers) == {0}


def test_an_accumulation_that_is_never_zeroed_has_stale_gradients(runner: Runner, tmp_path: Path) -> None:
    trial = run_with(runner, tmp_path / "run", ONLY_SIGNALS, "accumulation.py", "never")
    stale, calls = signal(trial, "stale_gradients"), signal(trial, "calls")
    assert sorted(stale) == [1, 2, 3] and all(number > 0 for number in stale.values())
    assert all(ZERO not in order for order in calls.values())


@pytest.mark.parametrize("program", ["accumulation.py", "lbfgs.py", "hf_style.py", "checkpointed.py", "resnet_like.py"])
def test_healthy_programs_have_no_stale_gradients(runner: Runner, tmp_path: Path, program: str) -> None:
    trial = run_with(runner, tmp_path / "run", ONLY_SIGNALS, program)
    assert set(signal(trial, "stale_gradients").values()) == {0}
    calls = signal(trial, "calls")
    assert all(order[-1] == STEP and BACKWARD in order and FORWARD in order for order in calls.values())


def test_checkpoints(runner: Runner, tmp_path: Path) -> None:
    file = tmp_path / "model.pt"
    trial = run_with(runner, tmp_path / "run", ONLY_SIGNALS, "signals.py", "optimizer", "0", str(file))
    names = [name for name in trial.tensor_names() if name.startswith("trainwarden/checkpoint")]
    found = [json.loads(trial.value(name, trial.tensor(name).steps()[0])[0]) for name in names]
    good, bad = sorted(found, key=lambda each: str(each["path"]))
    assert (good["path"], good["bytes"]) == (str(file), file.stat().st_size)
    assert (good["tensors"], good["non_finite"], good["different"], good["damaged"]) == (9, 0, 0, 0)
    assert (bad["path"], bad["non_finite"], bad["different"], bad["damaged"]) == (f"{file}.bad", 1, 1, 0)
    assert good["seconds"] > 0


def test_a_damaged_checkpoint(tmp_path: Path) -> None:
    import torch

    from trainwarden.torch.checkpoints import Checkpoints

    file, weight = tmp_path / "model.pt", torch.randn(4096)
    torch.save({"weight": weight}, file)
    content = bytearray(file.read_bytes())
    content[content.index(weight.numpy().tobytes()[:64])] ^= 1
    file.write_bytes(content)
    checkpoints = Checkpoints()
    checkpoints.see({"weight": weight}, file, 0.1, [("weight", weight)])
    file.with_name("cut.pt").write_bytes(content[: len(content) // 2])
    checkpoints.see({"weight": weight + 1}, str(file.with_name("cut.pt")), 0.1, [("weight", weight)])
    checkpoints.wait(60)
    answers = {Path(each["path"]).name: each for each in map(json.loads, checkpoints.answers())}
    assert (answers["model.pt"]["damaged"], answers["model.pt"]["different"]) == (1, 0)
    assert (answers["cut.pt"]["damaged"], answers["cut.pt"]["different"]) == (1, 1)


def test_what_is_no_file_is_no_checkpoint(tmp_path: Path) -> None:
    import io

    import torch

    from trainwarden.torch.checkpoints import Checkpoints

    checkpoints = Checkpoints()
    checkpoints.see({"weight": torch.ones(2)}, io.BytesIO(), 0.1, [])
    (tmp_path / "text.pt").write_bytes(b"no tensors in it")
    checkpoints.see({"epoch": 3}, tmp_path / "text.pt", 0.1, [])
    checkpoints.wait(60)
    assert checkpoints.answers() == []


def test_not_wanted_is_not_looked_at(runner: Runner, tmp_path: Path) -> None:
    config = {"include_collections": ["gradients"], "save": {"save_interval": 1}}
    trial = run_with(runner, tmp_path / "run", config, "signals.py", "optimizer", "0", str(tmp_path / "model.pt"))
    assert [name for name in trial.tensor_names() if name.startswith("trainwarden/")] == []


def test_only_at_steps_that_want_them(runner: Runner, tmp_path: Path) -> None:
    config = {**ONLY_SIGNALS, "save": {"save_interval": 2}}
    trial = run_with(runner, tmp_path / "run", config, "signals.py", "optimizer", "0")
    assert sorted(signal(trial, "learning_rate/0")) == [0, 2, 4]
    assert signal(trial, "calls")[4] == [ZERO, FORWARD, BACKWARD, CLIP, STEP]


@needs_scaler
def test_gradient_scaler(runner: Runner) -> None:
    run = runner.captured("scaled.py")
    assert signal(run.trial, "amp/scale") == {0: 1024.0, 1: 1024.0, 2: 512.0}
    assert signal(run.trial, "amp/scale#1") == {1: 512.0}
    assert signal(run.trial, "amp/skipped") == {0: 0, 1: 1, 2: 0}  # the step that was left out belongs to the next
    assert signal(run.trial, "amp/skipped#1") == {1: 0}
    accumulated = [ZERO, FORWARD, BACKWARD, UNSCALE, CLIP]
    assert signal(run.trial, "calls")[1] == [*accumulated, *accumulated, STEP]
