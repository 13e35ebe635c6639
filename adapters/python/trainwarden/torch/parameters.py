"""Parameters: the weights, gradients, buffers and optimizer state of models, by name."""

from __future__ import annotations

import operator
import weakref
from typing import Any, Callable, Iterable, Optional

import torch
from torch.optim import Optimizer

from .bridge import Bridge
from .naming import keys_of
from .roots import Model


class NameBook:
    """Which parameter has which name, over all models. A parameter that is in no module has its key in a dict of the
    program, else it is `param_0`, `param_1`, ...

    `look_again` is called before a parameter is taken for one of those: the program may have new models.
    """

    def __init__(self) -> None:
        self._names: dict[int, tuple[weakref.ref[torch.Tensor], str]] = {}
        self._strays = 0
        self.look_again: Callable[[], None] = lambda: None

    def add(self, named: Iterable[tuple[str, torch.Tensor]]) -> None:
        for name, parameter in named:
            if self.find(parameter) is None:
                self._names[id(parameter)] = (weakref.ref(parameter), name)

    def find(self, parameter: torch.Tensor) -> Optional[str]:
        known = self._names.get(id(parameter))
        return known[1] if known is not None and known[0]() is parameter else None

    def names_of(self, parameters: list[torch.Tensor]) -> list[tuple[torch.Tensor, str]]:
        """Each parameter with its name."""
        if any(self.find(parameter) is None for parameter in parameters):
            self.look_again()
        strays = [parameter for parameter in parameters if self.find(parameter) is None]
        if strays:
            self._name_by_keys(strays)
        return [(parameter, self.find(parameter) or self._name_stray(parameter)) for parameter in parameters]

    def _name_by_keys(self, strays: list[torch.Tensor]) -> None:
        """Those whose key no other parameter has as its name."""
        taken = {name for reference, name in self._names.values() if reference() is not None}
        keys = keys_of(strays)
        for parameter in strays:
            key = keys.get(id(parameter))
            if key is not None and key not in taken:
                taken.add(key)
                self.add([(key, parameter)])

    def _name_stray(self, parameter: torch.Tensor) -> str:
        name = f"param_{self._strays}"
        self._strays += 1
        self.add([(name, parameter)])
        return name


class Slot:
    """One parameter: its numbers in the hook."""

    __slots__ = ("reference", "name", "weight", "gradient", "state")

    def __init__(self, hook: Any, parameter: torch.Tensor, name: str) -> None:
        self.reference = weakref.ref(parameter)
        self.name = name
        self.weight: int = hook.declare(name)
        self.gradient: int = hook.declare("gradient/" + name)
        self.state: dict[str, int] = {}  # by the key in the optimizer's state


class ParameterTable:
    """The parameters of one optimizer, or of one model. Built anew only when the list of parameters has changed."""

    def __init__(self, hook: Any, bridge: Bridge, names: NameBook) -> None:
        self._hook = hook
        self._bridge = bridge
        self._names = names
        self._slots: list[Slot] = []
        self._has_named_state = False

    def slots_for(self, parameters: list[torch.Tensor]) -> list[Slot]:
        """A slot for each parameter, in the same order."""
        known = [slot.reference() for slot in self._slots]
        if len(known) != len(parameters) or not all(map(operator.is_, known, parameters)):
            self._slots = [Slot(self._hook, *named) for named in self._names.names_of(parameters)]
            self._has_named_state = False
        return self._slots

    def save_gradients(self, parameters: list[torch.Tensor]) -> None:
        """The current ones. Those of frozen parameters, and missing ones, are skipped."""
        slots, save = self.slots_for(parameters), self._bridge.save
        with self._bridge.group:
            for slot, parameter in zip(slots, parameters):
                gradient = parameter.grad
                if gradient is not None and parameter.requires_grad:
                    save(slot.gradient, gradient)

    def save_weights(self, parameters: list[torch.Tensor]) -> None:
        """Those that are trained: a frozen one never changes."""
        slots, save, wants = self.slots_for(parameters), self._bridge.save, self._hook.wants
        with self._bridge.group:
            for slot, parameter in zip(slots, parameters):
                if wants(slot.weight) and parameter.requires_grad:  # a step may be there for its losses alone
                    save(slot.weight, parameter)

    def has_unnamed_state(self, optimizer: Optimizer) -> bool:
        """Does the optimizer remember something that the hook does not know by name yet? A pattern may mean it."""
        return not self._has_named_state and len(optimizer.state) > 0

    def save_state(self, parameters: list[torch.Tensor], optimizer: Optimizer) -> None:
        """What the optimizer remembers of each parameter: exp_avg, momentum_buffer, step, ..."""
        for slot, parameter in zip(self.slots_for(parameters), parameters):
            for key, value in (optimizer.state.get(parameter) or {}).items():
                self._save_state_value(slot, str(key), value)
        self._has_named_state = True

    def _save_state_value(self, slot: Slot, key: str, value: Any) -> None:
        if isinstance(value, (int, float)) and not isinstance(value, bool):
            value = torch.tensor(value, dtype=torch.float64 if isinstance(value, float) else torch.int64)
        if not isinstance(value, torch.Tensor):
            return
        tensor_id = slot.state.get(key)
        if tensor_id is None:
            tensor_id = self._hook.declare(f"optimizer_state/{slot.name}/{key}", ["optimizer_state"])
            slot.state[key] = tensor_id
        self._bridge.save(tensor_id, value)


class BufferTable:
    """The buffers of one model, each once, under the first of its names."""

    def __init__(self, hook: Any, bridge: Bridge) -> None:
        self._hook = hook
        self._bridge = bridge
        self._places: list[tuple[weakref.ref[torch.nn.Module], str, int]] = []

    def declare(self, model: Model) -> None:
        """Takes the buffers that the model has now."""
        self._places = [
            (weakref.ref(module), key, self._hook.declare(name, ["buffers"])) for name, module, key in model.buffers()
        ]

    def save(self) -> None:
        for reference, key, tensor_id in self._places:
            module = reference()
            buffer = module._buffers.get(key) if module is not None else None
            if buffer is not None:
                self._bridge.save(tensor_id, buffer)


def parameters_in(optimizer: Optimizer) -> list[torch.Tensor]:
    """The optimizer's parameters, in its order."""
    groups = optimizer.param_groups
    if len(groups) == 1:
        return list(groups[0]["params"])
    return [parameter for group in groups for parameter in group["params"]]
