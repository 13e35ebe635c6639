"""The rules that come with Trainwarden, under names as SageMaker gives them: rule_configs.vanishing_gradient().

Each function gives a configuration for Rule.sagemaker(), those of the profiler's rules for ProfilerRule.sagemaker():
rule_configs.BatchSize(window=300). All rules of `trainwarden rules` are here, also those that SageMaker does not have. And
the actions that a rule can start: StopTraining, Email, SMS.
"""

from __future__ import annotations

import difflib
import functools
import re
from collections.abc import Callable
from typing import Any

from .. import _program
from . import profiler_rules
from .actions import SMS, ActionList, Email, StopTraining
from .profiler_rules import RuleConfig

__all__ = ["SMS", "ActionList", "Email", "StopTraining"]

@functools.lru_cache(maxsize=1)
def _rules() -> dict[str, dict[str, Any]]:
    """The program's rules, by their names."""
    return {rule["name"]: rule for rule in _program.ask("rules")["rules"]}


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


def __getattr__(name: str) -> Any:
    if name.startswith("_"):
        raise AttributeError(name)
    rules = _rules()
    if profiler_rules.is_of_profiler(name, rules):
        return profiler_rules.configuration(name, rules)
    plain = {_plain(rule): rule for rule in rules}
    if _plain(name) in plain:
        return _configuration(plain[_plain(name)])
    near = difflib.get_close_matches(_plain(name), plain, n=1)
    hint = f'; did you mean "{_attribute(plain[near[0]])}"?' if near else "; `trainwarden rules` lists them"
    raise AttributeError(f'there is no rule "{name}"{hint}')


def _attribute(rule: str) -> str:
    """What it is called here: as SageMaker has it, a class of the profiler's rules, a function of the others."""
    return rule if profiler_rules.is_of_profiler(rule, _rules()) else _snake_case(rule)


def __dir__() -> list[str]:
    return sorted([*__all__, *(_attribute(name) for name in _rules())])
