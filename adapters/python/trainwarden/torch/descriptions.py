"""Descriptions: the models and the optimizers of a program as JSON (docs/format/signals.md), when they have changed."""

from __future__ import annotations

import json
from typing import Any, Optional

import torch
from torch.optim import Optimizer

from .contents import is_tensor
from .naming import class_name
from .roots import Model, parameters_of
from .sharding import describe_shards


class Descriptions:
    """Remembers what it has reported last. Keeps no model and no optimizer alive."""

    def __init__(self) -> None:
        self._optimizers_reported: Optional[Any] = None
        self._model_reported: Optional[str] = None
        self._shards_reported: Optional[str] = None
        self._model_changed = True

    def models_changed(self) -> None:
        """The next call of model() looks again, and not only when the optimizers have changed."""
        self._model_changed = True

    def optimizers(self, optimizers: list[Optimizer]) -> Optional[str]:
        """None when nothing but the learning rates has changed since the last time."""
        now = [(type(each).__name__, [_settings_of(group) for group in each.param_groups]) for each in optimizers]
        if now == self._optimizers_reported:
            return None
        self._optimizers_reported = now
        self._model_changed = True
        return json.dumps({"optimizers": [_describe_optimizer(optimizer) for optimizer in optimizers]})

    def model(self, models: list[Model], optimizers: list[Optimizer]) -> Optional[str]:
        """None when it is what it was the last time."""
        if not self._model_changed:
            return None
        self._model_changed = False
        described = _describe_models(models, parameters_of(optimizers))
        if described == self._model_reported:
            return None
        self._model_reported = described
        return described


    def shards(self, models: list[Model]) -> Optional[str]:
        """None when nothing is sharded, or all is as it was the last time."""
        named = [each for model in models if model.module is not None for each in model.parameters()]
        described = describe_shards(named)
        if described == self._shards_reported:
            return None
        self._shards_reported = described
        return described


def describe_loader(loader: Any) -> str:
    """What of a data loader decides how long a training waits for it."""
    known = {
        "workers": getattr(loader, "num_workers", None),
        "prefetch_factor": getattr(loader, "prefetch_factor", None),
        "pin_memory": getattr(loader, "pin_memory", None),
        "persistent_workers": getattr(loader, "persistent_workers", None),
        "batch_size": getattr(loader, "batch_size", None),
    }
    return json.dumps({name: value for name, value in known.items() if isinstance(value, (bool, int))})


def _settings_of(group: dict[str, Any]) -> tuple[Any, ...]:
    return len(group["params"]), group.get("eps"), group.get("momentum")


def _describe_optimizer(optimizer: Optimizer) -> dict[str, Any]:
    return {"kind": type(optimizer).__name__, "groups": [_describe_group(group) for group in optimizer.param_groups]}


def _describe_group(group: dict[str, Any]) -> dict[str, Any]:
    numbers = {key: _number_of(group.get(key)) for key in ("lr", "eps", "momentum")}
    return {"parameters": len(group["params"]), **{key: number for key, number in numbers.items() if number is not None}}


def _number_of(setting: Any) -> Optional[float]:
    """None for what is no number: Adafactor has a pair of epsilons, and no learning rate where it finds its own."""
    is_number = isinstance(setting, (int, float)) or (is_tensor(setting) and setting.numel() == 1)
    return float(setting) if is_number else None


def _describe_models(models: list[Model], optimized: set[int]) -> str:
    modules, parameters, known = [], [], set()
    for model in models:
        modules += [{"name": name, "kind": class_name(module)} for name, module in model.modules()]
        for name, parameter, _, _ in model.parameters():
            known.add(id(parameter))
            parameters.append(_describe_parameter(name, parameter, id(parameter) in optimized))
    foreign = len(optimized - known)
    return json.dumps({"modules": modules, "parameters": parameters, "foreign": foreign})


def _describe_parameter(name: str, parameter: torch.Tensor, optimized: bool) -> dict[str, Any]:
    described = {"name": name, "trainable": parameter.requires_grad, "optimized": optimized}
    return {**described, "bits": 16} if parameter.dtype in (torch.float16, torch.bfloat16) else described
