"""Outside: what a traced program does besides computing. It prints, or calls functions of the program's in Python.

Such a program must not run twice, nor may a twin call them. What is only said (jax.debug) gives nothing back, and can
be left out of a program that is run beside the function; where functions are called for what they give, there is none.
"""

from __future__ import annotations

from typing import Any

from jax.extend.core import ClosedJaxpr, Jaxpr, JaxprEqn

from .editing import bodies_of, opened

_SAYING = ("debug_callback", "debug_print")
_CALLING = ("pure_callback", "io_callback", "outside_call", "infeed", "outfeed")
# Primitives whose names are not known here have these. Effects on references of a program's own are none of them.
_EFFECTS = ("IOEffect", "OrderedIOEffect", "FfiEffect", "DebugEffect", "OrderedDebugEffect")
_EFFECTS_OF_SAYING = ("DebugEffect", "OrderedDebugEffect")


def says(jaxpr: Any) -> bool:
    """Is something in it that only prints?"""
    return any(map(_is_said, _leaves_in(jaxpr)))


def calls(jaxpr: Any) -> bool:
    """Is something in it that gives what a function of the program's does, or changes something elsewhere?"""
    return any(map(_is_called, _leaves_in(jaxpr)))


def without_saying(closed: ClosedJaxpr) -> ClosedJaxpr:
    """The same program, which prints nothing."""
    silent: ClosedJaxpr = _silent(closed) if says(closed) else closed
    return silent


def _leaves_in(jaxpr: Any) -> Any:
    for equation in opened(jaxpr).eqns:
        bodies = bodies_of(equation)
        if not bodies or equation.primitive.name in (*_SAYING, *_CALLING):
            yield equation
        for body in bodies:
            yield from _leaves_in(body)


def _is_said(equation: JaxprEqn) -> bool:
    return equation.primitive.name in _SAYING and not equation.outvars


def _is_called(equation: JaxprEqn) -> bool:
    if _is_said(equation):
        return False
    return equation.primitive.name in _CALLING or any(type(each).__name__ in _EFFECTS for each in equation.effects)


def _silent(body: Any) -> Any:
    jaxpr: Jaxpr = opened(body)
    equations = [_silent_inside(equation) for equation in jaxpr.eqns if not _is_said(equation)]
    silent = jaxpr.replace(eqns=equations, effects=_effects_left(jaxpr.effects))
    return body.replace(jaxpr=silent) if isinstance(body, ClosedJaxpr) else silent


def _silent_inside(equation: JaxprEqn) -> JaxprEqn:
    if not any(map(says, bodies_of(equation))):
        return equation
    params = {name: _silent_value(value) for name, value in equation.params.items()}
    return equation.replace(params=params, effects=_effects_left(equation.effects))


def _silent_value(value: Any) -> Any:
    if isinstance(value, (Jaxpr, ClosedJaxpr)):
        return _silent(value)
    if isinstance(value, (tuple, list)):
        return type(value)(_silent_value(each) for each in value) if type(value) in (tuple, list) else value
    return value


def _effects_left(effects: Any) -> Any:
    return type(effects)(each for each in effects if type(each).__name__ not in _EFFECTS_OF_SAYING)
