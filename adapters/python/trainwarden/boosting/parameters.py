"""The hyper-parameters of a training, as a run holds them.

They come in containers and values of any class. Only what Python and NumPy have is looked at: nothing of the program's
code is called for a label.
"""

from __future__ import annotations

import collections
import types
from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from typing import Any, Optional, Union

import numpy as np

from .._arguments import plain_text

_MAX_LABELS = 100
_MAX_CHARACTERS = 200
_MAX_GIVEN = 1000
_MAX_ITEMS = 100

_DICTS = (dict, collections.OrderedDict, collections.defaultdict)
_LISTS = (list, tuple)
_NAMED = (types.FunctionType, types.BuiltinFunctionType, type)
_NUMBERS = {bool: bool, int: int.__int__, float: float.__float__, str: str.__str__}


def as_given(parameters: Any) -> dict[str, Any]:
    """Of a dict, or of a list of pairs: numbers, texts, lists of these; of a function its name, of all else its class.
    What is None is left out. Nothing of a container of the program's own."""
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
    if type(parameters) in _DICTS:
        return list(dict.items(parameters))
    if type(parameters) in _LISTS:
        return [(pair[0], pair[1]) for pair in parameters if type(pair) in _LISTS and len(pair) == 2]
    return []


def _known(value: Any) -> Any:
    single = _number_or_none(value)
    if single is not None:
        return single
    if type(value) in _LISTS:
        return [_known(each) for each in _within(value)]
    if type(value) in _NAMED:
        return value.__name__
    return type(value).__name__


def _within(values: Any) -> Iterator[Any]:
    """Lists in lists are none of a hyper-parameter's."""
    return (type(each).__name__ if type(each) in _LISTS else each for each in values[:_MAX_ITEMS])


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
