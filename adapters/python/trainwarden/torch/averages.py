"""Averages: copies of a trained model that are evaluated in its place, as averages of its weights are."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import torch

from .listeners import are_gradients_recorded
from .models import KnownModel
from .module_tree import is_training, parameters_of_module

# Who is called again after fewer train steps than this is part of them: a teacher, a target, an encoder of keys.
_APART = 10


def begins_evaluation(model: KnownModel, models: Iterable[KnownModel], step: int) -> bool:
    """A model that nobody trains is called after `step` train steps. Is it evaluated in place of the one that is?"""
    apart, model.called_after = step - model.called_after, step
    if apart > 0:
        model.is_teacher = model.is_teacher or apart < _APART
        model.is_average = not model.is_teacher and _is_copy(model, models)
    return model.is_average and not are_gradients_recorded()


def _is_copy(model: KnownModel, models: Iterable[KnownModel]) -> bool:
    """Of the only model that is trained, and in evaluation mode."""
    trained = [each.module for each in models if each.trained_by and each.module is not None]
    module = model.module
    if len(trained) != 1 or module is None or is_training(module):
        return False
    return _shapes(trained[0]) == _shapes(module)


def _shapes(module: Any) -> list[torch.Size]:
    return [parameter.shape for parameter in parameters_of_module(module)]
