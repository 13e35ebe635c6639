"""Identity: what is known of objects of the program, by which object it is. None is kept alive, compared or hashed: classes
of a program may define __eq__, and then have no hash."""

from __future__ import annotations

import weakref
from collections.abc import Iterable, Iterator
from typing import Any, Generic, Optional, TypeVar

_Value = TypeVar("_Value")


class ByIdentity(Generic[_Value]):
    """A dict whose keys are objects. Of one that cannot be referenced weakly nothing is kept."""

    def __init__(self) -> None:
        self._items: dict[int, tuple[weakref.ref[Any], _Value]] = {}

    def __setitem__(self, key: Any, value: _Value) -> None:
        items, number = self._items, id(key)

        def forget(reference: weakref.ref[Any]) -> None:
            known = items.get(number)
            if known is not None and known[0] is reference:  # else another object has its number by now
                del items[number]

        try:
            items[number] = weakref.ref(key, forget), value
        except TypeError:
            pass

    def get(self, key: Any, default: Any = None) -> Any:
        known = self._items.get(id(key))
        return known[1] if known is not None and known[0]() is key else default

    def __contains__(self, key: Any) -> bool:
        known = self._items.get(id(key))
        return known is not None and known[0]() is key

    def pop(self, key: Any) -> Optional[_Value]:
        """None where it is not there."""
        value: Optional[_Value] = self.get(key)
        self._items.pop(id(key), None)
        return value

    def __iter__(self) -> Iterator[Any]:
        """The keys that live."""
        living = [reference() for reference, _ in list(self._items.values())]
        return iter([each for each in living if each is not None])

    def items(self) -> list[tuple[Any, _Value]]:
        return [(key, self._items[id(key)][1]) for key in self if id(key) in self._items]

    def values(self) -> list[_Value]:
        return [value for _, value in self.items()]

    def __len__(self) -> int:
        return len(self._items)


class IdentitySet:
    """A set of objects."""

    def __init__(self, members: Iterable[Any] = ()) -> None:
        self._members: ByIdentity[bool] = ByIdentity()
        self.update(members)

    def add(self, member: Any) -> None:
        self._members[member] = True

    def update(self, members: Iterable[Any]) -> None:
        for member in members:
            self.add(member)

    def discard(self, member: Any) -> None:
        self._members.pop(member)

    def __contains__(self, member: Any) -> bool:
        return member in self._members

    def __iter__(self) -> Iterator[Any]:
        return iter(self._members)

    def __bool__(self) -> bool:
        return len(self._members) > 0

    def clear(self) -> None:
        self._members = ByIdentity()
