"""Activations: what goes into and comes out of modules, copied or reduced while the call runs."""

from __future__ import annotations

import weakref
from collections.abc import Mapping
from typing import Any

import torch

from .bridge import Bridge
from .naming import model_name
from .roots import Model

# Deeper nested inputs and outputs are not looked into.
_MAX_DEPTH = 8


def tensors_in(value: Any) -> list[torch.Tensor]:
    """The tensors of a nested tuple, list, dict or dataclass, in order."""
    found: list[torch.Tensor] = []
    _collect(value, found, _MAX_DEPTH)
    return found


def _collect(value: Any, found: list[torch.Tensor], depth: int) -> None:
    if isinstance(value, torch.Tensor):
        found.append(value)
    elif depth == 0:
        return
    elif isinstance(value, (tuple, list)):
        for item in value:
            _collect(item, found, depth - 1)
    elif isinstance(value, Mapping):
        for item in value.values():
            _collect(item, found, depth - 1)
    elif hasattr(type(value), "__dataclass_fields__"):
        for field in type(value).__dataclass_fields__:
            _collect(getattr(value, field, None), found, depth - 1)


class Series:
    """`conv1_output_0`, `_1`, ...: the index runs on within a step."""

    def __init__(self, hook: Any, stem: str, collections: list[str]) -> None:
        self._hook = hook
        self._stem = stem
        self._collections = collections
        self._ids: list[int] = []
        self._step = -1
        self._index = 0

    def id_at(self, step: int) -> int:
        """The number of the next tensor of the series in this step."""
        if step != self._step:
            self._step, self._index = step, 0
        while self._index >= len(self._ids):
            self.declare_next()
        self._index += 1
        return self._ids[self._index - 1]

    def declare_next(self) -> None:
        self._ids.append(self._hook.declare(f"{self._stem}{len(self._ids)}", self._collections))


class _Layer:
    """One module: the names of what goes in and what comes out."""

    def __init__(self, hook: Any, path: str) -> None:
        self.inputs = Series(hook, f"{path}_input_", ["inputs"])
        self.outputs = Series(hook, f"{path}_output_", ["outputs"])
        # Declared before the first call, so that the hook knows whether anything of them is wanted.
        self.inputs.declare_next()
        self.outputs.declare_next()


class Activations:
    """Sees calls of modules by their names. Belongs to one step at a time: `step` is its number."""

    def __init__(self, hook: Any, bridge: Bridge) -> None:
        self._hook = hook
        self._bridge = bridge
        self._layers: dict[int, _Layer] = {}
        self.step = 0
        self.wants_inputs = False
        self.wants_outputs = False

    @property
    def wanted(self) -> bool:
        return self.wants_inputs or self.wants_outputs

    def ask(self) -> None:
        """Asks the hook what of the current step is wanted."""
        self.wants_inputs = self._hook.wants_collection("inputs")
        self.wants_outputs = self._hook.wants_collection("outputs")

    def add(self, model: Model) -> None:
        """Names all modules that the model has now; those that are known keep their names."""
        root = model.module
        for path, module in root.named_modules() if root is not None else ():
            self._name(module, model.prefix + model_name(path + ".")[:-1] if path else model.path)

    def _name(self, module: torch.nn.Module, path: str) -> None:
        if id(module) not in self._layers:
            self._keep(module, _Layer(self._hook, path))

    def _keep(self, module: torch.nn.Module, layer: _Layer) -> None:
        """As long as the module lives: another one may get its id."""
        self._layers[id(module)] = layer
        weakref.finalize(module, self._layers.pop, id(module), None).atexit = False

    def knows(self, module: torch.nn.Module) -> bool:
        return id(module) in self._layers

    def save_inputs(self, module: torch.nn.Module, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        layer = self._layers.get(id(module))
        if layer is not None and self.wants_inputs:
            self._save(layer.inputs, (args, kwargs))

    def save_outputs(self, module: torch.nn.Module, output: Any) -> None:
        layer = self._layers.get(id(module))
        if layer is not None and self.wants_outputs:
            self._save(layer.outputs, output)

    def _save(self, series: Series, value: Any) -> None:
        for tensor in tensors_in(value):
            self._bridge.save(series.id_at(self.step), tensor)
