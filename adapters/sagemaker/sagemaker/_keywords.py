"""Keywords: what a class or method takes. The code reads its arguments by these tables, and a test walks them all: each
keyword has an effect that the test observes, or is an error that says what to use."""

from __future__ import annotations

import difflib
import inspect
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from .exceptions import NotHere


@dataclass(frozen=True)
class Keyword:
    """One argument.

    Attributes:
        does: what it does here; of one that is refused, what to use.
        also: its names in version 1 of the SDK.
        refused: every value but None, False and the default is an error.
        only: the values that are taken, where the others are what only the cloud has; `does` says what to use for them.
    """

    name: str
    does: str
    default: Any = None
    also: tuple[str, ...] = ()
    refused: bool = False
    only: tuple[Any, ...] = ()

    def why_not(self, value: Any) -> str | None:
        """What is wrong with the value; None when nothing is."""
        if value is None or value is self.default:
            return None
        if self.refused and value is not False and value != self.default:
            return f"{self.name}: {self.does}"
        if self.only and value not in self.only:
            expected = " or ".join(repr(choice) for choice in self.only)
            return f"{self.name}: expected {expected}, found {value!r}; {self.does}"
        return None


class Keywords(Mapping[str, Keyword]):
    """The arguments of `owner`, in the order of their positions."""

    def __init__(self, owner: str, keywords: Sequence[Keyword]):
        self.owner = owner
        self._all = {keyword.name: keyword for keyword in keywords}
        self._names = {name: keyword.name for keyword in keywords for name in (keyword.name, *keyword.also)}

    def __getitem__(self, name: str) -> Keyword:
        return self._all[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._all)

    def __len__(self) -> int:
        return len(self._all)

    def take(self, positional: Sequence[Any], given: Mapping[str, Any]) -> dict[str, Any]:
        """A value for each keyword.

        Raises:
            TypeError: an unknown keyword (with the nearest one), or one that is given twice.
            NotHere: with every value that is refused.
        """
        values = {name: keyword.default for name, keyword in self._all.items()}
        if len(positional) > len(values):
            raise TypeError(f"{self.owner}: expected {len(values)} arguments at most, found {len(positional)}")
        named = dict(zip(values, positional))
        for name, value in given.items():
            known = self._known(name)
            if known in named:
                raise TypeError(f"{self.owner}: {known} is given twice")
            named[known] = value
        self._refuse(named)
        values.update(named)
        return values

    def signature(self, first: str = "") -> inspect.Signature:
        """For help() and the tooltips of notebooks; with `first`, as of a method."""
        kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
        own = [inspect.Parameter(first, kind)] if first else []
        return inspect.Signature([*own, *(inspect.Parameter(k.name, kind, default=k.default) for k in self.values())])

    def text(self) -> str:
        """What each does, for help()."""
        return "\n".join(f"    {keyword.name}: {keyword.does}" for keyword in self.values() if not keyword.refused)

    def _known(self, name: str) -> str:
        if name in self._names:
            return self._names[name]
        near = difflib.get_close_matches(name, self._names, n=1)
        hint = f'; did you mean "{near[0]}"?' if near else f"; it takes {', '.join(self._all)}"
        raise TypeError(f'{self.owner}: there is no argument "{name}"{hint}')

    def _refuse(self, named: Mapping[str, Any]) -> None:
        reasons = [reason for name, value in named.items() if (reason := self._all[name].why_not(value)) is not None]
        if reasons:
            raise NotHere(f"{self.owner}: " + "\n  ".join(reasons))


_Class = TypeVar("_Class", bound=type)


def takes(keywords: Keywords) -> Callable[[_Class], _Class]:
    """Shows in help() what a class takes."""

    def shown(owner: _Class) -> _Class:
        setattr(owner, "__signature__", keywords.signature())
        owner.__doc__ = f"{owner.__doc__}\n\nArguments:\n{keywords.text()}"
        return owner

    return shown
