"""ModuleLook: what the modules of a model get and give in one train step; the dearest part of a full examination."""

from __future__ import annotations

from typing import Any, Optional

import torch

from ..loss_options import LossOptions
from ..module_tree import children_of
from .adversaries import Adversaries
from .batches import Compared
from .empty_rows import EmptyRows
from .exchanged import Exchanges
from .fed import Fed
from .layers import Layers
from .masks import Masks
from .norms import Norms
from .numbers import Numbers, is_measurable
from .states import HandedStates

# So many inputs of embeddings are kept, of up to so many elements.
_MAX_TOKENS, _MAX_ELEMENTS = 4, 1 << 20


class ModuleLook:
    """Of one train step. `paths`: names of modules by id()."""

    def __init__(self, paths: dict[int, str]) -> None:
        self._paths = paths
        self._layers = Layers()
        self._masks = Masks()
        self._exchanges = Exchanges()
        self._norms = Norms()
        self._empty_rows = EmptyRows()
        self._adversaries = Adversaries()
        self._fed = Fed()
        self._states = HandedStates()
        self._tokens: list[torch.Tensor] = []  # that embeddings got last

    @property
    def names(self) -> list[str]:
        """Of the modules, in the order of their numbers."""
        return self._layers.names

    @property
    def exchanged(self) -> list[dict[str, Any]]:
        """Views that mix up axes between two modules."""
        return self._exchanges.found

    def forward_begins(self, model: Optional[torch.nn.Module], args: Any, kwargs: Any) -> None:
        """An outermost model is called; one that is trained, if any."""
        self._exchanges.gives("the input", (args, kwargs))
        self._adversaries.forward_begins(model, (args, kwargs))

    def forward_ends(self, output: Any) -> None:
        self._adversaries.forward_ends(output)

    def module_begins(self, module: torch.nn.Module, args: Any, kwargs: dict[str, Any]) -> None:
        path = self._paths.get(id(module))
        if path is None:
            return
        self._exchanges.takes(path, args)
        self._masks.see(module, args, kwargs)
        self._norms.see(path, module, args)
        self._empty_rows.see(module, args)
        self._states.begins(module, args, kwargs)
        if isinstance(module, torch.nn.Embedding) and args and is_measurable(args[0]) and args[0].numel() <= _MAX_ELEMENTS:
            self._tokens = [*self._tokens[1 - _MAX_TOKENS :], args[0].detach()]

    def module_ends(self, module: torch.nn.Module, output: Any) -> None:
        path = self._paths.get(id(module))
        if path is not None and not children_of(module):
            self._layers.see(path, module, output)
            self._states.ends(module, output)
            self._exchanges.gives(path, output)

    def backward_begins(self) -> None:
        self._states.backward_begins()

    def compared(self, function: str, inputs: Any, options: LossOptions) -> None:
        """A loss function has compared two tensors."""
        self._adversaries.compared(inputs)
        self._fed.see(Compared(function, inputs, options), self._tokens)

    def let_go(self) -> None:
        """What is held of the program's step is given back."""
        self._tokens = []
        self._adversaries.let_go()
        self._states.backward_begins()

    def add(self, numbers: Numbers) -> None:
        self.let_go()
        self._layers.add(numbers)
        self._norms.add(numbers, self.names)
        self._masks.add(numbers)
        self._empty_rows.add(numbers)
        self._adversaries.add(numbers)
        self._fed.add(numbers)
        self._states.add(numbers)
