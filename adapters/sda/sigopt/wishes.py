"""What is searched and measured, from SigOpt's words to those of a study (docs/reference/tune.md)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from e2eAIOK.SDA.errors import unknown_key

from .exceptions import ApiException

_PARAMETER = ("name", "type", "bounds", "grid", "categorical_values", "transformation", "conditions", "default_value")
_METRIC = ("name", "objective", "strategy", "threshold")
_CONSTRAINT = ("type", "terms", "threshold")
_STRATEGIES = {"optimize": "optimize", "store": "store", "constraint": "constrain"}
_KINDS = {"double": "real", "int": "integer"}


def refuse_unknown(what: str, said: Iterable[str], known: Sequence[str]) -> None:
    """ApiException for a key that has no meaning here, with the nearest that has one."""
    complaint = unknown_key(what, said, known)
    if complaint is not None:
        raise ApiException(complaint)


def parameters_of(
    parameters: Iterable[Mapping[str, Any]], conditionals: Iterable[Mapping[str, Any]] = ()
) -> dict[str, dict[str, Any]]:
    """The table `parameters` of a study. A conditional is a choice, on which others depend."""
    table: dict[str, dict[str, Any]] = {}
    for conditional in conditionals:
        refuse_unknown("a conditional", conditional, ("name", "values"))
        table[_name("a conditional", conditional)] = {"choices": list(conditional["values"])}
    for parameter in parameters:
        name = _name("a parameter", parameter)
        if name in table:
            raise ApiException(f'two parameters have the name "{name}"')
        table[name] = _space(name, parameter)
    return table


def metrics_of(metrics: Iterable[Mapping[str, Any]]) -> dict[str, dict[str, Any]]:
    """The table `metrics` of a study."""
    table: dict[str, dict[str, Any]] = {}
    for metric in metrics:
        name = _name("a metric", metric)
        refuse_unknown(f"metric {name}", metric, _METRIC)
        strategy = metric.get("strategy") or "optimize"
        if strategy not in _STRATEGIES:
            raise ApiException(f'metric {name}: expected a strategy of {", ".join(_STRATEGIES)}, found "{strategy}"')
        table[name] = {"goal": metric.get("objective") or "maximize", "strategy": _STRATEGIES[strategy]}
        if metric.get("threshold") is not None:
            table[name]["threshold"] = metric["threshold"]
    return table


def constraints_of(constraints: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """The list `constraints` of a study."""
    return [_constraint(each) for each in constraints]


def _name(what: str, said: Mapping[str, Any]) -> str:
    name = said.get("name")
    if not isinstance(name, str) or not name:
        raise ApiException(f"{what}: expected a name, found {name!r}")
    return name


def _space(name: str, parameter: Mapping[str, Any]) -> dict[str, Any]:
    refuse_unknown(f"parameter {name}", parameter, _PARAMETER)
    space = _choices(parameter) or _range(name, parameter)
    if parameter.get("default_value") is not None:
        space["first"] = parameter["default_value"]
    conditions = parameter.get("conditions") or {}
    if len(conditions) > 1:
        raise ApiException(f"parameter {name}: expected one condition, found {', '.join(conditions)}")
    if conditions:
        space["when"] = {key: _list(values) for key, values in conditions.items()}
    return space


def _choices(parameter: Mapping[str, Any]) -> dict[str, Any]:
    if parameter.get("grid"):
        grid = list(parameter["grid"])
        are_numbers = all(isinstance(each, (int, float)) and not isinstance(each, bool) for each in grid)
        return {"choices": grid, **({"ordered": True} if are_numbers else {})}
    if parameter.get("categorical_values"):
        values = parameter["categorical_values"]
        return {"choices": [each["name"] if isinstance(each, Mapping) else each for each in values]}
    return {}


def _range(name: str, parameter: Mapping[str, Any]) -> dict[str, Any]:
    kind, bounds = parameter.get("type"), parameter.get("bounds")
    if kind not in _KINDS or not isinstance(bounds, Mapping) or not {"min", "max"} <= set(bounds):
        raise ApiException(
            f"parameter {name}: expected a grid, categorical_values, or bounds with min and max and the type "
            "double or int"
        )
    space: dict[str, Any] = {"kind": _KINDS[kind], "min": bounds["min"], "max": bounds["max"]}
    transformation = parameter.get("transformation") or "none"
    if transformation not in ("log", "none"):
        raise ApiException(f'parameter {name}: expected the transformation log, found "{transformation}"')
    return {**space, "log": True} if transformation == "log" else space


def _constraint(said: Mapping[str, Any]) -> dict[str, Any]:
    refuse_unknown("a linear constraint", said, _CONSTRAINT)
    if said.get("type") not in ("greater_than", "less_than"):
        found = said.get("type")
        raise ApiException(f"a linear constraint: expected the type greater_than or less_than, found {found!r}")
    sign = -1 if said["type"] == "greater_than" else 1
    return {"weights": {term["name"]: sign * term["weight"] for term in said["terms"]}, "max": sign * said["threshold"]}


def _list(values: Any) -> list[Any]:
    return list(values) if isinstance(values, (list, tuple)) else [values]
