"""Names: what a leaf of a tree of parameters is called, and what it is."""

from __future__ import annotations

from typing import Any

import jax

# Where parameters lie in the trees of flax; what nnx calls the array inside of a variable.
_ROOT = "params"
_INSIDE = ("value", "raw_value")
_BIASES = ("bias", "b", "biases")
_OF_ONE = "weight"  # a parameter that is no tree


def leaves_of(tree: Any) -> list[tuple[str, Any]]:
    """Each leaf and its name: the path with "/" between its keys."""
    leaves, _ = jax.tree_util.tree_flatten_with_path(tree)
    return [(name_of(path), leaf) for path, leaf in leaves]


def name_of(path: tuple[Any, ...], of_one: str = _OF_ONE) -> str:
    keys = [_key(each) for each in path]
    if keys and keys[0] == _ROOT:
        keys = keys[1:]
    if keys and keys[-1] in _INSIDE:
        keys = keys[:-1]
    return "/".join(keys) or of_one


def _key(entry: Any) -> str:
    for attribute in ("key", "name", "idx"):
        key = getattr(entry, attribute, None)
        if key is not None:
            return str(key)
    return str(entry)


def collection_of(name: str, dimensions: int) -> str:
    """By the last key; where that is a number, what has one dimension is a bias."""
    last = name.rpartition("/")[2].partition("#")[0]
    if last in _BIASES or (last.isdigit() and dimensions <= 1):
        return "biases"
    return "weights"
