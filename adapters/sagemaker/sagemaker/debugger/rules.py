"""Rule and ProfilerRule: what judges a training."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from .._keywords import Keyword, Keywords
from ..exceptions import NotHere
from .actions import Action, ActionList
from .hook_config import CollectionConfig

_PARAMETERS = Keyword("rule_parameters", "the rule's parameters; `trainwarden rules NAME` lists them")
_NAME = Keyword("name", "what the rule is called in the job (its own name)")
_OTHER_RUN = Keyword("other_trials_s3_input_paths", "a list with the run that this one is compared with")
_COLLECTIONS = Keyword("collections_to_save", "a list of CollectionConfig that are captured for it")
_ACTIONS = Keyword("actions", "an action, or rule_configs.ActionList: what it starts when it fires")
RULE_SAGEMAKER = Keywords(
    "Rule.sagemaker",
    [
        Keyword("base_config", "which rule: rule_configs.vanishing_gradient()"),
        _NAME,
        _OTHER_RUN,
        _PARAMETERS,
        _COLLECTIONS,
        _ACTIONS,
    ],
)
RULE_CUSTOM = Keywords(
    "Rule.custom",
    [
        _NAME,
        Keyword("image_uri", "leave it out: a rule of your own runs in this environment", refused=True),
        Keyword("instance_type", "leave it out: a rule of your own runs beside its training", refused=True),
        Keyword("volume_size_in_gb", "leave it out: a rule of your own runs beside its training", refused=True),
        Keyword("source", "the file with the rule's class, for Trainwarden (docs/guide/own-rules.md)"),
        Keyword("rule_to_invoke", "the name of the class"),
        Keyword("container_local_output_path", "leave it out: verdicts are written into the run", refused=True),
        Keyword("s3_output_path", "leave it out: verdicts are written into the run", refused=True),
        _OTHER_RUN,
        _PARAMETERS,
        _COLLECTIONS,
        _ACTIONS,
    ],
)
PROFILER_RULE_SAGEMAKER = Keywords(
    "ProfilerRule.sagemaker",
    [
        Keyword("base_config", "which rule: rule_configs.ProfilerReport()"),
        _NAME,
        Keyword("container_local_output_path", "leave it out: verdicts are written into the run", refused=True),
        Keyword(
            "s3_output_path", "leave it out: the report is in the job's output_path, JOB/rule-output/NAME", refused=True
        ),
    ],
)


class RuleBase:
    """What all kinds of rules have."""

    name: str


class Rule(RuleBase):
    """A rule on captured tensors. Made by sagemaker(), of those that come with Trainwarden, or by custom().

    Attributes:
        name: what it is called in the job.
        rule_parameters: texts; `rule_to_invoke` is the rule's class.
        collection_configs: what is captured for it besides what it needs by itself.
    """

    def __init__(self, name: str, rule_parameters: Mapping[str, str], collection_configs: Sequence[CollectionConfig]):
        self.name = name
        self.rule_parameters = dict(rule_parameters)
        self.collection_configs = list(collection_configs)

    @classmethod
    def sagemaker(cls, *positional: Any, **given: Any) -> RuleBase:
        """A rule that comes with Trainwarden; of one of the profiler a ProfilerRule."""
        options = RULE_SAGEMAKER.take(positional, given)
        config = options["base_config"]
        if isinstance(config, dict) and "ProfilerRuleConfiguration" in config:
            _refuse_beside_profiler(options)
            return ProfilerRule.sagemaker(config, options["name"])
        if not isinstance(config, dict) or "DebugRuleConfiguration" not in config:
            raise ValueError(
                f"Rule.sagemaker: base_config: expected rule_configs.vanishing_gradient() or another, found {config!r}"
            )
        base = config["DebugRuleConfiguration"]
        name = options["name"] or base["RuleConfigurationName"]
        return cls(name, {**base["RuleParameters"], **_parameters(options)}, options["collections_to_save"] or [])

    @classmethod
    def custom(cls, *positional: Any, **given: Any) -> Rule:
        """A rule of one's own: a class of `trainwarden.rules` in a file."""
        options = RULE_CUSTOM.take(positional, given)
        for wanted in ("name", "source", "rule_to_invoke"):
            if not options[wanted]:
                raise ValueError(f"Rule.custom: {wanted}: {RULE_CUSTOM[wanted].does}")
        own = {"source_s3_uri": options["source"], "rule_to_invoke": options["rule_to_invoke"]}
        return cls(options["name"], {**own, **_parameters(options)}, options["collections_to_save"] or [])

    def request(self) -> dict[str, Any]:
        """As an element of DebugRuleConfigurations."""
        return {
            "RuleConfigurationName": self.name,
            "RuleEvaluatorImage": "trainwarden",
            "RuleParameters": self.rule_parameters,
        }


class ProfilerRule(RuleBase):
    """A rule on where the time of a training goes. It judges the same run as all others."""

    def __init__(self, name: str, rule_parameters: Mapping[str, str]):
        self.name = name
        self.rule_parameters = dict(rule_parameters)

    @classmethod
    def sagemaker(cls, *positional: Any, **given: Any) -> ProfilerRule:
        """A rule that comes with Trainwarden."""
        options = PROFILER_RULE_SAGEMAKER.take(positional, given)
        config = options["base_config"]
        if not isinstance(config, dict) or "ProfilerRuleConfiguration" not in config:
            raise ValueError(
                f"ProfilerRule.sagemaker: base_config: expected rule_configs.ProfilerReport() or another rule of the "
                f"profiler, found {config!r}"
            )
        base = config["ProfilerRuleConfiguration"]
        return cls(options["name"] or base["RuleConfigurationName"], base["RuleParameters"])

    @classmethod
    def custom(cls, name: str, *_: Any, **__: Any) -> ProfilerRule:
        raise NotHere(
            f"ProfilerRule.custom: {name}: use Rule.custom(): a rule of one's own over time judges samples and phases too "
            "(docs/guide/own-rules.md)"
        )

    def request(self) -> dict[str, Any]:
        """As an element of ProfilerRuleConfigurations."""
        return {
            "RuleConfigurationName": self.name,
            "RuleEvaluatorImage": "trainwarden",
            "RuleParameters": self.rule_parameters,
        }


def _refuse_beside_profiler(options: Mapping[str, Any]) -> None:
    """
    Raises:
        NotHere: something that a rule of the profiler does not have.
    """
    instead = {
        "rule_parameters": "give them to the configuration: rule_configs.BatchSize(window=300)",
        "actions": "subscribe to the run's events (docs/reference/actions.md)",
        "collections_to_save": "it judges phases and samples, not tensors; leave it out",
        "other_trials_s3_input_paths": "it judges one run; leave it out",
    }
    for name, what in instead.items():
        if options[name]:
            raise NotHere(f"Rule.sagemaker: {name}: of a rule of the profiler: {what}")


def _parameters(options: Mapping[str, Any]) -> dict[str, str]:
    """What is said beside the base configuration, as texts."""
    parameters = {str(name): str(value) for name, value in (options["rule_parameters"] or {}).items()}
    others = options["other_trials_s3_input_paths"] or []
    if len(others) > 1:
        raise ValueError(f"other_trials_s3_input_paths: expected one run, found {len(others)}")
    if others:
        parameters["other_trials"] = others[0]
    actions = options["actions"]
    if isinstance(actions, Action):
        actions = ActionList(actions)
    if actions is not None and not isinstance(actions, ActionList):
        raise ValueError(f"actions: expected rule_configs.ActionList(...), found {actions!r}")
    if actions is not None and actions.actions:
        parameters["action_json"] = actions.serialize()
    return parameters
