"""Activations: what goes into and comes out of modules, copied or reduced while the call runs."""

from __future__ import annotations

import sys
import weakref
from typing import Any, Callable, Optional

import torch

from . import kinds
from .bridge import Bridge
from .contents import is_tensor, tensors_in
from .module_tree import is_module
from .roots import Model
from .wrappers import unwrapped

# Stand for all modules: wanted when the whole collection is, and not only some of its members.
_ANY_INPUT, _ANY_OUTPUT = "trainwarden/any_module/input", "trainwarden/any_module/output"
_ANY_FUNCTION = "trainwarden/any_function/"
# Tensors of a series that a step has under a budget: a cell that is called for each element of a sequence would fill the
# run with them, and the training's heap with their names.
_MAX_UNASKED = 64


class Series:
    """`conv1_output_0`, `_1`, ...: the index runs on within a step."""

    def __init__(self, hook: Any, stem: str, collections: list[str]) -> None:
        self._hook = hook
        self.stem = stem
        self._collections = collections
        self._ids: list[int] = []
        self._more: dict[int, set[str]] = {}  # further collections of the tensor at an index
        self._step = -1
        self._index = 0
        self.is_cut = False  # a step had more of it than are captured

    def is_wanted(self) -> bool:
        """Is any tensor of it that was declared so far wanted at the current step?"""
        return any(map(self._hook.wants, self._ids))

    def id_at(self, step: int, collection: Optional[str] = None) -> int:
        """The number of the next tensor of the series in this step. It is made a member of the collection."""
        if step != self._step:
            self._step, self._index = step, 0
        while self._index >= len(self._ids):
            self.declare_next()
        if collection is not None and collection not in self._more.get(self._index, ()):
            self._more.setdefault(self._index, set()).add(collection)
            self._hook.declare(f"{self.stem}{self._index}", [collection])
        self._index += 1
        return self._ids[self._index - 1]

    def index_at(self, step: int) -> int:
        """How many tensors of the series this step has."""
        return self._index if step == self._step else 0

    def go_back(self, step: int, index: int) -> None:
        """The next tensor of this step is the one at this index once more."""
        self._step, self._index = step, index

    def declare_next(self) -> None:
        self._ids.append(self._hook.declare(f"{self.stem}{len(self._ids)}", self._collections))


class _Layer:
    """One module: the names of what goes in and what comes out, each in the collections of the module's kind."""

    def __init__(self, hook: Any, path: str, module: torch.nn.Module, more_of_inputs: list[str]) -> None:
        self.path = path
        self.is_shared = False  # by a module and a wrapper around it, which may both be called
        self.inputs = Series(hook, f"{path}_input_", ["inputs", *kinds.input_kinds(module), *more_of_inputs])
        self.outputs = Series(hook, f"{path}_output_", ["outputs", *kinds.output_kinds(module)])
        # The weights of an attention a second time, under a name that means them alone.
        self.attention = Series(hook, f"{path}_attention_", ["attention"]) if kinds.gives_attention(module) else None
        # Declared before the first call, so that the hook knows whether anything of them is wanted.
        self.inputs.declare_next()
        self.outputs.declare_next()
        if self.attention is not None:
            self.attention.declare_next()

    def wants_inputs(self) -> bool:
        return self.inputs.is_wanted()

    def wants_outputs(self) -> bool:
        return self.outputs.is_wanted() or (self.attention is not None and self.attention.is_wanted())


class Functions:
    """The activation functions of torch.nn.functional: `conv1_relu_output_0` of F.relu() in the module conv1.

    They are looked at only where their kind is asked for, not for the sake of `inputs` or `outputs`.
    """

    def __init__(self, hook: Any, bridge: Bridge) -> None:
        self._hook = hook
        self._bridge = bridge
        self._series: dict[str, Series] = {}
        names = {*kinds.FUNCTION_INPUTS.values(), *kinds.FUNCTION_OUTPUTS.values(), "attention"}
        self._any = [hook.declare(_ANY_FUNCTION + name, [name]) for name in sorted(names)]
        self.wanted = False

    def ask(self) -> None:
        self.wanted = any(map(self._hook.wants, self._any))

    def save_input(self, function: str, path: str, value: Any, step: int) -> None:
        collection = kinds.FUNCTION_INPUTS.get(function)
        if collection is not None:
            self._save(_joined(path, function, "input_"), [collection], value, step)

    def save_output(self, function: str, path: str, value: Any, step: int, attends: bool) -> None:
        collection = kinds.FUNCTION_OUTPUTS.get(function)
        if collection is not None:
            more = ["attention"] if attends and function == "softmax" else []
            self._save(_joined(path, function, "output_"), [collection, *more], value, step)

    def _save(self, stem: str, collections: list[str], value: Any, step: int) -> None:
        if not is_tensor(value):
            return
        series = self._series.get(stem)
        if series is None:
            series = self._series[stem] = Series(self._hook, stem, collections)
        self._bridge.save(series.id_at(step), value)


def _joined(*parts: str) -> str:
    return "_".join(filter(None, parts))


class Activations:
    """Sees calls of modules by their names. Belongs to one step at a time: `step` is its number."""

    def __init__(self, hook: Any, bridge: Bridge, note_unseen: Callable[[str], None]) -> None:
        """`note_unseen` writes to the run what is not captured."""
        self._hook = hook
        self._bridge = bridge
        self._note_unseen = note_unseen
        self._most = _MAX_UNASKED if hook.report().bill.budget > 0.0 else sys.maxsize
        self._layers: dict[int, _Layer] = {}
        self._any_input = hook.declare(_ANY_INPUT, ["inputs"])
        self._any_output = hook.declare(_ANY_OUTPUT, ["outputs"])
        self._has_attention = False
        self.functions = Functions(hook, bridge)
        self.step = 0
        self.is_repeated = False  # another batch of an accumulation: the first one stands for all
        # The modules, by id, whose inputs or outputs are wanted; None: those of all.
        self._with_inputs: Optional[frozenset[int]] = frozenset()
        self._with_outputs: Optional[frozenset[int]] = frozenset()
        self._called: dict[int, int] = {}  # layers that are shared, while they are called: through which module

    def ask(self, is_idle: bool) -> None:
        """Asks the hook what of the current step is wanted. Of a few modules is cheaper than a look at every call."""
        self._called.clear()
        if is_idle:
            self._with_inputs = self._with_outputs = frozenset()
            self.functions.wanted = False
            return
        self.functions.ask()
        wants = self._hook.wants_collection
        attention = self._has_attention and wants("attention")
        self._with_inputs = self._modules_for(wants("inputs"), self._any_input, _Layer.wants_inputs)
        self._with_outputs = self._modules_for(wants("outputs") or attention, self._any_output, _Layer.wants_outputs)

    def _modules_for(
        self, any_wanted: bool, stands_for_all: int, wants: Callable[[_Layer], bool]
    ) -> Optional[frozenset[int]]:
        if not any_wanted:
            return frozenset()
        if self._hook.wants(stands_for_all):
            return None
        return frozenset(key for key, layer in list(self._layers.items()) if wants(layer))

    @property
    def wants_every_call(self) -> bool:
        return self._with_inputs is None or self._with_outputs is None

    @property
    def wanted_calls(self) -> frozenset[int]:
        """The ids of the modules whose calls are of interest when not every one is."""
        return (self._with_inputs or frozenset()) | (self._with_outputs or frozenset())

    @property
    def wanted(self) -> bool:
        return not self.is_repeated and self._wants_any()

    def _wants_any(self) -> bool:
        return self._with_inputs != frozenset() or self._with_outputs != frozenset()

    def add(self, model: Model) -> None:
        """Names all modules that the model has now; those that are known keep their names."""
        convolution = kinds.first_convolution(model)
        named: dict[str, _Layer] = {}
        for path, module in model.called_modules():
            more = ["batch_inputs"] if path == model.path else []
            if unwrapped(module) is convolution:
                more.append("image_inputs")
            self._name(module, path, more, named)

    def _name(self, module: torch.nn.Module, path: str, more_of_inputs: list[str], named: dict[str, _Layer]) -> None:
        """`named`: the layers of this model so far. A wrapper and what is in it are one."""
        known = self._layers.get(id(module))
        layer = known or named.get(path) or _Layer(self._hook, path, unwrapped(module), more_of_inputs)
        layer.is_shared = layer.is_shared or (path in named and known is None)
        named.setdefault(path, layer)
        if known is not None:
            return
        self._layers[id(module)] = layer
        self._has_attention = self._has_attention or layer.attention is not None
        # As long as the module lives: another one may get its id.
        weakref.finalize(module, self._layers.pop, id(module), None).atexit = False

    def knows(self, module: torch.nn.Module) -> bool:
        return id(module) in self._layers

    def save_inputs(self, module: torch.nn.Module, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        layer = self._layers.get(id(module))
        if layer is None or not self._begins(layer, module):
            return
        if self._with_inputs is None or id(module) in self._with_inputs:
            self._save(layer.inputs, (args, kwargs))

    def save_outputs(self, module: torch.nn.Module, output: Any) -> None:
        layer = self._layers.get(id(module))
        if layer is None or not self.end_call(module):
            return
        if self._with_outputs is None or id(module) in self._with_outputs:
            self._save(layer.outputs, output)
            if layer.attention is not None and type(output) is tuple:
                self._save(layer.attention, output[1:])

    def _begins(self, layer: _Layer, module: torch.nn.Module) -> bool:
        """Does a call of the layer begin with that of the module, and not with a wrapper around it?"""
        return not layer.is_shared or self._called.setdefault(id(layer), id(module)) == id(module)

    def end_call(self, module: torch.nn.Module) -> bool:
        """Does a call of the module's layer end with that of the module? Also where the call has failed."""
        layer = self._layers.get(id(module))
        if layer is None or not layer.is_shared:
            return True
        if self._called.get(id(layer), id(module)) != id(module):
            return False
        self._called.pop(id(layer), None)
        return True

    def save_function_input(self, function: str, caller: Any, value: Any) -> None:
        if self.is_repeated:
            return
        layer = self._layers.get(id(caller))
        self.functions.save_input(function, layer.path if layer is not None else "", value, self.step)

    def save_function_output(self, function: str, caller: Any, value: Any) -> None:
        if self.is_repeated:
            return
        layer = self._layers.get(id(caller))
        path = layer.path if layer is not None else ""
        attends = is_module(caller) and kinds.computes_attention(caller)
        self.functions.save_output(function, path, value, self.step, attends)

    def _save(self, series: Series, value: Any) -> None:
        for tensor in tensors_in(value):
            if series.index_at(self.step) >= self._most:
                return self._cut(series)
            self._bridge.save(series.id_at(self.step), tensor)

    def _cut(self, series: Series) -> None:
        if not series.is_cut:
            series.is_cut = True
            self._note_unseen(f"{series.stem}{self._most} and what follows in the step, as capture has a budget")
