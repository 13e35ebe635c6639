"""Program calls: what a program does beside its steps that a diagnosis wants to know: the states that it loads into
models, and what the modules beside this one look for."""

from __future__ import annotations

import os
from typing import Any, Callable, NamedTuple

import torch

from ..exchange import innermost, is_plain, put_around
from . import dropouts, loaded_files, seeds

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


def watch() -> list[Callable[..., Any]]:
    """Once, and only where trainings are examined. Gives the functions put into torch."""
    global _is_watching
    if _is_watching or not is_on():
        return []
    _is_watching = True
    put = []
    inner = innermost(torch.nn.Module.load_state_dict)
    if is_plain(inner):
        put_around(inner, _load_state_dict)
        put.append(_load_state_dict)
    return [*put, *seeds.watch(), *dropouts.watch(), *loaded_files.watch()]


def count_of_loads() -> int:
    """Of whole states."""
    return sum(1 for each in loaded if each.wanted > 0 and each.missing == 0)


def _load_state_dict(torch_function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    itself = _count_itself(args[0], args[1] if len(args) > 1 else kwargs.get("state_dict")) if args else 0
    result = torch_function(*args, **kwargs)
    if args and isinstance(args[0], torch.nn.Module) and len(loaded) < _MAX_LOADED:
        missing, unexpected = getattr(result, "missing_keys", None), getattr(result, "unexpected_keys", None)
        if isinstance(missing, list) and isinstance(unexpected, list):
            wanted = sum(1 for _ in args[0].parameters()) + sum(1 for _ in args[0].buffers())
            statistics = sum(1 for name in missing if str(name).split(".")[-1] in _STATISTICS)
            loaded.append(Loaded(type(args[0]).__name__, wanted, len(missing), len(unexpected), itself, statistics))
    return result


def _count_itself(module: Any, state: Any) -> int:
    """Who keeps state_dict() for later keeps the parameters, not what they are now."""
    if not isinstance(module, torch.nn.Module) or not isinstance(state, dict):
        return 0
    try:
        return sum(
            1
            for name, parameter in module.named_parameters()
            if isinstance(state.get(name), torch.Tensor) and parameter.numel() > 0
            and state[name].data_ptr() == parameter.data_ptr()
        )  # fmt: skip
    except RuntimeError:  # tensors without storage
        return 0
