"""Parameters: the weights, gradients, buffers and optimizer state of models, by name."""

from __future__ import annotations

import operator
import weakref
from typing import Any, Callable, Iterable, NamedTuple, Optional

import torch
from torch.optim import Optimizer

from .bridge import Bridge
from .contents import is_tensor
from .naming import keys_of
from .roots import Model, NamedParameter


class _Place(NamedTuple):
    """Where the numbers of a named parameter lie: in these elements of a tensor, or None where they are all of it."""

    name: str
    elements: Optional[slice]


class _Known(NamedTuple):
    parameter: weakref.ref[torch.Tensor]
    places: list[_Place]  # several where it was made of several; none where this rank has no element of it


class NameBook:
    """Which parameter has which name, over all models. A parameter that is in no module has its key in a dict of the
    program, else it is `param_0`, `param_1`, ...

    `look_again` is called before a parameter is taken for one of those: the program may have new models.
    """

    def __init__(self) -> None:
        self._known: dict[int, _Known] = {}
        self._strays = 0
        self.look_again: Callable[[], None] = lambda: None

    def add(self, named: Iterable[NamedParameter]) -> None:
        new: dict[int, _Known] = {}
        for name, parameter, elements, _ in named:
            if id(parameter) in new or not self._knows(parameter):
                known = new.setdefault(id(parameter), _Known(weakref.ref(parameter), []))
                if elements is None or elements.start < elements.stop:
                    known.places.append(_Place(name, elements))
        self._known.update(new)

    def _knows(self, parameter: torch.Tensor) -> bool:
        known = self._known.get(id(parameter))
        return known is not None and known.parameter() is parameter

    def places_of(self, parameters: list[torch.Tensor]) -> list[list[_Place]]:
        """Of each parameter."""
        if not all(map(self._knows, parameters)):
            self.look_again()
        strays = [parameter for parameter in parameters if not self._knows(parameter)]
        if strays:
            self._name_by_keys(strays)
        for parameter in strays:
            if not self._knows(parameter):
                self._name_stray(parameter)
        return [self._known[id(parameter)].places for parameter in parameters]

    def _name_by_keys(self, strays: list[torch.Tensor]) -> None:
        """Those whose key no other parameter has as its name."""
        taken = {place.name for known in self._known.values() if known.parameter() is not None for place in known.places}
        keys = keys_of(strays)
        for parameter in strays:
            key = keys.get(id(parameter))
            if key is not None and key not in taken:
                taken.add(key)
                self.add([NamedParameter(key, parameter)])

    def _name_stray(self, parameter: torch.Tensor) -> None:
        self.add([NamedParameter(f"param_{self._strays}", parameter)])
        self._strays += 1


class Slot:
    """One named parameter: where it lies in the list of an optimizer's, and its numbers in the hook."""

    __slots__ = ("index", "elements", "name", "weight", "gradient", "state")

    def __init__(self, hook: Any, index: int, place: _Place) -> None:
        self.index = index
        self.name, self.elements = place
        self.weight: int = hook.declare(self.name)
        self.gradient: int = hook.declare("gradient/" + self.name)
        self.state: dict[str, int] = {}  # by the key in the optimizer's state

    def part_of(self, tensor: torch.Tensor) -> torch.Tensor:
        """What belongs to this parameter of a tensor that is laid out like the optimizer's."""
        return tensor if self.elements is None else tensor.detach()[self.elements]


class ParameterTable:
    """The parameters of one optimizer, or of one model. Built anew only when the list of parameters has changed."""

    def __init__(self, hook: Any, bridge: Bridge, names: NameBook) -> None:
        self._hook = hook
        self._bridge = bridge
        self._names = names
        self._parameters: list[weakref.ref[torch.Tensor]] = []
        self._slots: list[Slot] = []
        self._has_named_state = False

    def slots_for(self, parameters: list[torch.Tensor]) -> list[Slot]:
        """A slot for each parameter, in the same order; several for one that was made of several."""
        known = [reference() for reference in self._parameters]
        if len(known) != len(parameters) or not all(map(operator.is_, known, parameters)):
            places = enumerate(self._names.places_of(parameters))
            self._slots = [Slot(self._hook, index, place) for index, each in places for place in each]
            self._parameters = [weakref.ref(parameter) for parameter in parameters]
            self._has_named_state = False
        return self._slots

    def save_gradients(self, parameters: list[torch.Tensor]) -> None:
        """The current ones. Those of frozen parameters, and missing ones, are skipped."""
        slots, save = self.slots_for(parameters), self._bridge.save
        with self._bridge.group:
            for slot in slots:
                parameter = parameters[slot.index]
                gradient = parameter.grad
                if gradient is not None and parameter.requires_grad:
                    save(slot.gradient, slot.part_of(gradient))

    def save_weights(self, parameters: list[torch.Tensor]) -> None:
        """Those that are trained: a frozen one never changes."""
        slots, save, wants = self.slots_for(parameters), self._bridge.save, self._hook.wants
        with self._bridge.group:
            for slot in slots:
                parameter = parameters[slot.index]
                if wants(slot.weight) and parameter.requires_grad:  # a step may be there for its losses alone
                    save(slot.weight, slot.part_of(parameter))

    def has_unnamed_state(self, optimizer: Optimizer) -> bool:
        """Does the optimizer remember something that the hook does not know by name yet? A pattern may mean it."""
        return not self._has_named_state and len(optimizer.state) > 0

    def save_state(self, parameters: list[torch.Tensor], optimizer: Optimizer) -> None:
        """What the optimizer remembers of each parameter: exp_avg, momentum_buffer, step, ..."""
        for slot in self.slots_for(parameters):
            parameter = parameters[slot.index]
            for key, value in (optimizer.state.get(parameter) or {}).items():
                is_laid_out_alike = is_tensor(value) and value.shape == parameter.shape
                self._save_state_value(slot, str(key), slot.part_of(value) if is_laid_out_alike else value)
        self._has_named_state = True

    def _save_state_value(self, slot: Slot, key: str, value: Any) -> None:
        if isinstance(value, (int, float)) and not isinstance(value, bool):
            value = torch.tensor(value, dtype=torch.float64 if isinstance(value, float) else torch.int64)
        if not is_tensor(value):
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
