"""The profiler's rules by SageMaker's names, with the parameters that it documents, and what jobs make of them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from recorder import outcome

from sagemaker.debugger import CollectionConfig, ProfilerRule, Rule, rule_configs
from sagemaker.debugger.rules import PROFILER_RULE_SAGEMAKER
from sagemaker.exceptions import NotHere
from sagemaker.pytorch import PyTorch

# As SageMaker's configurations have them, with its defaults.
SCAN = {"scan_interval_us": 60_000_000}
DOCUMENTED: dict[str, dict[str, Any]] = {
    "BatchSize": {
        "cpu_threshold_p95": 70,
        "gpu_threshold_p95": 70,
        "gpu_memory_threshold_p95": 70,
        "patience": 1000,
        "window": 500,
        **SCAN,
    },
    "CPUBottleneck": {"threshold": 50, "gpu_threshold": 10, "cpu_threshold": 90, "patience": 1000, **SCAN},
    "Dataloader": {"min_threshold": 70, "max_threshold": 200, **SCAN},
    "GPUMemoryIncrease": {"increase": 5, "patience": 1000, "window": 10, **SCAN},
    "IOBottleneck": {"threshold": 50, "gpu_threshold": 10, "io_threshold": 50, "patience": 1000, **SCAN},
    "LoadBalancing": {"threshold": 0.5, "patience": 1000, **SCAN},
    "LowGPUUtilization": {"threshold_p95": 70, "threshold_p5": 10, "window": 500, "patience": 1000, **SCAN},
    "MaxInitializationTime": {"threshold": 20, **SCAN},
    "OverallFrameworkMetrics": {**SCAN},
    "OverallSystemUsage": {**SCAN},
    "StepOutlier": {"stddev": 3, "mode": None, "n_outliers": 10, **SCAN},
}


def parameters_of(config: dict[str, Any]) -> dict[str, str]:
    parameters: dict[str, str] = config["ProfilerRuleConfiguration"]["RuleParameters"]
    return {name: value for name, value in parameters.items() if name != "rule_to_invoke"}


def test_each_rule_takes_what_sagemaker_documents(work: Path) -> None:
    plain = [ProfilerRule.sagemaker(getattr(rule_configs, name)()) for name in DOCUMENTED]
    job = outcome(PyTorch, rules=plain)[0]["job.json"]  # the program has taken them all
    for name, parameters in DOCUMENTED.items():
        assert f'"{name}"' in job, name
        by_keyword = getattr(rule_configs, name)(**parameters)
        assert by_keyword == getattr(rule_configs, name)(*parameters.values()), f"{name}: by position"
        kept = parameters_of(by_keyword)
        assert {key: kept[key] for key in kept} == {key: str(parameters[key]) for key in kept}
        assert {*parameters} - {*kept} <= {"mode", "scan_interval_us"}, name
    given = [getattr(rule_configs, name)(**parameters) for name, parameters in DOCUMENTED.items()]
    outcome(PyTorch, rules=[ProfilerRule.sagemaker(config) for config in given])


def test_what_means_nothing_here_is_an_error() -> None:
    with pytest.raises(NotHere, match="StepOutlier: mode: leave it out"):
        rule_configs.StepOutlier(mode="TRAIN")
    for name in ("MaxInitializationTime", "OverallFrameworkMetrics", "StepOutlier"):
        with pytest.raises(NotHere, match="scan_interval_us: leave it out"):
            getattr(rule_configs, name)(scan_interval_us=1_000_000)
    assert parameters_of(rule_configs.BatchSize(scan_interval_us=1_000_000)) == {"scan_interval_us": "1000000"}
    with pytest.raises(TypeError, match='did you mean "cpu_threshold_p95"'):
        rule_configs.BatchSize(cpu_threshold=5)
    with pytest.raises(AttributeError, match='did you mean "CPUBottleneck"'):
        rule_configs.CPUBottlenecks()


def test_a_report_hands_parameters_on(work: Path) -> None:
    config = rule_configs.ProfilerReport(
        CPUBottleneck_threshold=40, stepoutlier_STDDEV=4, StepOutlier_scan_interval_us=60_000_000, opt_out_telemetry=True
    )
    kept = {"CPUBottleneck_threshold": "40", "stepoutlier_STDDEV": "4", "opt_out_telemetry": "True"}
    assert parameters_of(config) == kept
    (rule,) = outcome(PyTorch, rules=[ProfilerRule.sagemaker(config)])[1]["ProfilerRuleConfigurations"]
    assert rule["RuleParameters"] == {"rule_to_invoke": "ProfilerReport", **kept}
    with pytest.raises(NotHere, match="StepOutlier: mode"):
        rule_configs.ProfilerReport(StepOutlier_mode="EVAL")
    with pytest.raises(TypeError, match='CPUBottleneck: there is no argument "much"'):
        rule_configs.ProfilerReport(CPUBottleneck_much=1)
    for wrong in ("threshold", "VanishingGradient_threshold", "ProfilerReport_threshold"):
        with pytest.raises(TypeError, match="expected <rule>_<parameter>"):
            rule_configs.ProfilerReport(**{wrong: 1})


def test_rules_of_the_profiler_that_sagemaker_does_not_have(work: Path) -> None:
    config = rule_configs.Straggler(threshold=0.3)
    assert parameters_of(config) == {"threshold": "0.3"}
    files, _ = outcome(PyTorch, rules=[ProfilerRule.sagemaker(config, "Slow"), Rule.sagemaker(rule_configs.InputBound())])
    assert "Straggler:threshold" in files["job.json"] and '"InputBound"' in files["job.json"]
    assert {"BatchSize", "Straggler", "ProfilerReport", "vanishing_gradient"} <= {*dir(rule_configs)}
    assert rule_configs.straggler()["DebugRuleConfiguration"]["RuleConfigurationName"] == "Straggler"


def test_each_keyword_of_a_rule_of_the_profiler(work: Path) -> None:
    report = rule_configs.ProfilerReport()
    for name, keyword in PROFILER_RULE_SAGEMAKER.items():
        if keyword.refused:
            with pytest.raises(NotHere, match=name):
                ProfilerRule.sagemaker(report, **{name: "somewhere"})
    assert ProfilerRule.sagemaker(report, name="Mine").name == "Mine"
    with pytest.raises(ValueError, match="expected rule_configs.ProfilerReport"):
        ProfilerRule.sagemaker(rule_configs.vanishing_gradient())
    beside: dict[str, Any] = {
        "rule_parameters": {"CPUBottleneck_threshold": "40"},
        "actions": rule_configs.StopTraining(),
        "collections_to_save": [CollectionConfig("weights")],
        "other_trials_s3_input_paths": ["runs/other"],
    }
    for name, value in beside.items():
        with pytest.raises(NotHere, match=f"{name}: of a rule of the profiler"):
            Rule.sagemaker(report, **{name: value})
