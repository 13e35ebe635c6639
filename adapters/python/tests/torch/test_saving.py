"""Saving on request: what the adapter knows of a training is saved whole, and the training goes on from it bit for bit."""

from __future__ import annotations

import copy
import json
import os
import random
import re
import subprocess
import sys
import time
from pathlib import Path
from typing import Any, Callable, Iterator

import numpy as np
import pytest
import torch
from torch import nn

import trainwarden
import trainwarden.torch
from trainwarden import faults

from asking import answers, ask_for_checkpoint, ask_for_stop
from running import PROGRAMS, Runner

BUDGET = re.compile(rb'\{"type":"budget"[^}]*\}')


def network() -> nn.Sequential:
    return nn.Sequential(nn.Linear(6, 16), nn.BatchNorm1d(16), nn.ReLU(), nn.Dropout(0.4), nn.Linear(16, 3))


def train_step(model: nn.Module, optimizer: torch.optim.Optimizer) -> str:
    """Draws from each generator. The loss, bit for bit."""
    batch = torch.randn(8, 6) * random.uniform(0.5, 1.5) + float(np.random.normal())
    optimizer.zero_grad()
    loss = nn.functional.cross_entropy(model(batch), torch.randint(0, 3, (8,)))
    loss.backward()
    optimizer.step()
    return loss.item().hex()


def saved_in(run_dir: Path) -> list[Path]:
    return sorted((run_dir / "checkpoints").glob("*"))


def step_until_answered(run_dir: Path, step: Callable[[], Any], count: int = 2) -> None:
    for _ in range(2_000):
        step()
        if len(answers(run_dir)) >= count:
            return
    raise AssertionError("no answer")


OPTIMIZERS = {
    "adam": lambda parameters: torch.optim.Adam(parameters, lr=0.01, amsgrad=True),
    "sgd": lambda parameters: torch.optim.SGD(parameters, lr=0.05, momentum=0.9, nesterov=True),
    "rmsprop": lambda parameters: torch.optim.RMSprop(parameters, lr=0.01, centered=True),
}


@pytest.mark.parametrize("kind", OPTIMIZERS)
def test_a_watched_training_goes_on_bit_for_bit(run_dir: Path, kind: str) -> None:
    model = network()
    optimizer = OPTIMIZERS[kind](model.parameters())
    losses: list[str] = []
    failures = faults.failures()  # other tests of this process have some
    with trainwarden.Hook(run_dir) as hook, trainwarden.torch.watch(hook, model, optimizer) as watcher:

        def step() -> None:
            losses.append(train_step(model, optimizer))
            watcher.step()

        for _ in range(3):
            step()
        ask_for_checkpoint(run_dir)
        step_until_answered(run_dir, step)
        for _ in range(10):
            step()
    (file,) = saved_in(run_dir)
    saved = answers(run_dir)[-1]
    assert saved["type"] == "saved" and saved["path"] == f"checkpoints/{file.name}"
    assert saved["bytes"] == file.stat().st_size
    assert faults.failures() == failures

    fresh = network()
    fresh_optimizer = OPTIMIZERS[kind](fresh.parameters())
    last = trainwarden.torch.restore(file, fresh, fresh_optimizer)
    assert last == saved["global_step"]
    assert [train_step(fresh, fresh_optimizer) for _ in losses[last + 1 :]] == losses[last + 1 :]
    assert len(losses) - last > 10


def test_a_model_in_a_wrapper_takes_what_was_saved_of_it_alone(tmp_path: Path) -> None:
    model, file = network(), tmp_path / "saved.pt"
    torch.save({"model": model.state_dict(), "step": 3, "rng": {}}, file)
    wrapped = nn.DataParallel(network())
    assert trainwarden.torch.restore(file, wrapped, with_random_states=False) == 3
    assert all(torch.equal(value, model.state_dict()[name]) for name, value in wrapped.module.state_dict().items())


class _Command:
    """Unpickled, it runs a command."""

    def __init__(self, target: Path) -> None:
        self._target = target

    def __reduce__(self) -> tuple[Any, ...]:
        return os.system, (f"touch {self._target}",)


def test_a_hostile_checkpoint_runs_nothing(tmp_path: Path) -> None:
    model = network()
    before = {name: value.clone() for name, value in model.state_dict().items()}
    file, target = tmp_path / "hostile.pt", tmp_path / "the-command-ran"
    torch.save({"model": network().state_dict(), "step": 3, "rng": _Command(target)}, file)
    with pytest.raises(trainwarden.Error, match="trusted=True"):
        trainwarden.torch.restore(file, model)
    assert not target.exists()
    assert all(torch.equal(value, before[name]) for name, value in model.state_dict().items())

    trainwarden.torch.restore(file, model, with_random_states=False, trusted=True)
    assert target.exists()


@pytest.mark.parametrize("zipped", [True, False])
def test_nothing_is_run_in_any_format_of_torch_save(tmp_path: Path, zipped: bool) -> None:
    file, target = tmp_path / "hostile.pt", tmp_path / "the-command-ran"
    torch.save({"model": _Command(target)}, file, _use_new_zipfile_serialization=zipped)
    with pytest.raises(trainwarden.Error, match="trusted=True"):
        trainwarden.torch.restore(file, network())
    with file.open("rb") as opened, pytest.raises(trainwarden.Error, match="trusted=True"):
        trainwarden.torch.restore(opened, network())
    assert not target.exists()


def test_a_compiled_program_is_no_checkpoint(tmp_path: Path) -> None:
    torch.jit.save(torch.jit.script(nn.Linear(1, 1)), tmp_path / "program.pt")
    with pytest.raises(trainwarden.Error, match="compiled program"):
        trainwarden.torch.restore(tmp_path / "program.pt", network())


def test_an_untouched_program_goes_on_bit_for_bit(runner: Runner) -> None:
    run_dir = runner.folder / "resumable"
    environment = {**runner.attached_environment(run_dir), "SAVED_IN": str(run_dir / "checkpoints")}
    program = subprocess.Popen(
        [sys.executable, "resumable.py"], cwd=PROGRAMS, env=environment, text=True,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip
    assert program.stdout is not None and program.stdout.readline() == "asks\n"
    ask_for_checkpoint(run_dir)
    out, err = program.communicate(timeout=120)
    assert program.returncode == 0, err
    told = json.loads(out)
    (file,) = saved_in(run_dir)
    resumed = runner.start("resumable.py", str(file), environment=_importing_trainwarden())
    assert resumed.exit_code == 0, resumed.stderr
    after = json.loads(resumed.stdout.splitlines()[-1])
    assert 8 <= after["first"] < 29
    assert after["losses"] == told["losses"][after["first"] :]
    assert answers(run_dir)[-1]["type"] == "saved"


def _importing_trainwarden() -> dict[str, str]:
    from running import clean_environment

    folder = str(Path(trainwarden.__file__).parents[1])
    environment = {**clean_environment(), "SAVED_IN": "."}
    return {**environment, "PYTHONPATH": os.pathsep.join([folder, environment.get("PYTHONPATH", "")])}


def test_several_models_are_saved_by_name(runner: Runner) -> None:
    """A GAN that knows nothing of us, asked before it begins."""
    run_dir = runner.folder / "gan-saved"
    ask_for_checkpoint(run_dir)
    ended = runner.start("gan.py", environment=runner.attached_environment(run_dir))
    assert ended.exit_code == 0, ended.stderr
    (file,) = saved_in(run_dir)
    state = torch.load(file)
    assert set(state) == {"models", "optimizers", "step", "rng"}
    assert set(state["models"]) == {"netG", "netD"}
    assert set(state["optimizers"]) == {"optimizerG", "optimizerD"}

    generator = nn.Sequential(nn.Linear(4, 16), nn.ReLU(True), nn.Linear(16, 8))
    judge = nn.Sequential(nn.Linear(8, 16), nn.LeakyReLU(0.2), nn.Linear(16, 1))
    with pytest.raises(ValueError, match="netD"):
        trainwarden.torch.restore(file, {"netG": generator})
    step = trainwarden.torch.restore(file, {"netG": generator, "netD": judge})
    assert step == state["step"]
    assert torch.equal(generator[0].weight, state["models"]["netG"]["0.weight"])


def test_a_save_that_came_before_a_stop_is_made_before_it(runner: Runner) -> None:
    run_dir = runner.folder / "stopped"
    ask_for_checkpoint(run_dir)
    ask_for_stop(run_dir)
    environment = {**runner.attached_environment(run_dir), "SAVED_IN": str(run_dir / "checkpoints")}
    ended = runner.start("resumable.py", environment=environment)
    assert ended.exit_code == 143, ended.stderr
    assert len(saved_in(run_dir)) == 1
    assert [answer["type"] for answer in answers(run_dir)] == ["accepted", "saved"]


def test_it_can_be_switched_off(runner: Runner) -> None:
    run_dir = runner.folder / "off"
    ask_for_checkpoint(run_dir)
    environment = {**runner.attached_environment(run_dir), "TRAINWARDEN_CHECKPOINT_ON_REQUEST": "0", "SAVED_IN": "."}
    assert runner.start("gan.py", environment=environment).exit_code == 0
    (answer,) = answers(run_dir)
    assert answer["type"] == "refused" and "checkpoint_on_request" in answer["error"]
    assert not (run_dir / "checkpoints").exists()


_watchers: list[trainwarden.torch.Watcher] = []


@pytest.fixture(autouse=True)
def _nobody_listens_any_more() -> Iterator[None]:
    yield
    while _watchers:
        _watchers.pop().detach()


def watched(run_dir: Path, model: nn.Module, **options: Any) -> Any:
    """The hook and the watcher of a training, and a step of it."""
    optimizer = torch.optim.SGD([each for each in model.parameters() if not each.is_meta] or [torch.ones(1)], lr=0.1)
    hook = trainwarden.Hook(run_dir, **options)
    watcher = trainwarden.torch.watch(hook, model, optimizer)
    _watchers.append(watcher)

    def step(kept_alive: nn.Module = model) -> None:
        hook.save_scalar("s", 1.0)
        watcher.step()

    return hook, watcher, step


def test_a_function_of_the_program_has_precedence(run_dir: Path) -> None:
    called: list[int] = []
    hook, _, step = watched(run_dir, network())
    hook.on_checkpoint(lambda number, request: called.append(number))
    ask_for_checkpoint(run_dir)
    step_until_answered(run_dir, step)
    hook.close()
    assert len(called) == 1 and not (run_dir / "checkpoints").exists()


def test_what_is_spread_over_processes_is_refused(run_dir: Path) -> None:
    class FullyShardedDataParallel(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.module = nn.Linear(2, 2)

    hook, _, step = watched(run_dir, nn.Sequential(FullyShardedDataParallel()))
    ask_for_checkpoint(run_dir)
    step_until_answered(run_dir, step)
    hook.close()
    assert "FullyShardedDataParallel" in answers(run_dir)[-1]["error"]
    assert answers(run_dir)[-1]["type"] == "refused" and not (run_dir / "checkpoints").exists()


def test_what_cannot_be_pickled_is_refused_and_training_goes_on(run_dir: Path) -> None:
    class Net(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.fc = nn.Linear(2, 2)

        def get_extra_state(self) -> Any:
            return lambda: None

        def set_extra_state(self, state: Any) -> None: ...

    hook, _, step = watched(run_dir, Net())
    ask_for_checkpoint(run_dir)
    step_until_answered(run_dir, step)
    step()
    assert hook.report().on
    hook.close()
    assert "pickle" in answers(run_dir)[-1]["error"]
    assert saved_in(run_dir) == [], "not even half of it"


def test_our_own_checkpoint_is_no_signal_of_the_programs(run_dir: Path) -> None:
    hook, _, step = watched(run_dir, network(), save_all=True, save=1)
    ask_for_checkpoint(run_dir)
    step_until_answered(run_dir, step)
    step()
    hook.close()
    assert len(saved_in(run_dir)) == 1
    assert not trainwarden.open(run_dir).has_tensor("trainwarden/checkpoint")


def test_a_watcher_that_left_saves_nothing(run_dir: Path) -> None:
    hook, watcher, _ = watched(run_dir, network())
    watcher.detach()
    ask_for_checkpoint(run_dir)
    step_until_answered(run_dir, lambda: (hook.save_scalar("s", 1.0), hook.step()))
    hook.close()
    assert "no model is known" in answers(run_dir)[-1]["error"]


def test_saving_is_not_on_the_bill(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of an attached program, where all that a listener does would be: a checkpoint of a second is no capture."""
    torch_save = torch.save

    def slowly(*args: Any) -> None:
        time.sleep(1.0)
        torch_save(*args)

    monkeypatch.setattr(torch, "save", slowly)
    run_dir, model = tmp_path / "run", network()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    trainwarden.torch.attach(str(run_dir))
    try:
        for _ in range(20):  # what the first steps cost is not on the bill
            train_step(model, optimizer)
        ask_for_checkpoint(run_dir)
        step_until_answered(run_dir, lambda: train_step(model, optimizer))
        for _ in range(20):  # the bill is told of our own work every few steps
            train_step(model, optimizer)
    finally:
        trainwarden.torch.detach()
    assert answers(run_dir)[-1]["duration_ns"] > 1e9
    segments = (run_dir / "journal" / "rank-00000").glob("seg-*.tw")
    bills = [json.loads(text) for segment in segments for text in BUDGET.findall(segment.read_bytes())]
    assert bills and bills[-1]["capture_ns"] < answers(run_dir)[-1]["duration_ns"], bills[-1]


def test_what_is_loaded_is_what_was_there(run_dir: Path) -> None:
    """Also where values are not finite, and of every kind of number."""
    model = nn.ParameterDict(
        {
            "f16": nn.Parameter(torch.tensor([1.5, float("inf"), float("nan")], dtype=torch.float16)),
            "bf16": nn.Parameter(torch.tensor([-0.0, 3.0], dtype=torch.bfloat16)),
            "f64": nn.Parameter(torch.tensor([1e-300], dtype=torch.float64)),
            "c64": nn.Parameter(torch.tensor([1 + 2j])),
        }
    )
    hook, _, step = watched(run_dir, model)
    expected = copy.deepcopy(model.state_dict())
    ask_for_checkpoint(run_dir)
    step_until_answered(run_dir, step)
    hook.close()
    loaded = torch.load(saved_in(run_dir)[0])["model"]
    assert set(loaded) == set(expected)
    for name, tensor in expected.items():
        assert loaded[name].dtype == tensor.dtype
        as_bytes = torch.int16 if tensor.element_size() == 2 else torch.int64
        assert torch.equal(loaded[name].view(as_bytes), tensor.view(as_bytes)), name
