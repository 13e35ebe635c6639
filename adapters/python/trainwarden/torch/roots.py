"""Roots: the models of the program, found among the living objects, and the names of what is in them."""

from __future__ import annotations

import weakref
from typing import Iterable, NamedTuple, Optional

import torch
from torch.nn.modules.loss import _Loss
from torch.nn.parameter import is_lazy
from torch.optim import Optimizer

from .. import _core
from .contents import attributes_of
from .flat import Shard, named_originals, originals_in
from .frames import frames, variables_of
from .module_tree import (
    buffers_of,
    children_of,
    has_parameters,
    is_module,
    is_script,
    modules_of,
    named_modules,
    named_parameters,
    parameters_of_module,
)
from .naming import class_name, variable_name
from .own_update import OwnUpdate
from .wrappers import Paths, is_wrapper, stands_in, unwrapped


class NamedParameter(NamedTuple):
    """A parameter as the model had it at first, under its name."""

    name: str
    parameter: torch.Tensor  # that the module has now
    elements: Optional[slice] = None  # where it lies in that, on this rank; None: it is that parameter
    shard: Optional[Shard] = None  # what this rank has of it, where it was made flat


class Model:
    """A root: a model, what may be called for it, and the prefix of all names that begin in it. Keeps none alive."""

    def __init__(self, module: torch.nn.Module, prefix: str = "") -> None:
        self._module = weakref.ref(module)
        self._entries = [self._module]
        self.prefix = prefix
        self.path = prefix + class_name(module)  # stands in for the path that a root has not

    @property
    def module(self) -> Optional[torch.nn.Module]:
        """None once the program has dropped the model."""
        return self._module()

    @property
    def entries(self) -> list[torch.nn.Module]:
        """What the program may call: the model and its wrappers, those that still live."""
        return [entry for entry in (reference() for reference in self._entries) if entry is not None]

    def add_entry(self, entry: torch.nn.Module) -> None:
        if all(entry is not known for known in self.entries):
            self._entries.append(weakref.ref(entry))

    def parameters(self) -> list[NamedParameter]:
        """Each parameter once, under the first of its names; what FullyShardedDataParallel has put together, one by one."""
        root = self.module
        if root is None:
            return []
        paths, flat = Paths(root), originals_in([*self.entries, *modules_of(root)])
        return [
            NamedParameter(self.prefix + paths.of_tensor(name), parameter, *original)
            for dotted, parameter in named_parameters(root)
            for name, original in named_originals(dotted, parameter, flat)
        ]

    def buffers(self) -> list[tuple[str, torch.nn.Module, str]]:
        """Each buffer once, under the first of its names: the name, the module that has it, and its key there."""
        root = self.module
        if root is None:
            return []
        paths, seen, found = Paths(root), set(), []
        for path, module in named_modules(root):
            for key, buffer in buffers_of(module):
                if id(buffer) not in seen:
                    seen.add(id(buffer))
                    found.append((self.prefix + paths.of_tensor(f"{path}.{key}" if path else key), module, key))
        return found

    def modules(self) -> list[tuple[str, torch.nn.Module]]:
        """The modules by name, without wrappers."""
        return [each for each in self._all_modules() if not is_wrapper(each[1])]

    def called_modules(self) -> list[tuple[str, torch.nn.Module]]:
        """What is called for the modules, by their names: they themselves, and wrappers that may hide their calls."""
        entries = [(self.path, entry) for entry in self.entries if stands_in(entry)]
        inside = [each for each in self._all_modules() if not is_wrapper(each[1]) or stands_in(each[1])]
        return inside + [entry for entry in entries if all(entry[1] is not module for _, module in inside)]

    def _all_modules(self) -> list[tuple[str, torch.nn.Module]]:
        root = self.module
        if root is None:
            return []
        paths = Paths(root)
        named = [(paths.of_module(path), module) for path, module in named_modules(root)]
        return [(self.prefix + path if path else self.path, module) for path, module in named]

    def compiled_parts(self) -> list[str]:
        """What of it torch.compile runs, by name: the model, or modules in it."""
        root = self.module
        if root is None:
            return []
        if any(map(is_compiled, self.entries)):
            return [self.path]
        parts: list[str] = []
        paths = Paths(root)
        inside: Optional[str] = None  # of a part that is compiled
        for path, module in named_modules(root):
            if is_compiled(module) and (inside is None or not path.startswith(inside)):
                inside = path + "."
                parts.append(self.prefix + paths.of_module(path))
        return parts


def is_of_keras(module: torch.nn.Module) -> bool:
    return any(kind.__module__.startswith("keras.") for kind in type(module).__mro__)


def is_compiled(module: torch.nn.Module) -> bool:
    """Is it run by torch.compile?"""
    return type(module).__name__ == "OptimizedModule" or attributes_of(module).get("_compiled_call_impl") is not None


class Living:
    """The modules and optimizers that are alive now."""

    def __init__(self) -> None:
        self.modules: list[torch.nn.Module] = _core.living_objects(torch.nn.Module)
        self.optimizers: list[Optimizer] = [*_core.living_objects(Optimizer), *_core.living_objects(OwnUpdate)]

    def roots(self) -> list[tuple[torch.nn.Module, list[torch.nn.Module]]]:
        """Models with parameters that lie in no other module, each with its wrappers."""
        children = {id(child) for module in self.modules for _, child in children_of(module)}
        wrappers: dict[int, list[torch.nn.Module]] = {}
        models: dict[int, torch.nn.Module] = {}
        for module in self.modules:
            inner = unwrapped(module)
            if inner is not module:
                wrappers.setdefault(id(inner), []).append(module)
            if id(module) not in children and _is_model(inner):
                models[id(inner)] = inner
        return [(model, wrappers.get(id(model), [])) for model in _without_originals(list(models.values()))]


def is_unfinished(module: torch.nn.Module) -> bool:
    """Is it called before its model is whole? Models are tried while they are made, and lazy layers get their shapes so;
    what is computed for a parameter (spectral_norm) is a module too."""
    if type(module).__module__ == "torch.nn.utils.parametrize":
        return True
    if any(is_lazy(parameter) for parameter in parameters_of_module(module)):
        return True
    makers = (frame for frame in frames() if frame.f_code.co_name == "__init__")
    return any(is_module(variables_of(frame).get("self")) for frame in makers)


def _without_originals(models: list[torch.nn.Module]) -> list[torch.nn.Module]:
    """Without those that torch.jit.script was given: they may live on, and have the parameters of what it gave."""
    scripted = {id(parameter) for model in models if is_script(model) for parameter in parameters_of_module(model)}
    if not scripted:
        return models
    return [model for model in models if is_script(model) or not is_trained(model, scripted)]


def _is_model(module: torch.nn.Module) -> bool:
    return not issubclass(type(module), _Loss) and has_parameters(module)


def parameters_of(optimizers: Iterable[Optimizer]) -> set[int]:
    """The ids of all parameters that these optimizers train."""
    groups = (group for optimizer in optimizers for group in getattr(optimizer, "param_groups", ()))
    return {id(parameter) for group in groups for parameter in group["params"]}


def is_trained(module: torch.nn.Module, trained: set[int]) -> bool:
    """Is any of its parameters among these ids?"""
    return any(id(parameter) in trained for parameter in parameters_of_module(module))


def prefix_for(module: torch.nn.Module, wrappers: list[torch.nn.Module], taken: set[str]) -> str:
    """A prefix that no other model has: from the program's variable, else from the class."""
    stem = variable_name([module, *wrappers]) or class_name(module)
    prefix, number = f"{stem}.", 1
    while prefix in taken:
        number += 1
        prefix = f"{stem}{number}."
    return prefix
