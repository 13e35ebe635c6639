"""The ids by which a run knows its rules: the rule's class, and -2, -3 for further ones of the same."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any


def rule_ids(configurations: Iterable[Mapping[str, Any]]) -> dict[str, Mapping[str, Any]]:
    """The elements of DebugRuleConfigurations, by id, in their order."""
    seen: Counter[str] = Counter()
    named: dict[str, Mapping[str, Any]] = {}
    for configuration in configurations:
        rule = configuration["RuleParameters"]["rule_to_invoke"]
        seen[rule] += 1
        named[rule if seen[rule] == 1 else f"{rule}-{seen[rule]}"] = configuration
    return named
