"""Program calls: what a program does beside its steps that a diagnosis wants to know: the states that it loads into
models, and what the modules beside this one look for."""

from __future__ import annotations

import os
from typing import Any, NamedTuple

import torch

from ...faults import guarded
from ..contents import is_plain_tensor
from ..exchange import innermost, is_plain, put_around
from ..gates import Around
from ..module_tree import buffers_of, is_module, modules_of, named_parameters
from . import dropouts, loaded_files, saved_hooks, seeds

_MAX_LOADED = 16
_STATISTICS = ("running_mean", "running_var", "num_batches_tracked")


class Loaded(NamedTuple):
    """A call of load_state_dict() of a module."""

    kind: str  # of the module
    wanted: int  # names that the module has
    missing: int  # of them not in the state
    unexpected: int  # names of the state that the module does not have
    itself: int  # of its parameters that the state is, not a copy of them: loading it changes nothing
    statistics: int = 0  # of the names that were not in the state, those of running statistics of batch norm


loaded: list[Loaded] = []  # the first ones of the process
_is_watching = False


def is_on() -> bool:
    return os.environ.get("TRAINWARDEN_EXAMINE") == "1"


def watch() -> None:
    """Once, and only where trainings are examined."""
    global _is_watching
    if _is_watching or not is_on():
        return
    _is_watching = True
    inner = innermost(torch.nn.Module.load_state_dict)
    if is_plain(inner):
        put_around(inner, Around(_load_begins, _load_ends))
    for each in (seeds, dropouts, loaded_files, saved_hooks):
        each.watch()


def count_of_loads() -> int:
    """Of whole states."""
    return sum(1 for each in loaded if each.wanted > 0 and each.missing == 0)


@guarded("see which state is loaded into a model")
def _load_begins(*args: Any, **kwargs: Any) -> Any:
    if not args or not is_module(args[0]) or len(loaded) >= _MAX_LOADED:
        return None
    return args[0], _count_itself(args[0], args[1] if len(args) > 1 else kwargs.get("state_dict"))


@guarded("see which state was loaded into a model")
def _load_ends(load: Any, result: Any) -> None:
    module, itself = load
    missing, unexpected = getattr(result, "missing_keys", None), getattr(result, "unexpected_keys", None)
    if type(missing) is list and type(unexpected) is list:
        statistics = sum(1 for name in missing if str(name).split(".")[-1] in _STATISTICS)
        counts = len(missing), len(unexpected), itself, statistics
        loaded.append(Loaded(type(module).__name__, _count_names(module), *counts))


def _count_names(module: torch.nn.Module) -> int:
    """Of parameters and buffers."""
    return sum(1 for _ in named_parameters(module)) + sum(len(buffers_of(each)) for each in modules_of(module))


def _is_itself(parameter: torch.Tensor, given: Any) -> bool:
    if not (is_plain_tensor(given) and is_plain_tensor(parameter)) or parameter.numel() == 0:
        return False
    return bool(given.data_ptr() == parameter.data_ptr())


def _count_itself(module: Any, state: Any) -> int:
    """Who keeps state_dict() for later keeps the parameters, not what they are now."""
    if not is_module(module) or not issubclass(type(state), dict):
        return 0
    try:
        return sum(_is_itself(parameter, dict.get(state, name)) for name, parameter in named_parameters(module))
    except RuntimeError:  # tensors without storage
        return 0
