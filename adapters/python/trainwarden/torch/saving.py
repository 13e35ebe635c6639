"""Saving: saves the state of a training on request, when the program has no function of its own for that."""

from __future__ import annotations

import random
import sys
import weakref
from collections.abc import Iterable, Mapping
from typing import Any, Optional, Union

import torch
from torch.optim import Optimizer

from .._core import CheckpointRequest
from ..errors import Error
from .. import faults
from . import listeners, trainers
from .loading import load_state
from .module_tree import modules_of, parameters_of_module
from .naming import variable_name
from .roots import Model
from .wrappers import unwrapped

_ENDING = ".pt"
_SPREAD = "the parameters of {} are spread over processes ({}); give Hook.on_checkpoint() a function that gathers them"

Models = Union[torch.nn.Module, Mapping[str, torch.nn.Module]]
Optimizers = Union[Optimizer, Mapping[str, Optimizer]]


class Training:
    """What knows models and the optimizers that train them."""

    def models_to_save(self) -> list[Model]:
        raise NotImplementedError

    def optimizers_to_save(self) -> list[Optimizer]:
        raise NotImplementedError


class StateSaver:
    """Saves all trainings that capture through one hook. Called in the thread that trains, when a step has ended."""

    def __init__(self, hook: Any) -> None:
        self._hook = weakref.ref(hook)
        self._trainings: list[weakref.ref[Training]] = []

    def add(self, training: Training) -> None:
        self._trainings.append(weakref.ref(training))

    def remove(self, training: Training) -> None:
        self._trainings = [other for other in self._trainings if other() is not None and other() is not training]

    def __call__(self, step: int, request: CheckpointRequest) -> str:
        hook = self._hook()
        if hook is None:
            raise Error("the hook is gone")
        state = self._state(step)
        with listeners.unheard():
            path: str = hook.write_checkpoint(_ENDING, lambda file: torch.save(state, file))
        _ask_trainer(path)
        return path

    def _state(self, step: int) -> dict[str, Any]:
        trainings = [each for each in (reference() for reference in self._trainings) if each is not None]
        models = [model for each in trainings for model in each.models_to_save() if model.module is not None]
        optimizers = [optimizer for each in trainings for optimizer in each.optimizers_to_save()]
        if not models or not optimizers:
            missing = "model" if not models else "optimizer"
            raise ValueError(f"no {missing} is known; give Hook.on_checkpoint() a function that saves")
        for model in models:
            _check_whole(model)
        return {
            **_named("model", {_name_of(model): _module_of(model).state_dict() for model in models}),
            **_named("optimizer", {name: each.state_dict() for name, each in _optimizer_names(optimizers).items()}),
            "step": step,
            "rng": random_states(),
        }


@faults.guarded("ask the trainer for a checkpoint of its own")
def _ask_trainer(path: str) -> None:
    answer = trainers.ask_to_save(path)
    if answer is not None:
        faults.say(answer)


def save_on_request(hook: Any, training: Training) -> StateSaver:
    """From now on `training` is saved on request, unless the program has given the hook a function."""
    saver = getattr(hook, "_save_checkpoint_by_default", None)
    if not isinstance(saver, StateSaver):
        saver = StateSaver(hook)
        hook._save_by_default(saver)
    saver.add(training)
    return saver


def _named(kind: str, states: Mapping[str, Any]) -> dict[str, Any]:
    """The only one under "model", several by name under "models"."""
    return {kind: next(iter(states.values()))} if len(states) == 1 else {f"{kind}s": dict(states)}


def _module_of(model: Model) -> torch.nn.Module:
    module = model.module
    if module is None:
        raise ValueError(f"{model.path} was dropped while it was saved")
    return module


def _name_of(model: Model) -> str:
    return model.prefix.rstrip(".") or type(_module_of(model)).__name__


def _optimizer_names(optimizers: Iterable[Optimizer]) -> dict[str, Optimizer]:
    """By the program's variables, else by class."""
    names: dict[str, Optimizer] = {}
    for optimizer in optimizers:
        stem = variable_name([optimizer]) or type(optimizer).__name__
        name, number = stem, 1
        while name in names:
            number += 1
            name = f"{stem}{number}"
        names[name] = optimizer
    return dict(sorted(names.items()))


def _check_whole(model: Model) -> None:
    """Refuses what this process has only a part of: gathering it would wait for others, who may not be asked."""
    module = _module_of(model)
    kinds = {type(part).__name__ for part in (*model.entries, *modules_of(module))}
    if "FullyShardedDataParallel" in kinds:
        raise ValueError(_SPREAD.format(model.path, "FullyShardedDataParallel"))
    for parameter in parameters_of_module(module):
        if hasattr(parameter, "ds_id"):
            raise ValueError(_SPREAD.format(model.path, "DeepSpeed"))
        if type(parameter).__name__ == "DTensor" or type(getattr(parameter, "data", None)).__name__ == "DTensor":
            raise ValueError(_SPREAD.format(model.path, "DTensor"))
        if parameter.is_meta:
            raise ValueError(f"parameters of {model.path} lie nowhere (device \"meta\"), so they cannot be saved")


# Generators of random numbers.


def random_states() -> dict[str, Any]:
    """The states of all generators in use: tensors, numbers and texts, which torch.load takes with weights_only."""
    states: dict[str, Any] = {"torch": torch.get_rng_state(), "python": random.getstate()}
    numpy_random = sys.modules.get("numpy.random")
    if numpy_random is not None:
        kind, keys, position, has_gauss, gauss = numpy_random.get_state()
        states["numpy"] = (str(kind), torch.tensor([int(key) for key in keys], device="cpu"))
        states["numpy"] += (int(position), int(has_gauss), float(gauss))
    if torch.cuda.is_initialized():
        states["cuda"] = torch.cuda.get_rng_state_all()
    return states


def set_random_states(states: Mapping[str, Any]) -> None:
    torch.set_rng_state(states["torch"])
    version, numbers, gauss = states["python"]
    random.setstate((version, tuple(numbers), gauss))
    if "numpy" in states:
        import numpy

        kind, keys, *rest = states["numpy"]
        numpy.random.set_state((kind, keys.numpy().astype(numpy.uint32), *rest))
    if "cuda" in states:
        torch.cuda.set_rng_state_all(states["cuda"])


def restore(
    file: Any,
    model: Models,
    optimizer: Optional[Optimizers] = None,
    *,
    with_random_states: bool = True,
    trusted: bool = False,
) -> int:
    """Loads a state that was saved on request, and returns the last step before it was saved.

        step = trainwarden.torch.restore("runs/first/checkpoints/step-000123-rank-00000.pt", model, optimizer)
        hook = trainwarden.Hook("runs/second", first_global_step=step + 1)

    Arguments:
        model, optimizer: of the same kinds as those that were saved; several by name, as they were saved.
        with_random_states: also those of the generators of random numbers.
        trusted: the file may hold objects of any kind. Loading them runs code that the file names: only for files of
            people whom you would let run programs on this machine.

    Raises:
        trainwarden.Error: the file holds more than tensors, numbers, texts and containers of them, and is not trusted.
            Nothing of it was run, and model and optimizer are as before.
    """
    state = load_state(file, trusted=trusted)
    _put_back(state, "model", model)
    if optimizer is not None:
        _put_back(state, "optimizer", optimizer)
    if with_random_states:
        set_random_states(state["rng"])
    return int(state["step"])


def _put_back(state: Mapping[str, Any], kind: str, into: Any) -> None:
    """As it was saved: the only one, or several by name."""
    saved = state.get(f"{kind}s", {kind: state.get(kind)})
    targets = into if isinstance(into, Mapping) else {kind: into}
    if len(saved) == len(targets) == 1:
        targets = dict(zip(saved, targets.values()))
    if set(saved) != set(targets):
        raise ValueError(f"the checkpoint has the {kind}s {sorted(saved)}, not {sorted(targets)}: name them as saved")
    for name, target in targets.items():
        whole = unwrapped(target) if isinstance(target, torch.nn.Module) else target
        whole.load_state_dict(saved[name])
