"""python -m smdebug.rules.rule_invoker: judges a run with a rule, under the engine of Trainwarden.

    ... --trial-dir runs/first --rule-name VanishingGradient --rule-parameters threshold=1e-6
    ... --trial-dir runs/first --rule-name my_rules.GradientsAreSmall --start-step 100
    ... --trial-dir runs/first --rule-file my_rules.py --rule-name GradientsAreSmall --other-trials runs/zeroth

A rule of Trainwarden's by its name; one of one's own by its class, in a module or in a file. Exit code 0: no issue
found, 1: the rule failed, 2: wrong usage, 3: the rule fired, 4: data of the run are lost.
"""

from __future__ import annotations

import argparse
import importlib
import importlib.util
import inspect
import sys
from collections.abc import Mapping
from types import ModuleType
from typing import Any

import trainwarden
from trainwarden import rules
from trainwarden.rules import Report, RuleState

from ..exceptions import SMDebugError
from ..trials import create_trial
from . import engine
from .rule import Rule

_FINE, _FAILED, _USAGE, _FIRED, _DATA_LOST = range(5)


class _UsageError(Exception):
    """The command cannot be carried out; the message says why."""


def main(arguments: list[str] | None = None) -> int:
    """Returns the exit code. `arguments`: those of the command line."""
    options = _parser().parse_args(arguments)
    try:
        report = _judge(options)
    except (_UsageError, ValueError) as error:
        return _report_error(error, _USAGE)
    except trainwarden.DataLoss as error:
        return _report_error(error, _DATA_LOST)
    except (SMDebugError, trainwarden.Error) as error:
        return _report_error(error, _FAILED)
    for status in report.statuses:
        print(f"{status.rule_id}  {status.status.value}  {status.details}")
    if report.fired:
        return _FIRED
    return _FAILED if any(status.status is RuleState.ERROR for status in report.statuses) else _FINE


def _report_error(error: Exception, exit_code: int) -> int:
    print(f"rule_invoker: error: {error}", file=sys.stderr)
    return exit_code


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m smdebug.rules.rule_invoker", description="Judges a run.")
    parser.add_argument("--trial-dir", required=True, help="folder of the run")
    parser.add_argument("--other-trials", nargs="+", default=[], metavar="DIR", help="runs to compare it with")
    parser.add_argument("--rule-name", required=True, help="a built-in rule, a class, or module.Class")
    parser.add_argument("--rule-file", metavar="FILE", help="Python file that has the class")
    parser.add_argument("--rule-parameters", nargs="+", default=[], metavar="NAME=VALUE", help="of the rule")
    parser.add_argument("--action-json", metavar="JSON", help='as {"name": "stoptraining", "training_job_prefix": ""}')
    parser.add_argument("--start-step", type=int, metavar="N", help="first global step that is judged")
    parser.add_argument("--end-step", type=int, metavar="N", help="the step before which judging ends")
    parser.add_argument("--keep-going", action="store_true", help="judge on when the rule has fired")
    parser.add_argument("--no-follow", action="store_true", help="judge what is there; wait for nothing")
    return parser


def _judge(options: argparse.Namespace) -> Report:
    parameters = _parameters(options.rule_parameters)
    kind = _class_of(options)
    if kind is None:
        return _judge_built_in(options, parameters)
    trial = create_trial(options.trial_dir)
    parameters["action_str"] = options.action_json
    parameters["other_trials"] = [create_trial(folder) for folder in options.other_trials] or None
    rule = kind(base_trial=trial, **_accepted(kind, parameters))
    return engine.run(
        rule,
        start_step=options.start_step,
        end_step=options.end_step,
        follow=not options.no_follow,
        keep_going=options.keep_going,
    )


def _judge_built_in(options: argparse.Namespace, parameters: Mapping[str, Any]) -> Report:
    if options.other_trials or options.start_step is not None or options.end_step is not None:
        raise _UsageError(
            f"{options.rule_name} is built in and judges the whole of one run; leave out --other-trials, "
            "--start-step and --end-step"
        )
    text = ",".join(f"{name}={value}" for name, value in parameters.items())
    trial = create_trial(options.trial_dir)
    return rules.run(
        trial.source,
        f"{options.rule_name}:{text}" if text else options.rule_name,
        follow=not options.no_follow,
        keep_going=options.keep_going,
        on_fire="stop" if options.action_json and "stoptraining" in options.action_json.lower() else "report",
        write_journal=trial.source.recorder == "trainwarden",
    )


def _parameters(texts: list[str]) -> dict[str, Any]:
    parameters: dict[str, Any] = {}
    for text in texts:
        name, equals, value = text.partition("=")
        if not equals or not name:
            raise _UsageError(f"expected NAME=VALUE in --rule-parameters, found {text!r}")
        parameters[name] = value
    return parameters


def _class_of(options: argparse.Namespace) -> type[Rule] | None:
    """None: a built-in rule."""
    module_name, _, class_name = options.rule_name.rpartition(".")
    if not options.rule_file and not module_name:
        return None
    module = _module_of_file(options.rule_file) if options.rule_file else _module_named(module_name)
    found = getattr(module, class_name, None)
    if not inspect.isclass(found) or not issubclass(found, Rule):
        known = [name for name, kind in vars(module).items() if inspect.isclass(kind) and issubclass(kind, Rule)]
        raise _UsageError(f"no rule {class_name} in {module.__name__}; it has {', '.join(known) or 'none'}")
    return found


def _module_named(name: str) -> ModuleType:
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as missing:
        raise _UsageError(f"no module {name}: {missing}; or name its file with --rule-file") from missing


def _module_of_file(path: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location("smdebug_rule_file", path)
    if spec is None or spec.loader is None:
        raise _UsageError(f"expected a Python file in --rule-file, found {path!r}")
    module = importlib.util.module_from_spec(spec)
    try:
        spec.loader.exec_module(module)
    except FileNotFoundError as missing:
        raise _UsageError(f"no file {path}") from missing
    return module


def _accepted(kind: type[Rule], parameters: Mapping[str, Any]) -> dict[str, Any]:
    """Those that the class takes. One that was not given (None) goes only to a class that names it."""
    taken = inspect.signature(kind.__init__).parameters
    takes_all = any(parameter.kind is parameter.VAR_KEYWORD for parameter in taken.values())
    given = {name for name, value in parameters.items() if value is not None}
    lost = [name for name in given if name not in taken and not takes_all]
    if lost:
        known = ", ".join(name for name in taken if name not in ("self", "base_trial")) or "none"
        raise _UsageError(f"{kind.__name__} has no parameter {', '.join(sorted(lost))}; it has {known}")
    return {name: value for name, value in parameters.items() if name in taken or name in given}
