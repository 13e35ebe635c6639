"""Subjects: the models and optimizers that are examined, and the weights that they share."""

from __future__ import annotations

import weakref
from typing import Callable, Optional

import torch
from torch.optim import Optimizer

from ..module_tree import named_modules
from ..parameters import parameters_in
from ..roots import Model
from .optimizers import Optimizers
from .weights import Weights


class Subjects:
    """Of the current training, where the process trains several models one after the other."""

    def __init__(self) -> None:
        self.paths: dict[int, str] = {}  # names of modules by id()
        self.list_optimizers: Callable[[], list[Optimizer]] = list  # that exist
        self.stepping = Optimizers()
        self.weights: Optional[Weights] = None  # once they are known
        self._models: list[Model] = []
        self._stepped: list[weakref.ref[Optimizer]] = []
        self._is_first = True  # training of the process

    def begin_again(self) -> None:
        """Another model is trained by another optimizer."""
        self._is_first = False
        self._stepped.clear()
        self.weights = None

    def forget_models(self) -> None:
        self._models.clear()
        self.paths.clear()
        self.weights = None

    def add_model(self, model: Model) -> None:
        self._models.append(model)
        root = model.module
        if root is not None:
            self.paths.update({id(module): model.prefix + name for name, module in named_modules(root)})

    def steps(self, optimizer: Optimizer) -> None:
        if not any(each() is optimizer for each in self._stepped):
            self._stepped.append(weakref.ref(optimizer))
            self.weights = None

    @property
    def optimizers(self) -> list[Optimizer]:
        """Those that have stepped, or exist although none has."""
        stepped = [each() for each in self._stepped]
        found = [each for each in stepped if each is not None]
        return found + [
            each
            for each in self.list_optimizers()
            if not any(each is known for known in found) and not self.stepping.is_past(each)
        ]

    @property
    def models(self) -> list[Model]:
        """Those of the current training; all when none is known to be trained."""
        if self._is_first:
            return self._models
        trained = {id(parameter) for optimizer in self.optimizers for parameter in parameters_in(optimizer)}
        found = [model for model in self._models if any(id(each.parameter) in trained for each in model.parameters())]
        return found or self._models

    def known_weights(self) -> Weights:
        if self.weights is None:
            listed: dict[int, torch.Tensor] = {}
            for model in self.models:
                listed.update({id(each.parameter): each.parameter for each in model.parameters()})
            for optimizer in self.optimizers:
                listed.update({id(each): each for each in parameters_in(optimizer)})
            self.weights = Weights(list(listed.values()))
        return self.weights

    def parameter_numbers(self) -> dict[int, int]:
        return {id(each): number for number, each in enumerate(self.known_weights().parameters)}
