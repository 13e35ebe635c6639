"""Program calls: what a program does beside its steps that a diagnosis wants to know: the seeds that it sets, the states
that it loads into models, and how often its predictions are right in an evaluation that computes no loss."""

from __future__ import annotations

import os
from typing import Any, Callable, NamedTuple

import torch

from ..exchange import innermost, is_plain, put_around
from . import dropouts, loaded_files

_MAX_LOADED = 16
_MAX_SEEDS = 64
_MAX_MATCHES = 4096


class Loaded(NamedTuple):
    """A call of load_state_dict() of a module."""

    kind: str  # of the module
    wanted: int  # names that the module has
    missing: int  # of them not in the state
    unexpected: int  # names of the state that the module does not have
    itself: int  # of its parameters that the state is, not a copy of them: loading it changes nothing


loaded: list[Loaded] = []  # the first ones of the process
_seeds: list[int] = []
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
    for function, call in ((torch.random.manual_seed, _manual_seed), (torch.nn.Module.load_state_dict, _load_state_dict)):
        inner = innermost(function)
        if is_plain(inner):
            put_around(inner, call)
            put.append(call)
    return [*put, *dropouts.watch(), *loaded_files.watch()]


def _manual_seed(torch_function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    seed = args[0] if args else kwargs.get("seed")
    if isinstance(seed, int) and len(_seeds) < _MAX_SEEDS:
        _seeds.append(seed)
    return torch_function(*args, **kwargs)


def take_seeds() -> list[int]:
    """Those that were set since it was called last."""
    global _seeds
    taken, _seeds = _seeds, []
    return taken


def _load_state_dict(torch_function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    itself = _count_itself(args[0], args[1] if len(args) > 1 else kwargs.get("state_dict")) if args else 0
    result = torch_function(*args, **kwargs)
    if args and isinstance(args[0], torch.nn.Module) and len(loaded) < _MAX_LOADED:
        missing, unexpected = getattr(result, "missing_keys", None), getattr(result, "unexpected_keys", None)
        if isinstance(missing, list) and isinstance(unexpected, list):
            wanted = sum(1 for _ in args[0].parameters()) + sum(1 for _ in args[0].buffers())
            loaded.append(Loaded(type(args[0]).__name__, wanted, len(missing), len(unexpected), itself))
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


class Matches:
    """Comparisons of two tensors of whole numbers, as `(output.argmax(1) == labels)` is one. Stands in torch from
    begin() to end(), that is during an evaluation that is looked at, and keeps the shares of equal elements."""

    def __init__(self) -> None:
        self._shares: list[torch.Tensor] = []
        self._put: dict[str, Any] = {}

    def begin(self) -> None:
        if self._put or any(name in vars(torch.Tensor) for name in ("__eq__", "eq")):
            return  # somebody else stands there
        for name in ("__eq__", "eq"):
            self._put[name] = self._around(getattr(torch.Tensor, name))
            setattr(torch.Tensor, name, self._put[name])

    def end(self) -> list[torch.Tensor]:
        for name, ours in self._put.items():
            if vars(torch.Tensor).get(name) is ours:
                delattr(torch.Tensor, name)
        self._put = {}
        taken, self._shares = self._shares, []
        return taken

    def _around(self, torch_function: Any) -> Any:
        def equal(value: Any, other: Any) -> Any:
            result = torch_function(value, other)
            if _are_labels(value, other) and isinstance(result, torch.Tensor) and len(self._shares) < _MAX_MATCHES:
                self._shares.append(result.detach().double().mean())
            return result

        return equal


def _are_labels(value: Any, other: Any) -> bool:
    return (
        type(value) is torch.Tensor
        and type(other) is torch.Tensor
        and value.dtype == torch.int64
        and other.dtype == torch.int64
        and value.shape == other.shape
        and value.dim() >= 1
        and not value.is_meta
        and value.layout is torch.strided
    )
