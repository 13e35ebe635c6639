"""Seeds: those that a program sets, of PyTorch's generator, NumPy's and Python's own."""

from __future__ import annotations

import functools
import random
import sys
from typing import Any, Callable

import torch

from ..exchange import innermost, is_plain, put_around

_MAX_SEEDS = 64
_seeds: list[int] = []


def watch() -> list[Callable[..., Any]]:
    """Once. Gives the functions put into torch."""
    _watch_attribute(random, "seed")
    if is_plain(random.Random.__init__):
        put_around(random.Random.__init__, _make_generator)
    if "numpy" in sys.modules:
        for name in ("seed", "default_rng"):
            _watch_attribute(sys.modules["numpy"].random, name)
    inner = innermost(torch.random.manual_seed)
    if not is_plain(inner):
        return []
    put_around(inner, _set_seed)
    return [_set_seed]


def take() -> list[int]:
    """Those that were set since it was called last."""
    global _seeds
    taken, _seeds = _seeds, []
    return taken


def _watch_attribute(module: Any, name: str) -> None:
    """Functions that are no code of Python's can only be replaced."""
    function = getattr(module, name, None)
    if not callable(function):
        return

    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        return _set_seed(function, *args, **kwargs)

    setattr(module, name, call)


def _set_seed(function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    _note(args[0] if args else kwargs.get("seed", kwargs.get("a")))
    return function(*args, **kwargs)


def _make_generator(function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """Of random.Random(seed): the first argument is the generator."""
    _note(args[1] if len(args) > 1 else kwargs.get("x"))
    return function(*args, **kwargs)


def _note(seed: Any) -> None:
    if isinstance(seed, int) and len(_seeds) < _MAX_SEEDS:
        _seeds.append(seed)
