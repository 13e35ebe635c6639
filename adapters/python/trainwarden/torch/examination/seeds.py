"""Seeds: those that a program sets, of PyTorch's generator, NumPy's and Python's own."""

from __future__ import annotations

import random
import sys
from typing import Any

import torch

from .. import gates
from ..exchange import innermost, is_plain, put_around
from ..gates import Around

_MAX_SEEDS = 64
_seeds: list[int] = []


def watch() -> None:
    """Once."""
    if is_plain(random.Random.__init__):
        put_around(random.Random.__init__, Around(_make_generator))
    inner = innermost(torch.random.manual_seed)
    if is_plain(inner):
        put_around(inner, Around(_set_seed))
    _watch_attribute(random, "seed")
    if "numpy" in sys.modules:
        for name in ("seed", "default_rng"):
            _watch_attribute(sys.modules["numpy"].random, name)


def take() -> list[int]:
    """Those that were set since it was called last."""
    global _seeds
    taken, _seeds = _seeds, []
    return taken


def _watch_attribute(module: Any, name: str) -> None:
    """Functions that are no code of Python's can only be replaced."""
    function = getattr(module, name, None)
    if callable(function):
        gates.exchanged.put(module, name, function, Around(_set_seed))


def _set_seed(*args: Any, **kwargs: Any) -> None:
    _note(args[0] if args else kwargs.get("seed", kwargs.get("a")))


def _make_generator(*args: Any, **kwargs: Any) -> None:
    """Of random.Random(seed): the first argument is the generator."""
    _note(args[1] if len(args) > 1 else kwargs.get("x"))


def _note(seed: Any) -> None:
    if type(seed) is int and len(_seeds) < _MAX_SEEDS:
        _seeds.append(seed)
