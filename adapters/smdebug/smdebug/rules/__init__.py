"""Rules: what judges a training, step by step."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .req_tensors import RequiredTensors, RequiredTensorsForTrial
from .rule import Rule

if TYPE_CHECKING:
    from .rule_invoker import invoke_rule

__all__ = ["RequiredTensors", "RequiredTensorsForTrial", "Rule", "invoke_rule"]


def __getattr__(name: str) -> object:
    """Late, because `python -m smdebug.rules.rule_invoker` warns of a module that its package has imported already."""
    if name == "invoke_rule":
        from .rule_invoker import invoke_rule

        return invoke_rule
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
