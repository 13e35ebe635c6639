"""Contents: the tensors in what a module gets and gives, and the attributes of objects, read without running code of the
program. A class of the program may load lazily, draw random numbers or count what it is asked: none of its methods and
properties is called, and what it hides from the plain containers of Python stays hidden.
"""

from __future__ import annotations

import types
from collections import UserDict
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import torch

if TYPE_CHECKING:
    from typing_extensions import TypeGuard

# Deeper nested inputs and outputs are not looked into, nor more than so many items in all.
_MAX_DEPTH = 8
_MAX_ITEMS = 512


def is_tensor(value: object) -> TypeGuard[torch.Tensor]:
    """By its class alone: isinstance() also asks the object, which may be a proxy. No tensor with operators of its own."""
    kind = type(value)
    return kind is torch.Tensor or (issubclass(kind, torch.Tensor) and not has_own_operators(kind))


def has_own_operators(kind: type) -> bool:
    """Would an operator of ours run code of the program or of a library (__torch_dispatch__)? What torch itself has made
    so, as DTensor, computes what it stands for."""
    maker = next((each for each in kind.__mro__ if "__torch_dispatch__" in vars(each)), torch.Tensor)
    return maker.__module__.partition(".")[0] != "torch"


def is_plain_tensor(value: Any) -> bool:
    """Of torch's own classes: operators and properties of others may be functions of the program."""
    return type(value) in (torch.Tensor, torch.nn.Parameter)


def attributes_of(owner: Any) -> dict[str, Any]:
    """What an object keeps in its __dict__; empty where it has none."""
    try:
        found = object.__getattribute__(owner, "__dict__")
    except AttributeError:
        return {}
    return found if type(found) is dict else {}


def tensors_in(value: Any, max_depth: int = _MAX_DEPTH, max_items: int = _MAX_ITEMS) -> list[torch.Tensor]:
    """The tensors of nested tuples, lists, dicts and dataclasses, in order. What is shared counts once."""
    walk = _Walk(max_items)
    walk.collect(value, max_depth)
    return walk.found


class _Walk:
    """Through one value."""

    def __init__(self, max_items: int) -> None:
        self.found: list[torch.Tensor] = []
        self._left = max_items
        self._seen: set[int] = set()  # ids of containers

    def collect(self, value: Any, depth: int) -> None:
        self._left -= 1
        if is_tensor(value):
            self.found.append(value)
        elif depth > 0 and id(value) not in self._seen:
            for item in _items_of(value, self._seen):
                if self._left <= 0:
                    return
                self.collect(item, depth - 1)


def _items_of(value: Any, seen: set[int]) -> Iterator[Any]:
    """Those of a container, which is noted in `seen`; of anything else none. The methods are those of Python's own classes,
    whatever a class made of them says."""
    kind = type(value)
    if issubclass(kind, tuple):
        items = tuple.__iter__(value)
    elif issubclass(kind, list):
        items = list.__iter__(value)
    elif issubclass(kind, dict):
        items = iter(list(dict.values(value)))
    elif issubclass(kind, UserDict):  # as what the tokenizers of transformers give
        items = iter([attributes_of(value).get("data")])
    else:
        fields = next((vars(each)["__dataclass_fields__"] for each in kind.__mro__ if "__dataclass_fields__" in vars(each)), None)
        if type(fields) is not dict:
            return iter(())
        items = iter([_field(value, name) for name in fields])
    seen.add(id(value))
    return items


def _field(value: Any, name: str) -> Any:
    """In its __dict__, or in a slot."""
    attributes = attributes_of(value)
    if name in attributes:
        return attributes[name]
    slot = next((vars(each)[name] for each in type(value).__mro__ if name in vars(each)), None)
    if type(slot) is not types.MemberDescriptorType:
        return None
    try:
        return slot.__get__(value)
    except AttributeError:
        return None
