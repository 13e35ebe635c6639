"""Puts functions of ours in the place of a framework's, once."""

from __future__ import annotations

import functools
import sys
from collections.abc import Iterable
from typing import Any, Callable

from ._passing import passed_over

_ORIGINAL = "_trainwarden_original"  # of a function that stands in for one of the framework's

StandIn = Callable[[Any], Any]


def replace(owner: Any, name: str, stand_in: StandIn, bound_in: Iterable[str] = ()) -> None:
    """`stand_in(original)` takes the place of owner.NAME. Does nothing where it has that, or has it from a base.

    Arguments:
        owner: a module or a class.
        bound_in: modules that have bound the original by its name, where they are imported.
    """
    original = vars(owner).get(name)
    if original is None or hasattr(original, _ORIGINAL):
        return
    function = functools.wraps(original)(passed_over(stand_in(original)))
    setattr(function, _ORIGINAL, original)
    for place in (owner, *(sys.modules.get(each) for each in bound_in)):
        if getattr(place, name, None) is original:
            setattr(place, name, function)


def replace_known(owner: Any, name: str, stand_in: StandIn) -> None:
    """The same, of one without which nothing is captured. AttributeError: it is not there."""
    if name not in vars(owner):
        raise AttributeError(f"{getattr(owner, '__name__', owner)} has no {name} of its own")
    replace(owner, name, stand_in)
