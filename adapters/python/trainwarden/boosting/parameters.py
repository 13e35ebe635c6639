"""The hyper-parameters of a training, as a run holds them.

They come in containers and values of any class. Only what Python and NumPy have is looked at, as those keep it: nothing
of the program's code is called for a label.
"""

from __future__ import annotations

import types
from collections.abc import Iterable, Mapping
from itertools import islice
from typing import Any, Optional, Union

import numpy as np

from .._arguments import plain_text

_MAX_LABELS = 100
_MAX_CHARACTERS = 200
_MAX_GIVEN = 1000
_MAX_ITEMS = 100

_NAMED = (types.FunctionType, types.BuiltinFunctionType, type)
_NUMBERS = {bool: bool, int: int.__int__, float: float.__float__, str: str.__str__}


def as_given(parameters: Any) -> dict[str, Any]:
    """A dict's, or those of a list of pairs: numbers, texts, lists of these; a function's name, the class of all else.
    What is None is left out. Nothing of another container of the program's own."""
    named = islice(_pairs_of(parameters), _MAX_GIVEN)
    return {name: _known(value) for name, value in named if type(name) is str and value is not None}


def as_labels(parameters: Mapping[str, Any]) -> dict[str, str]:
    """For the run: short texts."""
    texts = {name: str(value) for name, value in parameters.items()}
    short = [(name, text) for name, text in texts.items() if len(text) <= _MAX_CHARACTERS]
    return dict(short[:_MAX_LABELS])


def as_tensors(parameters: Mapping[str, Any]) -> dict[str, Union[float, list[str]]]:
    """For rules and reports: numbers where they are, texts else."""
    return {f"hyperparameters/{name}": _number_or_text(value) for name, value in parameters.items()}


def _pairs_of(parameters: Any) -> Iterable[tuple[Any, Any]]:
    if issubclass(type(parameters), dict):
        return list(dict.items(parameters))
    pairs = map(items_of, items_of(parameters) or ())
    return [(pair[0], pair[1]) for pair in pairs if pair is not None and len(pair) == 2]


def items_of(values: Any) -> Optional[list[Any]]:
    """A list's or a tuple's, also those of a class that is made of one; None for anything else."""
    for kind in (list, tuple):
        if issubclass(type(values), kind):
            return list(kind.__iter__(values))
    return None


def _known(value: Any) -> Any:
    single = _number_or_none(value)
    if single is not None:
        return single
    items = items_of(value)
    if items is not None:
        return [_known(each) for each in items[:_MAX_ITEMS] if items_of(each) is None]
    if type(value) in _NAMED:
        return value.__name__
    return type(value).__name__


def _number_or_none(value: Any) -> Optional[Union[bool, int, float, str]]:
    """As Python's own types have it, also of a class that is made of one of them."""
    if issubclass(type(value), np.generic):
        value = np.generic.item(value)
    if plain_text(value, _MAX_CHARACTERS) is None:
        return None
    plain: Any = next(convert(value) for kind, convert in _NUMBERS.items() if issubclass(type(value), kind))
    return plain  # type: ignore[no-any-return]


def _number_or_text(value: Any) -> Union[float, list[str]]:
    try:
        return float(value)
    except (TypeError, ValueError):
        return [str(each) for each in value] if isinstance(value, (list, tuple)) else [str(value)]
