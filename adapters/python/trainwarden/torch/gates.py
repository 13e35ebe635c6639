"""Gates: what of ours stands around functions of torch, called by a function in C that costs a comparison while nobody
looks, and that leaves no frame in the stack of what it calls.

torch.compile looks at functions of Python only. When it begins, in a process that has need of it, the gates are removed:
from then on functions of Python stand there that do the same.
"""

from __future__ import annotations

import copy
import functools
import types
from collections.abc import Iterable
from typing import Any, Callable, NamedTuple, Optional

from .._core import Gate
from .compiling import CAN_COMPILE, is_compiling


class Around(NamedTuple):
    """What is called around a function: begins(*arguments) before it. When that gives something other than None, a note,
    ends(note, result) or fails(note) follows. A note that is a tuple (note, args, kwargs) replaces the arguments."""

    begins: Callable[..., Any]
    ends: Optional[Callable[[Any, Any], None]] = None
    fails: Optional[Callable[[Any], None]] = None


class _Ours:
    """What a function of Python calls around torch's, once hidden from torch.compile, which would compile it."""

    def __init__(self, around: Around) -> None:
        self.begins, self.ends, self.fails = around
        _all_of_ours.append(self)
        if _hide is not None:
            self.hide(_hide)

    def hide(self, hide: Callable[[Any], Any]) -> None:
        self.begins = hide(self.begins)
        self.ends = hide(self.ends) if self.ends is not None else None
        self.fails = hide(self.fails) if self.fails is not None else None


_all_of_ours: list[_Ours] = []
_hide: Optional[Callable[[Any], Any]] = None


def hide_from_compiler(hide: Callable[[Any], Any]) -> None:
    """hide(function) gives what torch.compile leaves alone, with all that it calls, now and for what is put later."""
    global _hide
    _hide = hide
    for each in _all_of_ours:
        each.hide(hide)


def _in_python(through: Callable[..., Any], around: Around) -> Callable[..., Any]:
    """What a gate does, as a function that torch.compile can look at. It asks about that first: torch.compile guards all
    that is read before, and compiles again when it has changed."""
    ours = _Ours(around)

    @functools.wraps(through)
    def call(*args: Any, **kwargs: Any) -> Any:
        if CAN_COMPILE and is_compiling():
            return through(*args, **kwargs)
        note = ours.begins(*args, **kwargs)
        if note is None:
            return through(*args, **kwargs)
        if type(note) is tuple and len(note) == 3:
            note, args, kwargs = note
        try:
            result = through(*args, **kwargs)
        except BaseException:
            if ours.fails is not None:
                ours.fails(note)
            raise
        if ours.ends is not None:
            ours.ends(note, result)
        return result

    return call


def _calling(gate: Gate, torch_function: Callable[..., Any]) -> Callable[..., Any]:
    """A function of Python that calls the gate, for a class of the program's, which may be pickled with all that is in it."""

    @functools.wraps(torch_function)
    def call(*args: Any, **kwargs: Any) -> Any:
        return gate(*args, **kwargs)

    return call


def stand_in(through: Callable[..., Any], around: Around) -> Any:
    """What stands in the place of a function for a while: a gate, or a function of Python where gates are removed."""
    if _are_removed:
        return _in_python(through, around)
    gate = Gate(through, *around)
    functools.update_wrapper(gate, through)
    gate.set_reduced((copy.copy, (through,)))
    return gate


class _Place(NamedTuple):
    """Where a gate stands: an attribute of a class or a module, or an item of a dict."""

    owner: Any
    name: Any

    def put(self, value: Any) -> None:
        if isinstance(self.owner, dict):
            self.owner[self.name] = value
        else:
            setattr(self.owner, self.name, value)

    def has(self, value: Any) -> bool:
        """Nobody else has put something around it since."""
        items = self.owner if isinstance(self.owner, dict) else vars(self.owner)
        return items.get(self.name) is value

    def reduced(self, torch_function: Any) -> Any:
        """What a pickle of the gate holds, which says nothing of us."""
        if isinstance(self.owner, type):
            return getattr, (self.owner, self.name)
        is_named = isinstance(self.owner, types.ModuleType) and isinstance(torch_function, types.FunctionType)
        return torch_function.__qualname__ if is_named else (copy.copy, (torch_function,))


class Gates:
    """Those that are open and shut together. Once they are removed nothing of this has an effect."""

    def __init__(self) -> None:
        self._gates: list[Gate] = []
        self._places: list[tuple[_Place, Any, Gate, Callable[..., Any]]] = []

    def put(
        self,
        owner: Any,
        name: Any,
        torch_function: Optional[Callable[..., Any]],
        around: Around,
        behind: Optional[Gate] = None,
        is_of_program: bool = False,
    ) -> Gate:
        """Puts a gate, open, in the place of torch's function; of a hook None. `is_of_program`: the owner is a class of the
        program's, which gets a function of Python that calls the gate."""
        gate = Gate(torch_function, *around, behind)
        place = _Place(owner, name)
        if torch_function is None:
            in_python = around.begins
        else:
            functools.update_wrapper(gate, torch_function)
            gate.set_reduced((copy.copy, (torch_function,)) if is_of_program else place.reduced(torch_function))
            in_python = _in_python(torch_function, around)
        put = _calling(gate, torch_function) if is_of_program and torch_function is not None else gate
        place.put(put)
        self._gates.append(gate)
        self._places.append((place, put, gate, in_python))
        _in_python_functions.append(in_python)
        if are_removed():
            self.remove()
        return gate

    def remove(self) -> None:
        """Functions of Python stand where gates stood. Who has kept a gate gets to ours through it."""
        for place, put, gate, in_python in self._places:
            gate.look_at(None)
            if place.has(put):
                place.put(in_python)
        self._gates.clear()
        self._places.clear()

    def look_at(self, ids: Optional[Iterable[int]]) -> None:
        """Calls are looked at whose first argument, the `self` of a method, has one of these ids; None: all are."""
        for gate in self._gates:
            gate.look_at(ids)

    def look_at_kind(self, kind: Optional[type]) -> None:
        """Also those whose first argument is of this class."""
        for gate in self._gates:
            gate.look_at_kind(kind)

    def note_in_training(self, ids: Iterable[int], may_pass: Callable[[], bool]) -> None:
        """Calls of these modules in training mode are not looked at while may_pass() says so; that there was one is noted.
        Of the others the first ones are looked at all the same."""
        for gate in self._gates:
            gate.note_in_training(ids, may_pass)

    def take_noted(self) -> bool:
        """Was there one since this was asked, or a step was counted?"""
        noted = [gate.take_noted() for gate in self._gates]
        return any(noted)

    def take_refused(self) -> int:
        """How many calls without gradients were not looked at since this was asked."""
        return sum(gate.take_refused() for gate in self._gates)

    def count(
        self, keys: tuple[int, ...], thread: int, end: Optional[Callable[[], bool]], late: Optional[Callable[[Any], None]]
    ) -> None:
        """In this thread a call with an object of these ids alone is not looked at. When all have returned, in this order,
        end() is called, and what the gates of `calls` have noted is forgotten; when that gives False, and when another
        one is called than is due, late(object) is called."""
        for gate in self._gates:
            gate.count(keys, thread, end, late, calls._gates[0])

    def take_passed(self) -> int:
        """How many of these have been called since end() was."""
        return sum(gate.take_passed() for gate in self._gates)


calls = Gates()  # of modules
backward = Gates()
signals = Gates()
begins = Gates()  # of steps of optimizers, where torch has hooks for them
steps = Gates()  # of optimizers, or their ends
exchanged = Gates()  # behind functions whose code was exchanged (exchange.py); and what is always looked at
_in_python_functions: list[Callable[..., Any]] = []
_are_removed = False


def are_removed() -> bool:
    return _are_removed


def remove() -> None:
    global _are_removed
    _are_removed = True
    for gates in (calls, backward, signals, begins, steps, exchanged):
        gates.remove()


def in_python_functions() -> list[Callable[..., Any]]:
    """What stands in torch, or will, where gates are removed."""
    return _in_python_functions
