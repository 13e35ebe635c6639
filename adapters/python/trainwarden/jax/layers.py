"""Layers: the outputs of the modules of flax.linen, marked as they are computed."""

from __future__ import annotations

from typing import Any

import flax.linen as linen
import jax

from .. import faults
from . import tags


_watching: list[Any] = []  # kept, as what is not kept ends


def watch_layers() -> None:
    """For this thread, from now on."""
    watching = linen.intercept_methods(_intercept)
    watching.__enter__()
    _watching.append(watching)


def _intercept(call: Any, args: Any, kwargs: Any, context: Any) -> Any:
    output = call(*args, **kwargs)
    if context.method_name != "__call__":
        return output
    marked = _marked(output, context.module)
    return output if marked is None else marked


@faults.guarded("mark the output of a layer")
def _marked(output: Any, module: Any) -> Any:
    if module.is_initializing():
        return output
    name = "/".join(module.path) or type(module).__name__
    leaves, structure = jax.tree_util.tree_flatten(output)
    marked = [tags.through(tags.OUTPUT, f"{name}_output_{number}", leaf) for number, leaf in enumerate(leaves)]
    return jax.tree_util.tree_unflatten(structure, marked)
