"""ModuleTree: the modules, parameters and buffers of a model, read where torch keeps them.

parameters(), named_modules() and their like may be methods of the program's own, which filter, print or count. They are
asked only of modules that torch.jit has compiled, which keep theirs elsewhere.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import torch

from .contents import attributes_of


def is_module(value: Any) -> bool:
    return issubclass(type(value), torch.nn.Module)


def _is_tensor(value: Any) -> bool:
    return issubclass(type(value), torch.Tensor)


def is_script(module: Any) -> bool:
    return issubclass(type(module), torch.jit.ScriptModule)


def is_training(module: torch.nn.Module) -> bool:
    return bool(module.training if is_script(module) else attributes_of(module).get("training", False))


def children_of(module: torch.nn.Module) -> list[tuple[str, torch.nn.Module]]:
    """By name; none while its __init__ is running."""
    if is_script(module):
        return list(module.named_children())
    return [(name, child) for name, child in _table(module, "_modules") if is_module(child)]


def named_modules(root: torch.nn.Module) -> Iterator[tuple[str, torch.nn.Module]]:
    """The root and all below it, each once, in the order of torch, with dotted names."""
    seen: set[int] = set()
    waiting = [("", root)]
    while waiting:
        path, module = waiting.pop()
        if id(module) in seen:
            continue
        seen.add(id(module))
        yield path, module
        below = [(f"{path}.{name}" if path else name, child) for name, child in children_of(module)]
        waiting += reversed(below)


def modules_of(root: torch.nn.Module) -> Iterator[torch.nn.Module]:
    return (module for _, module in named_modules(root))


def named_parameters(root: torch.nn.Module) -> Iterator[tuple[str, torch.Tensor]]:
    """Each once, with dotted names."""
    seen: set[int] = set()
    for path, module in named_modules(root):
        own = list(module.named_parameters(recurse=False)) if is_script(module) else _table(module, "_parameters")
        for name, parameter in own:
            if _is_tensor(parameter) and id(parameter) not in seen:
                seen.add(id(parameter))
                yield (f"{path}.{name}" if path else name), parameter


def parameters_of_module(root: torch.nn.Module) -> Iterator[torch.Tensor]:
    return (parameter for _, parameter in named_parameters(root))


def own_parameters(module: torch.nn.Module) -> list[torch.Tensor]:
    """Those that lie in none of the modules below it."""
    if is_script(module):
        return list(module.parameters(recurse=False))
    return [parameter for _, parameter in _table(module, "_parameters") if _is_tensor(parameter)]


def has_parameters(root: torch.nn.Module) -> bool:
    return next(named_parameters(root), None) is not None


def buffers_of(module: torch.nn.Module) -> list[tuple[str, torch.Tensor]]:
    """Its own, by key."""
    if is_script(module):
        return list(module.named_buffers(recurse=False))
    return [(name, value) for name, value in _table(module, "_buffers") if _is_tensor(value)]


def _table(module: torch.nn.Module, name: str) -> list[tuple[str, Any]]:
    found = attributes_of(module).get(name)
    return list(dict.items(found)) if isinstance(found, dict) else []
