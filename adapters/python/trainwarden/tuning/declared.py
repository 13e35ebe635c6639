"""Whether what an objective asks for is what its study declares."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Union

from .. import errors
from .records import Value

_ALIKE = 1e-12  # of numbers that were written and read


def value_of(
    params: Mapping[str, Value], spaces: Mapping[str, Mapping[str, Any]], name: str, asked: Mapping[str, Any]
) -> Value:
    """The value of the parameter `name` in a trial with `params`.

    `spaces` has each parameter as the study declares it, `asked` has the same keys. InvalidArgument where they
    disagree.
    """
    if name not in spaces:
        known = ", ".join(spaces)
        raise errors.InvalidArgument(
            f'the study declares no parameter "{name}", only {known}: '
            "what depends on other parameters is declared with `when`"
        )
    space = spaces[name]
    if not _agree(space, asked):
        raise errors.InvalidArgument(
            f"{name}: the study declares {text_of(space)}, the objective asks for {text_of(asked)}"
        )
    if name not in params:
        raise errors.InvalidArgument(
            f"{name} does not exist in this trial: it is declared for {_condition_text(space)} only"
        )
    return params[name]


def text_of(space: Mapping[str, Any]) -> str:
    """For people: "real, min 0.1, max 10, log"."""
    if space["kind"] == "choice":
        return f"choices {', '.join(map(repr, space['choices']))}"
    words = [space["kind"], f"min {space['min']:g}", f"max {space['max']:g}"]
    if space.get("step"):
        words.append(f"step {space['step']:g}")
    return ", ".join(words + (["log"] if space.get("log") else []))


def has(space: Mapping[str, Any], value: Value) -> bool:
    """Whether a parameter of this space can have the value."""
    if space["kind"] == "choice":
        return key_of(value) in map(key_of, space["choices"])
    if isinstance(value, (bool, str)) or not space["min"] <= value <= space["max"]:
        return False
    step = space.get("step")
    steps = (value - space["min"]) / step if step else 0
    return bool(abs(steps - round(steps)) <= 1e-9 * max(1.0, abs(steps)))


def _agree(space: Mapping[str, Any], asked: Mapping[str, Any]) -> bool:
    if space["kind"] != asked["kind"]:
        return False
    if space["kind"] == "choice":
        return sorted(map(key_of, space["choices"])) == sorted(map(key_of, asked["choices"]))
    is_log = bool(space.get("log")) == bool(asked.get("log"))
    return is_log and all(_same(space.get(end) or 0, asked.get(end) or 0) for end in ("min", "max", "step"))


def _same(first: float, second: float) -> bool:
    return abs(first - second) <= _ALIKE * max(abs(first), abs(second))


def key_of(choice: Union[Value, None]) -> str:
    """1 and 1.0 are one choice, 1 and True are two."""
    is_number = isinstance(choice, (int, float)) and not isinstance(choice, bool)
    return repr(float(choice)) if is_number and choice is not None else repr(choice)


def _condition_text(space: Mapping[str, Any]) -> str:
    conditions = space.get("when", {})
    return " and ".join(f"{name} = {' or '.join(map(str, values))}" for name, values in conditions.items())
