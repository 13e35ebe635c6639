"""Editing: a traced program whose tagged values come out of it, behind its own results.

Only equations with a tag inside are replaced; all others stay as they are, and none is added.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Container
from dataclasses import dataclass
from typing import Any, Optional

from jax.extend.core import ClosedJaxpr, Jaxpr, JaxprEqn, Literal, Var, unmapped_aval
from jax.sharding import PartitionSpec

from . import tags

# Where the traced program lies in an equation of these.
_BODIES = {"jit": "jaxpr", "pjit": "jaxpr", "checkpoint": "jaxpr", "remat": "jaxpr", "remat2": "jaxpr", "scan": "jaxpr",
           "shard_map": "jaxpr", "closed_call": "call_jaxpr", "core_call": "call_jaxpr"}  # fmt: skip
# The same of those whose results are all that can be had.
_RESULTS = {"while": "body_jaxpr"}


@dataclass(frozen=True)
class Tagged:
    """A tagged value. Within loops it has an element a pass, in front of its own dimensions."""

    kind: str
    group: int
    name: str
    loops: tuple[tuple[int, int], ...] = ()  # which loop, and its length; outermost first


def tagged_in(jaxpr: Any) -> list[Tagged]:
    """All tags of a traced program, also those that cannot come out of it."""
    found: list[Tagged] = []
    for equation in opened(jaxpr).eqns:
        tag = tags.parsed(equation)
        if tag is not None:
            found.append(Tagged(*tag))
        else:
            for body in bodies_of(equation):
                found += tagged_in(body)
    return found


class Editor:
    """Of one traced program.

    Attributes:
        missed: how many tags do not come out, by the primitive that they lie in.
    """

    def __init__(self, kinds: Container[str]) -> None:
        self._kinds = kinds
        self._loops = itertools.count()
        self.missed: Counter[str] = Counter()

    def values_in(self, jaxpr: Jaxpr) -> tuple[list[JaxprEqn], list[tuple[Tagged, Any]]]:
        """The equations, with those replaced that have tags inside, and the tagged values of these equations."""
        equations: list[JaxprEqn] = []
        found: list[tuple[Tagged, Any]] = []
        for equation in jaxpr.eqns:
            tag = tags.parsed(equation)
            if tag is not None:
                if tag[0] in self._kinds and not isinstance(equation.invars[0], Literal):
                    found.append((Tagged(*tag), equation.invars[0]))
            elif any(tagged_in(body) for body in bodies_of(equation)):
                equation, inner = self._replaced(equation)
                found += inner
            equations.append(equation)
        return equations, found

    def _replaced(self, equation: JaxprEqn) -> tuple[JaxprEqn, list[tuple[Tagged, Any]]]:
        name = equation.primitive.name
        if equation.params.get("differentiated"):
            return equation, []  # the second pass of what is computed again
        if name not in _BODIES:
            return equation, self._results_of(equation)
        body = equation.params[_BODIES[name]]
        inner, values = self.values_in(opened(body))
        loop = (next(self._loops), int(equation.params["length"])) if name == "scan" else None
        carried = int(equation.params["num_carry"]) if name == "scan" else 0
        outvars, extra, found = list(equation.outvars), [], []
        for tagged, value in values:
            position = _position(opened(body).outvars, value)
            if position is not None and _is_read(equation.outvars[position]):
                if loop is None or position >= carried or tagged.kind in (tags.WEIGHT, tags.STATE):
                    is_last = loop is not None and position < carried  # what the loop ends with
                    found.append((_in_loop(tagged, None if is_last else loop), equation.outvars[position]))
                    continue
            if name == "shard_map" and not _is_the_same_everywhere(equation, value):
                self.missed[name] += 1
                continue
            variable = Var(_unsharded(equation, value) if name == "shard_map" else _aval(value, loop))
            extra.append(value)
            outvars.append(variable)
            found.append((_in_loop(tagged, loop), variable))
        if not extra:
            return equation, found
        params = dict(equation.params)
        params[_BODIES[name]] = _with_outputs(body, inner, extra)
        fillers = (("out_shardings", _unspecified()), ("out_layouts", None), ("out_specs", PartitionSpec()))
        for key, filler in fillers:
            if key in params:
                params[key] = (*params[key], *[filler] * len(extra))
        return equation.replace(params=params, outvars=outvars), found


    def _results_of(self, equation: JaxprEqn) -> list[tuple[Tagged, Any]]:
        """Of an equation that stays as it is: the tagged values that it gives anyway. A loop gives its last ones."""
        name = equation.primitive.name
        bodies = bodies_of(equation)
        found: list[tuple[Tagged, Any]] = []
        if name in _RESULTS:
            body = opened(equation.params[_RESULTS[name]])
            for tagged, value in self.values_in(body)[1]:
                position = _position(body.outvars, value)
                if position is not None and _is_read(equation.outvars[position]):
                    found.append((tagged, equation.outvars[position]))
        missed = sum(len(tagged_in(body)) for body in bodies) - len(found)
        if missed:
            self.missed[name] += missed
        return found


def with_outputs(closed: ClosedJaxpr, equations: list[JaxprEqn], extra: list[Any]) -> ClosedJaxpr:
    """The program with these equations, and with these values behind its results."""
    return _with_outputs(closed, equations, extra)


def _with_outputs(body: Any, equations: list[JaxprEqn], extra: list[Any]) -> Any:
    jaxpr = opened(body)
    outvars = [*jaxpr.outvars, *extra]
    edited = jaxpr.replace(eqns=equations, outvars=outvars)
    return body.replace(jaxpr=edited) if isinstance(body, ClosedJaxpr) else edited


def _in_loop(tagged: Tagged, loop: Optional[tuple[int, int]]) -> Tagged:
    if loop is None:
        return tagged
    return Tagged(tagged.kind, tagged.group, tagged.name, (loop, *tagged.loops))


def _aval(value: Any, loop: Optional[tuple[int, int]]) -> Any:
    return value.aval if loop is None else unmapped_aval(loop[1], 0, value.aval)


def _is_the_same_everywhere(equation: JaxprEqn, value: Any) -> bool:
    """On all shards; known only where JAX keeps track of it, which it does unless it is told not to."""
    kind = getattr(value.aval, "mat", None)
    return bool(equation.params.get("check_vma")) and kind is not None and not (kind.varying or kind.unreduced)


def _unsharded(equation: JaxprEqn, value: Any) -> Any:
    from jax._src.core import unshard_aval

    return unshard_aval(equation.params["mesh"], True, PartitionSpec(), value.aval)


def _position(variables: list[Any], value: Any) -> Optional[int]:
    return next((number for number, each in enumerate(variables) if each is value), None)


def _is_read(variable: Any) -> bool:
    return type(variable).__name__ != "DropVar"


def opened(body: Any) -> Jaxpr:
    """Without the arrays that it holds."""
    return body.jaxpr if isinstance(body, ClosedJaxpr) else body


def bodies_of(equation: JaxprEqn) -> list[Any]:
    """Traced programs within it."""
    bodies = []
    for value in equation.params.values():
        for each in value if isinstance(value, (tuple, list)) else (value,):
            if isinstance(each, (Jaxpr, ClosedJaxpr)):
                bodies.append(each)
    return bodies


def _unspecified() -> Any:
    from jax._src.sharding_impls import UNSPECIFIED

    return UNSPECIFIED
