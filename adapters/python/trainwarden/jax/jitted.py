"""Jitted: what stands in for the result of jax.jit: the program's own jitted function, and what is known of it."""

from __future__ import annotations

import functools
import types
import weakref
from typing import Any, Callable, Optional

from .twins import Program

# (the jitted function, its arguments) -> its result.
Call = Callable[["Jitted", tuple[Any, ...], dict[str, Any]], Any]
_call: Optional[Call] = None


def watch_calls(call: Optional[Call]) -> None:
    """From now on `call` has the word on each call; None: all is as JAX has it."""
    global _call
    _call = call


_programs: weakref.WeakKeyDictionary[Any, dict[Any, Program]] = weakref.WeakKeyDictionary()


def _program_of(function: Any, options: dict[str, Any]) -> Program:
    try:
        of_function = _programs.setdefault(function, {})
        key = tuple(sorted(options.items()))
        program = of_function.get(key)
    except TypeError:  # cannot be a key
        return Program(function, options)
    if program is None:
        program = of_function[key] = Program(function, options)
    return program


class Jitted:
    """For the program it is what jax.jit gave: of that class, with all that it has."""

    def __init__(self, plain: Any, function: Any, options: dict[str, Any]) -> None:
        functools.update_wrapper(self, plain)
        self.__wrapped__ = function
        self._trainwarden_plain = plain
        self._trainwarden_program = _program_of(function, options)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        call = _call
        if call is None:
            return self._trainwarden_plain(*args, **kwargs)
        return call(self, args, kwargs)

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        return self if instance is None else types.MethodType(self, instance)

    def __getattr__(self, name: str) -> Any:
        if name == "_trainwarden_plain":  # of a copy that is being made
            raise AttributeError(name)
        return getattr(self._trainwarden_plain, name)

    @property
    def __class__(self) -> Any:
        return type(self._trainwarden_plain)

    @__class__.setter
    def __class__(self, other: Any) -> None:
        raise TypeError("the class of a jitted function cannot be changed")

    def __repr__(self) -> str:
        return repr(self._trainwarden_plain)

    def __reduce_ex__(self, protocol: Any) -> Any:
        return self._trainwarden_plain.__reduce_ex__(protocol)


def replacement(original: Any) -> Any:
    """For jax.jit: the same, but what it gives is a Jitted."""

    @functools.wraps(original)
    def jit(*args: Any, **kwargs: Any) -> Any:
        plain = original(*args, **kwargs)
        if not args:  # with options only: what it gives decorates
            return lambda function: jit(function, **kwargs)
        return Jitted(plain, args[0], kwargs) if hasattr(plain, "trace") else plain

    return jit
