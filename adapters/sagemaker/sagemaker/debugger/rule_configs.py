"""The rules that come with Trainwarden, under names as SageMaker gives them: rule_configs.vanishing_gradient().

Each function gives a configuration for Rule.sagemaker(). All rules of `trainwarden rules` are here, also those that
SageMaker does not have. And the actions that a rule can start: StopTraining, Email, SMS.
"""

from __future__ import annotations

import difflib
import functools
import re
from collections.abc import Callable
from typing import Any

from .. import _program
from ..exceptions import NotHere
from .actions import SMS, ActionList, Email, StopTraining

__all__ = ["SMS", "ActionList", "Email", "StopTraining"]

RuleConfig = dict[str, Any]

_OF_THE_PROFILER = (
    "BatchSize",
    "CPUBottleneck",
    "Dataloader",
    "GPUMemoryIncrease",
    "IOBottleneck",
    "LoadBalancing",
    "LowGPUUtilization",
    "MaxInitializationTime",
    "OverallFrameworkMetrics",
    "OverallSystemUsage",
    "ProfilerReport",
    "PythonProfiler",
    "StepOutlier",
)


@functools.lru_cache(maxsize=1)
def _rules() -> dict[str, str]:
    """Names of the program's rules, by their plain form."""
    return {_plain(rule["name"]): rule["name"] for rule in _program.ask("rules")["rules"]}


def _plain(name: str) -> str:
    return name.replace("_", "").lower()


def _snake_case(name: str) -> str:
    """VanishingGradient, NLPSequenceRatio: vanishing_gradient, nlp_sequence_ratio."""
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "_", name).lower()


def _configuration(name: str) -> Callable[[], RuleConfig]:
    def configuration() -> RuleConfig:
        return {"DebugRuleConfiguration": {"RuleConfigurationName": name, "RuleParameters": {"rule_to_invoke": name}}}

    configuration.__name__ = _snake_case(name)
    configuration.__doc__ = f"The rule {name}; `trainwarden rules {name}` says what it finds."
    return configuration


def _check_known(name: str) -> None:
    """
    Raises:
        NotHere: the program has no such rule.
    """
    if _plain(name) not in _rules():
        raise NotHere(f"{name}: this version of the program has no such rule; `trainwarden rules` lists those that there are")


def _profiler_configuration(name: str) -> Callable[..., RuleConfig]:
    def configuration(**parameters: Any) -> RuleConfig:
        named = {"rule_to_invoke": name, **{key: str(value) for key, value in parameters.items()}}
        _check_known(name)
        return {"ProfilerRuleConfiguration": {"RuleConfigurationName": name, "RuleParameters": named}}

    configuration.__name__ = name
    return configuration


def __getattr__(name: str) -> Any:
    if name.startswith("_"):
        raise AttributeError(name)
    if name in _OF_THE_PROFILER:
        return _profiler_configuration(name)
    rules = _rules()
    if _plain(name) in rules:
        return _configuration(rules[_plain(name)])
    near = difflib.get_close_matches(_plain(name), rules, n=1)
    hint = f'; did you mean "{_snake_case(rules[near[0]])}"?' if near else "; `trainwarden rules` lists them"
    raise AttributeError(f'there is no rule "{name}"{hint}')


def __dir__() -> list[str]:
    return sorted([*__all__, *_OF_THE_PROFILER, *(_snake_case(name) for name in _rules().values())])
