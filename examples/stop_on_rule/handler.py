#!/usr/bin/env python3
"""Stops a training once VanishingGradient has found an issue: a handler for the action `exec`.

It gets each event on its standard input, as a CloudEvent or in EventBridge's envelope, looks at where the rules stand,
and asks the training to stop. Exit code 0: done, or nothing to do; 75: try again later; any other: give up.
"""

import json
import os
import subprocess
import sys

RULES = {"VanishingGradient"}  # whose issues end the training; with none here, those of any rule
TRY_AGAIN = 75


def names_of_issues(job):
    statuses = job.get("DebugRuleEvaluationStatuses", [])
    found = [status for status in statuses if status["RuleEvaluationStatus"] == "IssuesFound"]
    return [rule["RuleConfigurationName"] for rule in found if not RULES or rule["RuleConfigurationName"] in RULES]


def main():
    event = json.load(sys.stdin)
    job = event["detail"] if "detail" in event else event["data"]
    rules = names_of_issues(job)
    if not rules or job["TrainingJobStatus"] != "InProgress":
        print(f"nothing to do: {job['TrainingJobName']} is {job['SecondaryStatus']}")
        return 0
    reason = f"{rules[0]} has IssuesFound"
    print(f"stopping {job['TrainingJobName']}: {reason}")
    stop = subprocess.run(["trainwarden", "stop", os.environ["TRAINWARDEN_RUN_PATH"], "--reason", reason])
    return 0 if stop.returncode == 0 else TRY_AGAIN


if __name__ == "__main__":
    sys.exit(main())
