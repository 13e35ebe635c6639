"""The rules of the profiler, with the parameters that SageMaker documents. What a rule takes here besides is the program's
own; what SageMaker has and nothing here does is an error that says why."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from .._keywords import Keyword, Keywords

RuleConfig = dict[str, Any]
Rules = Mapping[str, Mapping[str, Any]]  # of the program, as `trainwarden rules --json` has them, by name

_SCAN = "scan_interval_us"
_EVERY_MINUTE = 60_000_000  # SageMaker's default, in microseconds
_AT_EACH_STEP = Keyword(
    _SCAN, "leave it out: this rule judges each step as it comes, not files once a minute", _EVERY_MINUTE, refused=True
)
_ALL_MODES = Keyword("mode", "leave it out: a step is compared with those of its own mode", refused=True)
_REPORT = "ProfilerReport"
_TELEMETRY = "opt_out_telemetry"  # of the report itself; nothing is ever sent

# In SageMaker's order; a name is a parameter that the program's rule has, too.
_DOCUMENTED: dict[str, Sequence[str | Keyword]] = {
    "BatchSize": ("cpu_threshold_p95", "gpu_threshold_p95", "gpu_memory_threshold_p95", "patience", "window", _SCAN),
    "CPUBottleneck": ("threshold", "gpu_threshold", "cpu_threshold", "patience", _SCAN),
    "Dataloader": ("min_threshold", "max_threshold", _SCAN),
    "GPUMemoryIncrease": ("increase", "patience", "window", _SCAN),
    "IOBottleneck": ("threshold", "gpu_threshold", "io_threshold", "patience", _SCAN),
    "LoadBalancing": ("threshold", "patience", _SCAN),
    "LowGPUUtilization": ("threshold_p95", "threshold_p5", "window", "patience", _SCAN),
    "MaxInitializationTime": ("threshold", _AT_EACH_STEP),
    "OverallFrameworkMetrics": (_AT_EACH_STEP,),
    "OverallSystemUsage": (_SCAN,),
    "StepOutlier": ("stddev", _ALL_MODES, "n_outliers", _AT_EACH_STEP),
}


def is_of_profiler(name: str, rules: Rules) -> bool:
    """By its exact name: one that SageMaker's profiler has, or one of ours that judges where the time goes."""
    return name in rules and (name in _DOCUMENTED or name == _REPORT or bool(rules[name]["profiles"]))


def keywords_of(name: str, rules: Rules) -> Keywords:
    """What the rule takes: SageMaker's parameters first, then those that are the program's own."""
    own = {each["name"]: Keyword(each["name"], each["description"]) for each in rules[name]["parameters"]}
    documented = [own.pop(each) if isinstance(each, str) else each for each in _DOCUMENTED.get(name, ())]
    return Keywords(name, [*documented, *own.values()])


def configuration(name: str, rules: Rules) -> Callable[..., RuleConfig]:
    """The function that gives a configuration of this rule for ProfilerRule.sagemaker()."""
    if name == _REPORT:
        return _report(rules)
    keywords = keywords_of(name, rules)

    def configure(*positional: Any, **given: Any) -> RuleConfig:
        return _shape(name, _meant(keywords, keywords.take(positional, given)))

    configure.__name__ = name
    configure.__doc__ = f"{rules[name]['summary']}\n\nArguments:\n{keywords.text()}"
    configure.__signature__ = keywords.signature()  # type: ignore[attr-defined]
    return configure


def _report(rules: Rules) -> Callable[..., RuleConfig]:
    def configure(**parameters: Any) -> RuleConfig:
        meant: dict[str, str] = {}
        for key, value in parameters.items():
            if key == _TELEMETRY or _parameter_of_rule(key, value, rules):
                meant[key] = str(value)
        return _shape(_REPORT, meant)

    configure.__name__ = _REPORT
    configure.__doc__ = (
        f"{rules[_REPORT]['summary']}\n\nArguments are parameters of the rules that it asks, as <rule>_<parameter>, "
        "CPUBottleneck_threshold=40; names may be in any case."
    )
    return configure


def _parameter_of_rule(key: str, value: Any, rules: Rules) -> bool:
    """Whether the program is to be told of it: not of SageMaker's own default where nothing here does it.

    Raises:
        TypeError: no rule of the profiler has such a parameter.
        NotHere: SageMaker's has, and nothing here does it.
    """
    rule, _, parameter = key.partition("_")
    names = {name.lower(): name for name in rules if name != _REPORT and is_of_profiler(name, rules)}
    if not parameter or rule.lower() not in names:
        near = difflib.get_close_matches(rule.lower(), names, n=1)
        hint = f'; did you mean "{names[near[0]]}_{parameter}"?' if near else ""
        raise TypeError(f'{_REPORT}: expected <rule>_<parameter>, CPUBottleneck_threshold, found "{key}"{hint}')
    keywords = keywords_of(names[rule.lower()], rules)
    return bool(_meant(keywords, keywords.take((), {parameter.lower(): value})))


def _meant(keywords: Keywords, options: Mapping[str, Any]) -> dict[str, str]:
    """What the program is told, as texts."""
    return {key: str(value) for key, value in options.items() if value is not None and not keywords[key].refused}


def _shape(name: str, parameters: Mapping[str, str]) -> RuleConfig:
    return {
        "ProfilerRuleConfiguration": {
            "RuleConfigurationName": name,
            "RuleParameters": {"rule_to_invoke": name, **parameters},
        }
    }
