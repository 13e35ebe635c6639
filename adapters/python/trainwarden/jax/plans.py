"""Plans: what a traced function does for the training, and where its tagged values are among its results."""

from __future__ import annotations

import functools
import math
from collections import Counter
from dataclasses import dataclass
from typing import Any

import jax
from jax.extend.core import ClosedJaxpr

from . import names, outside, tags
from .editing import Editor, Tagged, tagged_in, with_outputs

ALL_KINDS = (tags.LOSS, tags.GRADIENT, tags.OWN_GRADIENT, tags.WEIGHT, tags.OUTPUT, tags.STATE, tags.RATE,
             tags.METRIC)  # fmt: skip

_OF_OPTIMIZERS = (tags.GRADIENT, tags.WEIGHT)


@dataclass(frozen=True)
class Slot:
    """A tensor: the value of this number among the flat results, those of the program first."""

    kind: str
    name: str
    index: int
    loops: tuple[tuple[int, int], ...]
    shape: tuple[int, ...]


@dataclass(frozen=True)
class Plan:
    """What is known of one traced function.

    Attributes:
        differentiates, updates, applies: it has gradients; an optimizer's update; new weights.
        hands_out_gradients: all of its gradients are its results: somebody else applies them.
        calls_model: layers of a model were called.
        loops: those that an optimizer's updates, else the gradients, lie in: steps within one call.
        missed: tags that do not come out, by the primitive that they lie in.
        says, calls: it prints, or calls functions of the program's in Python: see outside.py.
    """

    slots: tuple[Slot, ...]
    results: int
    differentiates: bool
    updates: bool
    applies: bool
    hands_out_gradients: bool
    calls_model: bool
    loops: tuple[tuple[int, int], ...]
    missed: tuple[tuple[str, int], ...]
    says: bool
    calls: bool

    @functools.cached_property
    def losses(self) -> tuple[Slot, ...]:
        """Those that are results of the function anyway, one for each call."""
        return tuple(s for s in self.slots if s.kind == tags.LOSS and s.index < self.results and not s.loops)

    @functools.cached_property
    def numbers(self) -> tuple[Slot, ...]:
        """Losses and metrics that are results of the function anyway."""
        return (*self.losses, *(slot for slot in self.slots if slot.kind == tags.METRIC))

    @functools.cached_property
    def steps(self) -> int:
        """Within one call."""
        return math.prod(length for _, length in self.loops)

    @property
    def mode(self) -> str:
        """What is said of a function that calls a model and trains nothing: who judges gets a number."""
        return "eval" if any(slot.kind == tags.METRIC for slot in self.slots) else "predict"

    @property
    def trains(self) -> bool:
        return self.differentiates or self.updates

    @property
    def is_whole_step(self) -> bool:
        """Nothing of the step is left for another call."""
        if self.updates:
            return self.applies
        return self.differentiates and not self.hands_out_gradients


def plan_and_program(closed: ClosedJaxpr, out_tree: Any, kinds: tuple[str, ...]) -> tuple[Plan, ClosedJaxpr]:
    """Of a traced function, and the same function with the tagged values of these kinds behind its results."""
    tagged_values = tagged_in(closed)
    has = Counter(tagged.kind for tagged in tagged_values)
    all_kinds = tuple(kind for kind in ALL_KINDS if kind != tags.OWN_GRADIENT or not has[tags.GRADIENT])
    everything = Editor(all_kinds)
    all_slots, _ = _slots_and_extra(everything.values_in(closed.jaxpr)[1], closed, _Names(tagged_values))
    equations, found = Editor([kind for kind in all_kinds if kind in kinds]).values_in(closed.jaxpr)
    slots, extra = _slots_and_extra(found, closed, _Names(tagged_values))
    gradients = [slot for slot in all_slots if slot.kind == tags.OWN_GRADIENT]
    trains = has[tags.OWN_GRADIENT] + has[tags.GRADIENT] + has[tags.LOSS] > 0
    by_hand = _new_weights(gradients, closed, out_tree) if gradients and not has[tags.WEIGHT] else []
    if tags.WEIGHT in kinds:
        slots += by_hand
    if has[tags.OUTPUT] and not trains:
        slots += _metrics(closed, out_tree)
    if trains:
        slots += _named_numbers([*all_slots, *by_hand], closed, out_tree)
    plan = Plan(
        slots=tuple(slots),
        results=len(closed.jaxpr.outvars),
        differentiates=has[tags.OWN_GRADIENT] + has[tags.LOSS] > 0,
        updates=has[tags.GRADIENT] > 0,
        applies=has[tags.WEIGHT] > 0,
        hands_out_gradients=all(slot.index < len(closed.jaxpr.outvars) for slot in gradients),
        calls_model=has[tags.OUTPUT] > 0,
        loops=_loops_of_steps(all_slots),
        missed=tuple(sorted(everything.missed.items())),
        says=outside.says(closed),
        calls=outside.calls(closed),
    )
    return plan, with_outputs(closed, equations, extra)


def _slots_and_extra(
    found: list[tuple[Tagged, Any]], closed: ClosedJaxpr, called: _Names
) -> tuple[list[Slot], list[Any]]:
    """What is a result of the function anyway is not among the extra results."""
    results = closed.jaxpr.outvars
    numbers = {id(variable): number for number, variable in reversed(list(enumerate(results)))}
    extra: list[Any] = []
    slots = []
    for tagged, variable in found:
        if id(variable) not in numbers:
            numbers[id(variable)] = len(results) + len(extra)
            extra.append(variable)
        shape = tuple(variable.aval.shape)
        slots.append(Slot(tagged.kind, called.name(tagged), numbers[id(variable)], tagged.loops, shape))
    return slots, extra


class _Names:
    """Of the tensors of one function. What comes a second time is NAME#1; a further optimizer whose tensors are called
    as those of an earlier one has them as model_1/NAME."""

    def __init__(self, found: list[Tagged]) -> None:
        self._seen: Counter[str] = Counter()
        members: dict[int, set[str]] = {}
        for tagged in found:
            if tagged.kind == tags.GRADIENT:
                members.setdefault(tagged.group, set()).add(tagged.name)
        self._members = members
        self._prefixes: dict[int, str] = {}
        earlier: set[str] = set()
        for number, (group, its_names) in enumerate(members.items()):
            self._prefixes[group] = f"model_{number}/" if earlier & its_names else ""
            earlier |= its_names

    def name(self, tagged: Tagged) -> str:
        own = self._prefixes.get(tagged.group, "") + tagged.name if tagged.kind in _OF_OPTIMIZERS else tagged.name
        if tagged.kind in (tags.GRADIENT, tags.OWN_GRADIENT):
            own = f"gradient/{own}"
        elif tagged.kind == tags.STATE:
            own = f"optimizer_state/{self._of_parameter(tagged)}"
        count = self._seen[own]
        self._seen[own] += 1
        return f"{own}#{count}" if count else own

    def _of_parameter(self, tagged: Tagged) -> str:
        """PARAMETER/KEY for what an optimizer keeps of a parameter, as other adapters call it."""
        prefix = self._prefixes.get(tagged.group, "")
        keys = tagged.name.split("/")
        for number in range(1, len(keys)):
            parameter = "/".join(keys[number:])
            if parameter in self._members.get(tagged.group, ()):
                return f"{prefix}{parameter}/{keys[number - 1]}"
        return f"{prefix}{tagged.name}"


def _new_weights(gradients: list[Slot], closed: ClosedJaxpr, out_tree: Any) -> list[Slot]:
    """Of updates written by hand: the first part of the results that has a leaf for each gradient, of its name and its
    shape, and is not the gradients themselves."""
    variables = closed.jaxpr.outvars
    wanted = {slot.name.partition("/")[2]: slot for slot in gradients if "#" not in slot.name}
    taken = {slot.index for slot in gradients}
    parts: dict[str, dict[str, int]] = {}
    for path, index in _result_paths(closed, out_tree):
        for cut in range(len(path) + 1):
            name = names.name_of(path[cut:])
            if name in wanted and index not in taken and tuple(variables[index].aval.shape) == wanted[name].shape:
                parts.setdefault(jax.tree_util.keystr(path[:cut]), {})[name] = index
    whole = next((part for part in parts.values() if len(part) == len(wanted)), {})
    return [Slot(tags.WEIGHT, name, index, (), wanted[name].shape) for name, index in whole.items()]


def _metrics(closed: ClosedJaxpr, out_tree: Any) -> list[Slot]:
    """The single numbers among the results."""
    variables = closed.jaxpr.outvars
    numbers = [(path, index) for path, index in _result_paths(closed, out_tree) if variables[index].aval.shape == ()]
    return [Slot(tags.METRIC, names.name_of(path, "result"), index, (), ()) for path, index in numbers]


def _named_numbers(known: list[Slot], closed: ClosedJaxpr, out_tree: Any) -> list[Slot]:
    """Metrics of a function that trains: what is not known of dicts of nothing but single numbers, among its results."""
    parts: dict[str, list[tuple[str, int]]] = {}
    others = set()  # parts of the result that have something else
    for path, index in _result_paths(closed, out_tree):
        is_of_several = bool(path) and not isinstance(path[0], jax.tree_util.DictKey)
        part, keys = jax.tree_util.keystr(path[:is_of_several]), path[is_of_several:]
        parts.setdefault(part, []).append(("/".join(str(getattr(key, "key", "")) for key in keys), index))
        are_names = bool(keys) and all(isinstance(key, jax.tree_util.DictKey) for key in keys)
        if not are_names or not _is_single_number(closed.jaxpr.outvars[index].aval):
            others.add(part)
    names_taken, taken = {slot.name for slot in known}, {slot.index for slot in known}
    numbers = [each for part, members in parts.items() if part not in others for each in members]
    free = [(name, index) for name, index in numbers if index not in taken and name not in names_taken]
    return [Slot(tags.METRIC, name, index, (), ()) for name, index in free]


def _is_single_number(value: Any) -> bool:
    return value.shape == () and bool(jax.dtypes.issubdtype(value.dtype, jax.numpy.floating))


def _result_paths(closed: ClosedJaxpr, out_tree: Any) -> list[tuple[Any, int]]:
    numbered = jax.tree_util.tree_unflatten(out_tree, range(len(closed.jaxpr.outvars)))
    return jax.tree_util.tree_flatten_with_path(numbered)[0]  # type: ignore[no-any-return]


def _loops_of_steps(slots: list[Slot]) -> tuple[tuple[int, int], ...]:
    for kind in (tags.GRADIENT, tags.OWN_GRADIENT):
        for slot in slots:
            if slot.kind == kind:
                return slot.loops
    return ()
