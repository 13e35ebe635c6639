"""Tags: marks in a traced program that say which of its values is a loss, a gradient, a weight or a layer's output.

A tag is the primitive of jax.ad_checkpoint.checkpoint_name: it has rules for every transformation, computes nothing, and
leaves no trace in what is compiled. Most tags lie beside the program's own values, which go on as they are.
"""

from __future__ import annotations

import threading
import weakref
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Optional

import jax
from jax._src import ad_checkpoint
from jax.ad_checkpoint import checkpoint_name

from .._owners import is_owned
from .._replacing import replace
from . import names

PREFIX = "trainwarden:"
LOSS, GRADIENT, OWN_GRADIENT, WEIGHT, OUTPUT, STATE = "loss", "gradient", "own", "weight", "output", "state"
RATE = "rate"  # of learning
METRIC = "metric"  # no tag: a number that a function without gradients gives


_MAX_UPDATES = 8  # that wait for being applied


class _Inside(threading.local):
    """Of a thread: how deep it is in what differentiates, and in updates of optimizers."""

    def __init__(self) -> None:
        self.differentiating = 0
        self.updating = 0
        # A leaf of what optimizers gave last, weakly, and which one it was.
        self.updates: list[tuple[weakref.ref[Any], int]] = []


_inside = _Inside()
_made: Counter[str] = Counter()


def made() -> int:
    """How many tags were made so far in this process. More than before: something was traced anew."""
    return sum(_made.values())


def trained() -> bool:
    """Was anything traced that trains?"""
    return _made[GRADIENT] + _made[OWN_GRADIENT] > 0


@contextmanager
def differentiating() -> Iterator[bool]:
    """True for the outermost."""
    _inside.differentiating += 1
    try:
        yield _inside.differentiating == 1
    finally:
        _inside.differentiating -= 1


@contextmanager
def updating() -> Iterator[bool]:
    """True for the outermost."""
    _inside.updating += 1
    try:
        yield _inside.updating == 1
    finally:
        _inside.updating -= 1


def note_updates(updates: Any, group: int) -> None:
    """An optimizer gave these."""
    first = [leaf for leaf in jax.tree_util.tree_leaves(updates)[:1] if isinstance(leaf, (jax.Array, jax.core.Tracer))]
    _inside.updates = [*_inside.updates[-_MAX_UPDATES:], *((weakref.ref(leaf), group) for leaf in first)]


def group_of(updates: Any) -> int:
    """The optimizer that gave them; where they were changed since then, the last one. Its updates are let go."""
    leaf = next(iter(jax.tree_util.tree_leaves(updates)), None)
    noted, _inside.updates = _inside.updates, [each for each in _inside.updates if each[0]() is not leaf]
    last = noted[-1][1] if noted else 0
    return next((group for each, group in noted if each() is leaf), last)


def mark(kind: str, name: str, value: Any, group: int = 0) -> None:
    """A tag beside a value."""
    through(kind, name, value, group)


def mark_tree(kind: str, tree: Any, group: int = 0) -> None:
    for name, leaf in names.leaves_of(tree):
        mark(kind, name, leaf, group)


def through(kind: str, name: str, value: Any, group: int = 0) -> Any:
    """The same value with the tag on it, for what is transformed further. Values that are there already have none."""
    if not isinstance(value, jax.core.Tracer) or is_owned() or not is_number(value):
        return value
    try:
        tagged = checkpoint_name(value, f"{PREFIX}{kind}:{group}:{name}")
    except Exception:
        return value  # a transformation that does not know the primitive
    _made[kind] += 1
    return tagged


def is_number(value: Any) -> bool:
    """Keys of random generators are none, and gradients of integers have no elements."""
    dtype = getattr(value, "dtype", None)
    return dtype is not None and not jax.dtypes.issubdtype(dtype, jax.dtypes.extended) and dtype != jax.dtypes.float0


def keep_out_of_policies() -> None:
    """From now on jax.checkpoint saves nothing of ours between its passes where a policy saves whatever has a name.
    Older versions of JAX make it as a function, of which nobody can get hold."""
    kind = getattr(ad_checkpoint, "SaveAnyNamesButThese", None)
    if kind is not None:
        replace(kind, "__call__", _saving)


def _saving(original: Any) -> Any:
    def __call__(self: Any, *args: Any, **params: Any) -> Any:
        name = params.get("name")
        return False if type(name) is str and name.startswith(PREFIX) else original(self, *args, **params)

    return __call__


def parsed(equation: Any) -> Optional[tuple[str, int, str]]:
    """Kind, group and name of the tag that an equation is; None for any other."""
    if equation.primitive.name != "name":
        return None
    text = str(equation.params.get("name", ""))
    if not text.startswith(PREFIX):
        return None
    kind, group, name = text[len(PREFIX) :].split(":", 2)
    return kind, int(group), name
