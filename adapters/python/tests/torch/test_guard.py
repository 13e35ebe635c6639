"""Rules inside the training: a NaN never reaches the weights."""

from __future__ import annotations

import copy
from pathlib import Path
from typing import Any, Callable

import pytest
import torch
from torch import nn

import trainwarden
import trainwarden.torch as twt
from running import TORCH_2, Runner
from trainwarden import StepAdvice

NAN_GRADIENTS = "ExplodingTensor:collection_names=gradients"

OPTIMIZERS: dict[str, Callable[[Any], torch.optim.Optimizer]] = {
    "sgd": lambda p: torch.optim.SGD(p, lr=0.1),
    "momentum": lambda p: torch.optim.SGD(p, lr=0.1, momentum=0.9, weight_decay=0.1, nesterov=True),
    "sgd_foreach": lambda p: torch.optim.SGD(p, lr=0.1, momentum=0.9, weight_decay=0.1, foreach=True),
    "adam": lambda p: torch.optim.Adam(p, lr=0.1, weight_decay=0.1, amsgrad=True),
    "adam_foreach": lambda p: torch.optim.Adam(p, lr=0.1, foreach=True),
    "adamw": lambda p: torch.optim.AdamW(p, lr=0.1, weight_decay=0.5),
    "adamw_foreach": lambda p: torch.optim.AdamW(p, lr=0.1, weight_decay=0.5, foreach=True),
    "rmsprop": lambda p: torch.optim.RMSprop(p, lr=0.1, momentum=0.9, centered=True, weight_decay=0.1),
    "adagrad": lambda p: torch.optim.Adagrad(p, lr=0.1, weight_decay=0.1),
    "adadelta": lambda p: torch.optim.Adadelta(p, weight_decay=0.1),
    "adamax": lambda p: torch.optim.Adamax(p, weight_decay=0.1),
    "nadam": lambda p: torch.optim.NAdam(p, weight_decay=0.1),
    "radam": lambda p: torch.optim.RAdam(p, weight_decay=0.1),
    "rprop": lambda p: torch.optim.Rprop(p),
    "asgd": lambda p: torch.optim.ASGD(p, weight_decay=0.1),
}
if TORCH_2:
    OPTIMIZERS["adam_fused"] = lambda p: torch.optim.Adam(p, lr=0.1, fused=True)


def guarded_hook(folder: Path, on_fire: str) -> trainwarden.Hook:
    hook = trainwarden.Hook(
        folder / "run", include_collections=["gradients", "weights"], save=1, keep="statistics", when_full="block"
    )
    hook.guard(NAN_GRADIENTS, on_fire=on_fire)
    return hook


def backward(model: nn.Module, optimizer: torch.optim.Optimizer, factor: float = 1.0) -> None:
    optimizer.zero_grad()
    (model(torch.ones(3, 2)).square().sum() * factor).backward()


def state_of(model: nn.Module, optimizer: torch.optim.Optimizer) -> list[bytes]:
    """Every byte of the weights and of what the optimizer remembers."""
    tensors = [*model.parameters()]
    for state in optimizer.state.values():
        tensors += [torch.as_tensor(value) for _, value in sorted(state.items()) if value is not None]
    return [tensor.detach().numpy().tobytes() for tensor in tensors]


@pytest.mark.parametrize("name", OPTIMIZERS)
def test_a_vetoed_step_changes_nothing(name: str, tmp_path: Path) -> None:
    torch.manual_seed(3)
    model = nn.Sequential(nn.Linear(2, 4), nn.Tanh(), nn.Linear(4, 1))
    try:
        optimizer = OPTIMIZERS[name](model.parameters())
    except RuntimeError as error:
        pytest.skip(str(error))
    hook = guarded_hook(tmp_path, "skip_step")
    with twt.watch(hook, model, optimizer) as watcher:
        for _ in range(3):
            backward(model, optimizer)
            optimizer.step()
            watcher.step()
        before = state_of(model, optimizer)
        backward(model, optimizer, float("nan"))
        optimizer.step()
        assert state_of(model, optimizer) == before
        assert not watcher.step().stop_requested
        backward(model, optimizer)
        optimizer.step()
        assert state_of(model, optimizer) != before
        assert all(parameter.isfinite().all() for parameter in model.parameters())
        watcher.step()
    assert hook.report().vetoes == 1
    hook.close()
    trial = trainwarden.open(hook.run_dir)
    assert trial.statistics("gradient/0.weight", 3).nan_count == 8, "the step is in the run, as it was judged"


def test_the_next_step_is_that_of_a_training_that_never_saw_the_batch(tmp_path: Path) -> None:
    torch.manual_seed(5)
    model = nn.Linear(2, 1)
    twin = copy.deepcopy(model)
    optimizers = [torch.optim.AdamW(m.parameters(), lr=0.1) for m in (model, twin)]
    with guarded_hook(tmp_path, "skip_step") as hook, twt.watch(hook, model, optimizers[0]) as watcher:
        for factor in (1.0, 0.5, float("nan"), 2.0, float("inf"), 1.0):
            backward(model, optimizers[0], factor)
            optimizers[0].step()
            watcher.step()
            if factor == factor and factor != float("inf"):
                backward(twin, optimizers[1], factor)
                optimizers[1].step()
    assert torch.equal(model.weight, twin.weight)


def test_report_changes_nothing_and_stop_comes_before_the_step(tmp_path: Path) -> None:
    for on_fire, poisoned in (("report", True), ("stop", False)):
        model = nn.Linear(2, 1)
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        with guarded_hook(tmp_path / on_fire, on_fire) as hook, twt.watch(hook, model, optimizer) as watcher:
            backward(model, optimizer, float("nan"))
            optimizer.step()
            end = watcher.step()
            assert bool(model.weight.isnan().any()) is poisoned
            assert end.stop_requested is not poisoned
            if not poisoned:
                assert end.stop_reason.startswith("ExplodingTensor fired at step 0")


CLOSURE_OPTIMIZERS: dict[str, Callable[[Any], torch.optim.Optimizer]] = {
    "adamw": lambda p: torch.optim.AdamW(p, lr=0.1, weight_decay=0.5),
    "lbfgs": lambda p: torch.optim.LBFGS(p, lr=0.1, max_iter=2),
}


@pytest.mark.parametrize("name", CLOSURE_OPTIMIZERS)
def test_gradients_of_a_closure_are_vetoed(name: str, tmp_path: Path) -> None:
    torch.manual_seed(3)
    model = nn.Sequential(nn.Linear(2, 4), nn.Tanh(), nn.Linear(4, 1))
    optimizer = CLOSURE_OPTIMIZERS[name](model.parameters())
    changed = []
    with guarded_hook(tmp_path, "skip_step") as hook, twt.watch(hook, model, optimizer) as watcher:
        for factor in (1.0, 1.0, float("nan"), 1.0):

            def closure(factor: float = factor) -> torch.Tensor:
                optimizer.zero_grad()
                loss = model(torch.ones(3, 2)).square().sum() * factor
                loss.backward()
                return loss

            before = [parameter.detach().clone() for parameter in model.parameters()]
            optimizer.step(closure)
            changed.append(not all(map(torch.equal, before, model.parameters())))
            watcher.step()
        assert hook.report().vetoes == 1
    assert changed == [True, True, False, True]
    trial = trainwarden.open(tmp_path / "run")
    assert trial.statistics("gradient/0.weight", 2).nan_count == 8


def test_a_closure_stops_the_training(tmp_path: Path) -> None:
    model = nn.Linear(2, 1)
    optimizer = torch.optim.LBFGS(model.parameters(), max_iter=1)

    def closure() -> torch.Tensor:
        optimizer.zero_grad()
        loss = model(torch.ones(3, 2)).square().sum() * float("nan")
        loss.backward()
        return loss

    with guarded_hook(tmp_path, "stop") as hook, twt.watch(hook, model, optimizer) as watcher:
        optimizer.step(closure)
        assert watcher.step().stop_requested
    assert not model.weight.isnan().any()


def test_a_hook_without_a_framework(tmp_path: Path) -> None:
    import numpy as np

    with guarded_hook(tmp_path, "skip_step") as hook:
        gradient = hook.declare("gradient/w", ["gradients"])
        advice = []
        for value in (1.0, float("nan"), 1.0):
            hook.save_tensor(gradient, np.array([value]))
            advice.append(hook.judge())
            hook.step()
        assert advice == [StepAdvice.PROCEED, StepAdvice.SKIP_STEP, StepAdvice.PROCEED]
        with pytest.raises(FileExistsError):
            hook.guard(NAN_GRADIENTS)
    with trainwarden.Hook(tmp_path / "other") as hook:
        assert hook.judge() is StepAdvice.PROCEED, "nobody judges"
        with pytest.raises(ValueError, match="Nonsense"):
            hook.guard("Nonsense")
        with pytest.raises(ValueError, match="inside the training"):
            hook.guard("Hang")  # which judges what does not come
        with pytest.raises(ValueError, match="skip_step"):
            hook.guard(NAN_GRADIENTS, on_fire="explode")


def run_poisoned(runner: Runner, name: str, **variables: str) -> Any:
    run_dir = runner.folder / name
    environment = {**runner.attached_environment(run_dir), **variables}
    return run_dir, runner.start("poisoned.py", environment=environment)


def test_an_untouched_program_skips(runner: Runner) -> None:
    run_dir, ended = run_poisoned(
        runner, "skips", TRAINWARDEN_GUARD_RULES="ExplodingTensor", TRAINWARDEN_ON_FIRE="skip_step"
    )
    assert ended.exit_code == 0, ended.stderr
    assert "step 5 finite True" in ended.stdout
    assert ended.stderr.count("The optimizer's step is left out") == 1, ended.stderr
    trial = trainwarden.open(run_dir)
    assert len(trial.steps("train")) == 6
    assert trial.statistics("gradient/weight", 2, "train").nan_count > 0
    assert trial.statistics("weight", 5, "train").nan_count == 0
    assert (run_dir / "journal" / "watch-0").is_dir()


def test_an_untouched_program_stops(runner: Runner) -> None:
    run_dir, ended = run_poisoned(
        runner, "stops", TRAINWARDEN_GUARD_RULES="ExplodingTensor", TRAINWARDEN_ON_FIRE="stop"
    )
    assert ended.exit_code == 143, ended.stderr
    assert "step 1" in ended.stdout and "step 2" not in ended.stdout, "it ends before the step"
    trial = trainwarden.open(run_dir)
    assert trial.state is trainwarden.RunState.STOPPED
    assert trial.statistics("gradient/weight", 2, "train").nan_count > 0
    assert trial.statistics("weight", 1, "train").nan_count == 0


def test_a_word_that_is_no_rule_is_said_and_the_training_goes_on(runner: Runner) -> None:
    _, ended = run_poisoned(runner, "nonsense", TRAINWARDEN_GUARD_RULES="Nonsense")
    assert ended.exit_code == 0
    assert "no rule judges inside this training" in ended.stderr, ended.stderr
