"""CreateXgboostReport: who waits for a job has its report written, where SageMaker's jobs have it.

    OUTPUT/JOB/rule-output/RULE/xgboost_report.html
                                xgboost_report.json
"""

from __future__ import annotations

import os
from typing import Any

from . import _places
from ._say import say

_RULE = "CreateXgboostReport"


def write_reports(description: dict[str, Any]) -> None:
    """Of each rule of this name that the job has; what stands in the way is said. Raises nothing."""
    for rule in description.get("DebugRuleConfigurations") or []:
        if rule.get("RuleParameters", {}).get("rule_to_invoke") == _RULE:
            _write(description, os.path.basename(rule["RuleConfigurationName"]))


def _write(description: dict[str, Any], rule: str) -> None:
    job = description["TrainingJobName"]
    try:
        from trainwarden.tree_report import write_report

        output = _places.local_path(description["OutputDataConfig"]["S3OutputPath"])
        written = write_report(_run_of(description), output / job / "rule-output" / rule)
        say(f"{rule}: {written.page}")
    except Exception as error:
        say(f"{rule}: no report was written of {job}: {error}")


def _run_of(description: dict[str, Any]) -> str:
    """Where the job's run is.

    Raises:
        ValueError: nothing was captured.
    """
    hook = description.get("DebugHookConfig") or {}
    if "LocalPath" not in hook:
        raise ValueError("it captured nothing; give the estimator a DebuggerHookConfig")
    return str(hook["LocalPath"])
