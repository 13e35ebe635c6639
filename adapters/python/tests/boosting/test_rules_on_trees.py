"""The rules about trees and metrics, at their defaults, on unchanged programs: each sees its fault, and none
sees one in the healthy twins."""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from untouched import Runner, clean_environment

import trainwarden

RULE_OF = {
    "deep_trees": "TreeDepth",
    "leaking_column": "FeatureImportanceOverweight",
    "no_learning": "LossNotDecreasing",
    "learnt_by_heart": "Overfit",
    "trained_too_long": "Overtraining",
    "rare_class": "ClassImbalance",
    "alike_classes": "Confusion",
}
PROGRAM = os.environ.get("TRAINWARDEN_PROGRAM") or str(Path(sys.executable).parent / "trainwarden")


@pytest.fixture(params=["xgboost", "lightgbm"])
def framework(request: pytest.FixtureRequest) -> str:
    found = importlib.util.find_spec(request.param)
    if found is None or found.origin is None:  # a folder of tests that is called so
        pytest.skip(f"{request.param} is not installed")
    return str(request.param)


def statuses(run: Path) -> dict[str, str]:
    """Of a run that was captured without a word: what all these rules say of it later."""
    judged = trainwarden.rules.run(run, list(RULE_OF.values()), write_journal=False)
    return {one.rule_id: one.status.value for one in judged.statuses}


@pytest.mark.parametrize("case", RULE_OF)
def test_a_fault_is_seen_by_its_rule_and_a_healthy_training_by_none(
    runner: Runner, framework: str, case: str, tmp_path: Path
) -> None:
    found = {}
    for name, arguments in {"healthy": [case], "faulty": [case, "--fault"]}.items():
        run = tmp_path / name
        ended = runner.start(f"by_{framework}.py", *arguments, environment=runner.attached_environment(run))
        assert (ended.exit_code, ended.stderr) == (0, "")
        found[name] = statuses(run)
    assert found["faulty"][RULE_OF[case]] == "IssuesFound"
    assert found["healthy"][RULE_OF[case]] == "NoIssuesFound"
    assert [rule for rule, status in found["healthy"].items() if status == "IssuesFound"] == []


@pytest.mark.skipif(not Path(PROGRAM).exists(), reason="the program trainwarden is not built")
def test_rules_judge_while_the_program_trains(runner: Runner, framework: str, tmp_path: Path) -> None:
    wanted = [argument for rule in RULE_OF.values() for argument in ("--rule", rule)]
    for arguments, exit_code in ((["leaking_column"], 0), (["leaking_column", "--fault"], 3)):
        name = "-".join(arguments)
        run = [PROGRAM, "run", "--runs", str(tmp_path), "--name", name, *wanted, "--", sys.executable]
        ended = call([*run, f"by_{framework}.py", *arguments], runner)
        assert ended.returncode == exit_code, ended.stderr
        told = json.loads(call([PROGRAM, "rules", str(tmp_path / name), "--json"], runner).stdout)
        status = {one["RuleConfigurationName"]: one["RuleEvaluationStatus"] for one in told}
        assert set(status) == set(RULE_OF.values())
        expected = "IssuesFound" if exit_code else "NoIssuesFound"
        assert status["FeatureImportanceOverweight"] == expected and status["TreeDepth"] == "NoIssuesFound"


def call(command: list[str], runner: Runner) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command, cwd=runner.programs, env=clean_environment(), capture_output=True, text=True, timeout=300, check=False
    )
