"""Structure: what a program is made of, for a look at it before anything is judged: modules with their settings,
parameters, what is not registered, optimizers, and the places in the user's source."""

from __future__ import annotations

import inspect
import sys
from itertools import islice
from typing import Any, Iterable, Optional

import torch
from torch.optim import Optimizer

from ..frames import is_program
from ..module_tree import children_of, is_module, modules_of, named_modules, parameters_of_module
from ..naming import class_name
from ..own_update import OwnUpdate
from ..roots import Model
from .weights import settings_of

_MAX_MODULES = 2000
# Attributes of modules that decide how they behave.
_SETTINGS = (
    "p", "momentum", "eps", "affine", "track_running_stats", "in_features", "out_features", "in_channels",
    "out_channels", "kernel_size", "stride", "groups", "num_features", "num_embeddings", "embedding_dim", "padding_idx",
    "dim", "negative_slope", "hidden_size", "num_layers", "batch_first", "dropout", "bidirectional", "reduction",
    "ignore_index", "inplace",
)  # fmt: skip


def caller_place() -> Optional[str]:
    """`train.py:42`, where the program called what has led here."""
    frame = sys._getframe(1)
    for _ in range(60):
        if frame is None:
            return None
        if is_program(frame) and not frame.f_code.co_filename.startswith("<"):
            return f"{frame.f_code.co_filename}:{frame.f_lineno}"
        frame = frame.f_back  # type: ignore[assignment]
    return None


def place_of_class(module: torch.nn.Module) -> Optional[str]:
    """Where the forward of its class begins; None for a class of torch."""
    kind = type(module)
    if str(kind.__module__).split(".")[0] == "torch":
        return None
    code = getattr(getattr(kind, "forward", None), "__code__", None)
    return f"{code.co_filename}:{code.co_firstlineno}" if code is not None else None


def describe(models: Iterable[Model], optimizers: list[Optimizer], weights: list[torch.Tensor]) -> dict[str, Any]:
    """`weights`: parameters in the order of the numbers of an examination."""
    owners: dict[int, list[int]] = {}
    for number, optimizer in enumerate(optimizers):
        for group in optimizer.param_groups:
            for parameter in group["params"]:
                owners.setdefault(id(parameter), []).append(number)
    modules: list[dict[str, Any]] = []
    names: dict[int, str] = {}
    unregistered: list[dict[str, Any]] = []
    for model in models:
        root = model.module
        if root is None:
            continue
        registered = {id(each) for each in modules_of(root)} | {id(each) for each in parameters_of_module(root)}
        for name, module in islice(named_modules(root), _MAX_MODULES):
            modules.append(_module(model.prefix + name, module))
            unregistered += _unregistered(model.prefix + name, module, registered | set(owners))
        for named in model.parameters():
            names.setdefault(id(named.parameter), named.name)
    known = {id(each) for each in weights}
    return {
        "modules": modules,
        "parameters": [_parameter(names.get(id(each), ""), each, owners.get(id(each), [])) for each in weights],
        "foreign": sum(1 for key in owners if key not in names),
        "unseen": sum(1 for key in names if key not in known),
        "unregistered": unregistered[:32],
        "optimizers": [_optimizer(each) for each in optimizers],
    }


def _module(name: str, module: torch.nn.Module) -> dict[str, Any]:
    settings: dict[str, Any] = {}
    for key in _SETTINGS:
        value = module.__dict__.get(key)
        if isinstance(value, (bool, int, float, str)):
            settings[key] = value
        elif isinstance(value, tuple) and all(isinstance(each, int) for each in value):
            settings[key] = list(value)
    # An attribute like any other of a module, which changes none of its parameters: what was meant is requires_grad_().
    if isinstance(wish := module.__dict__.get("requires_grad"), bool):
        settings["asks_for_gradients"] = wish
    tracked = module._buffers.get("num_batches_tracked")
    if tracked is not None and tracked.device.type == "cpu":
        settings["tracked"] = int(tracked)
    described: dict[str, Any] = {"name": name, "kind": class_name(module), "leaf": not children_of(module)}
    if settings:
        described["settings"] = settings
    place = place_of_class(module)
    if place is not None:
        described["place"] = place
    return described


def _parameter(name: str, parameter: torch.Tensor, owners: list[int]) -> dict[str, Any]:
    return {
        "name": name,
        "shape": list(parameter.shape),
        "dtype": str(parameter.dtype)[6:],
        "trainable": parameter.requires_grad,
        "optimizers": owners,
    }


def _unregistered(name: str, module: torch.nn.Module, registered: set[int]) -> list[dict[str, Any]]:
    """Modules and parameters in lists and dictionaries of the module, which torch does not look into."""
    found = []
    for key, value in list(module.__dict__.items()):
        if key.startswith("_"):
            continue
        lost = [each for each in _contained(value) if _is_lost(each, registered)]
        if lost:
            found.append({"module": name, "attribute": key, "count": len(lost), "kind": type(lost[0]).__name__})
    return found


def _contained(value: Any, depth: int = 3) -> list[Any]:
    """What lies in a list, a dictionary, or in those within it."""
    items = value.values() if isinstance(value, dict) else value if isinstance(value, (list, tuple)) else ()
    found: list[Any] = []
    for each in list(items)[:64]:
        if depth > 1 and isinstance(each, (dict, list, tuple)):
            found += _contained(each, depth - 1)
        else:
            found.append(each)
    return found[:256]


def _is_lost(value: Any, registered: set[int]) -> bool:
    """Does it get gradients, and nobody finds it? A teacher that is hidden from parameters() on purpose gets none."""
    if id(value) in registered:
        return False
    parameters = parameters_of_module(value) if is_module(value) else [value]
    return any(
        issubclass(type(each), torch.nn.Parameter) and id(each) not in registered and each.grad is not None
        for each in parameters
    )


def _optimizer(optimizer: Optimizer) -> dict[str, Any]:
    groups = [{"parameters": len(group["params"]), **settings_of(group)} for group in optimizer.param_groups[:16]]
    is_own = isinstance(optimizer, OwnUpdate)
    return {"kind": "" if is_own else type(optimizer).__name__, "groups": groups}


def place_of(function: Any) -> Optional[str]:
    """Of a function of the program."""
    try:
        return f"{inspect.getsourcefile(function)}:{inspect.getsourcelines(function)[1]}"
    except (OSError, TypeError):
        return None
