"""What is searched and measured, from the words of settings, register() and YAML files to those of a study."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Optional

from sigopt.exceptions import ApiException
from sigopt.wishes import metrics_of, parameters_of

from .errors import SDAError

TIME = "training_time"  # seconds, by the clock
SEED_PARAMETERS = "Parameters for SDA auto optimization"

_NUMBER = r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?"
_RANGE = re.compile(rf"\s*({_NUMBER})\s*~\s*({_NUMBER})\s*")
_WHOLE = re.compile(r"[-+]?\d+")


@dataclass
class Wishes:
    """What is searched and measured.

    Attributes:
        parameters: the table `parameters` of a study.
        metrics: the table `metrics` of a study, in the order of what was said.
        flags: the parameters that are an option without a value, or none.
    """

    parameters: dict[str, dict[str, Any]] = field(default_factory=dict)
    metrics: dict[str, dict[str, Any]] = field(default_factory=dict)
    flags: set[str] = field(default_factory=set)

    @property
    def main_metric(self) -> str:
        """By which the best of several is chosen: the first that is not the time."""
        return next((name for name in self.metrics if name != TIME), TIME)


def read_file(path: str) -> dict[str, Any]:
    """A YAML file. SDAError when it is none."""
    import yaml

    try:
        content = yaml.safe_load(Path(path).read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        raise SDAError(f"conf: expected a YAML file in {path}: {error}") from None
    if not isinstance(content, dict):
        raise SDAError(f"conf: expected a mapping in {path}, found {type(content).__name__}")
    return content


def searched(items: Iterable[Any]) -> tuple[dict[str, dict[str, Any]], set[str]]:
    """Parameters and flags, of a list such as `hpo_config` or that of the advisor's YAML.

    An item is as SigOpt has it, a mapping of one name to "LOW~HIGH", to a list of choices or to one value, or a name
    alone: a flag. SDAError for others.
    """
    plain, flags = [], set()
    for item in items:
        if not isinstance(item, Mapping):
            raise SDAError(f"a parameter: expected a mapping, found {item!r}")
        if "name" not in item:
            plain += [_named(str(name), value) for name, value in item.items()]
        elif len(item) == 1:
            flags.add(str(item["name"]))
            plain.append({"name": item["name"], "categorical_values": [False, True]})
        else:
            plain.append(_without_type_of_choices(item))
    return _translated(parameters_of, plain), flags


def measured(items: Iterable[Any]) -> dict[str, dict[str, Any]]:
    """Metrics, of a list of (name, objective) or of mappings with name, objective, threshold and strategy."""
    plain = []
    for item in items:
        if isinstance(item, (tuple, list)) and len(item) == 2:
            plain.append({"name": item[0], "objective": item[1]})
        elif isinstance(item, Mapping):
            plain.append({key: _number(value) if key == "threshold" else value for key, value in item.items()})
        else:
            raise SDAError(f"a metric: expected (name, objective) or a mapping, found {item!r}")
    return _translated(metrics_of, plain)


def fixed(values: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """Parameters that have one value each."""
    return {
        name: {"choices": [value if isinstance(value, (bool, int, float, str)) else str(value)]}
        for name, value in values.items()
    }


def with_first(space: dict[str, Any], value: Any) -> dict[str, Any]:
    """The space of a parameter whose `value`, where it lies in it, is tried first."""
    if "choices" in space:
        is_inside = any(type(value) is type(choice) and value == choice for choice in space["choices"])
    else:
        is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
        is_whole = space.get("kind") == "integer"
        is_inside = is_number and space["min"] <= value <= space["max"] and not (is_whole and value != int(value))
    return {**space, "first": value} if is_inside else space


def _named(name: str, value: Any) -> dict[str, Any]:
    if isinstance(value, (list, tuple)):
        return {"name": name, "grid": list(value)}
    found = _RANGE.fullmatch(value) if isinstance(value, str) else None
    if found is None:
        return {"name": name, "grid": [_number(value)]}
    is_whole = all(_WHOLE.fullmatch(end) for end in found.groups())
    low, high = (int(end) if is_whole else float(end) for end in found.groups())
    return {"name": name, "type": "int" if is_whole else "double", "bounds": {"min": low, "max": high}}


def _without_type_of_choices(item: Mapping[str, Any]) -> dict[str, Any]:
    """The advisor writes type "str" and "bool" beside a grid."""
    return {key: value for key, value in item.items() if not (key == "type" and value in ("str", "bool"))}


def _number(value: Any) -> Any:
    """YAML takes 1e-3 for a text."""
    return float(value) if isinstance(value, str) and re.fullmatch(_NUMBER, value) else value


def _translated(translate: Any, items: list[dict[str, Any]]) -> dict[str, dict[str, Any]]:
    try:
        table: dict[str, dict[str, Any]] = translate(items)
    except ApiException as error:
        raise SDAError(str(error)) from None
    return table


def settings_metric(settings: Mapping[str, Any], default: Optional[str]) -> dict[str, dict[str, Any]]:
    """The metric that the settings name by `metric`, `metric_objective` and `metric_threshold`."""
    name = settings.get("metric", default)
    if name is None:
        return {}
    wish = {"name": name, "objective": settings.get("metric_objective", "maximize")}
    return measured([{**wish, "threshold": settings.get("metric_threshold")}])
