"""python -m trainwarden.rule_host: runs a rule of a Python file for an engine in another process.

Not for people: `--rule my_rules.py:MyRule:threshold=3` of the program `trainwarden` starts it. Questions come, and
answers go, one JSON object a line, over the socket that is file descriptor 3; docs/guide/own-rules.md describes them.
What the rule itself prints goes to the engine, which shows the last of it when the rule fails.
"""

from __future__ import annotations

import abc
import importlib.util
import inspect
import json
import math
import os
import socket
import sys
import typing
from collections.abc import Callable, Iterable, Mapping
from types import ModuleType
from typing import Any

from .options import Collection
from .rules import Rule, judge_step
from .trial import Trial, open as open_trial
from .verdicts import Verdict

_SOCKET = 3
_MOST_EVIDENCE = 20
_FORMS = ("values", "statistics", "histogram", "hash", "shape")


class Refusal(Exception):
    """The rule cannot be made; the message says why."""


def main() -> int:
    try:
        channel = socket.socket(fileno=_SOCKET)
    except OSError as error:
        print(f"rule_host is started by trainwarden, not by hand ({error})", file=sys.stderr)
        return 2
    channel.set_inheritable(False)
    with channel, channel.makefile("rb") as questions:
        host = Host()
        for line in questions:
            answer = host.answer(json.loads(line))
            sys.stdout.flush()
            channel.sendall(json.dumps(answer, allow_nan=False).encode() + b"\n")
    return 0


class Host:
    """One rule."""

    def __init__(self) -> None:
        self._make: Callable[[Trial], Rule] | None = None
        self._rule: Rule | None = None
        self._trial: Trial | None = None

    def answer(self, question: Mapping[str, Any]) -> dict[str, Any]:
        if question["ask"] == "judge":
            return _verdict_json(self._judge(question["step"]))
        try:
            if question["ask"] == "open":
                self._open(question["run"])
                return {}
            return self._start(question["file"], question["rule"], question["parameters"])
        except Refusal as refusal:
            return {"error": str(refusal)}
        except Exception as error:
            return {"error": f"{type(error).__name__}: {error}"}

    def _start(self, file: str, name: str, parameters: Mapping[str, str]) -> dict[str, Any]:
        found = find_rule(load(file), name)
        if hasattr(found, "for_engine"):
            arguments = _arguments_of(found, parameters, skip=2)
            self._make = lambda trial: found.for_engine(trial.path, **arguments)
            return {"needs": []}
        rule = found(**_arguments_of(found, parameters, skip=1))
        if not isinstance(rule, Rule):
            raise Refusal(f"{name} makes no trainwarden.rules.Rule, but {rule!r}")
        self._rule = rule
        return {"needs": [_need_json(need) for need in rule.needs()]}

    def _open(self, run: str) -> None:
        self._trial = open_trial(run)
        if self._make is not None:
            self._rule = self._make(self._trial)

    def _judge(self, step: int) -> Verdict:
        if self._rule is None or self._trial is None:
            return Verdict.error("it was asked to judge before it was started and a run opened")
        self._trial.refresh()
        return judge_step(self._rule, self._trial, step)


def load(file: str) -> ModuleType:
    """Imports the file as a module of its name. Its neighbours can be imported from it."""
    sys.path.insert(0, os.path.dirname(file))
    name = os.path.splitext(os.path.basename(file))[0]
    spec = importlib.util.spec_from_file_location(name, file)
    if spec is None or spec.loader is None:
        raise Refusal("it is no Python file")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


def find_rule(module: ModuleType, name: str) -> Any:
    """The class or function of this name, or the only one when the name is empty.

    A class that is made with the run in its hands, as those of smdebug are, gives a Rule by for_engine(run, **arguments).
    """
    candidates = {key: thing for key, thing in vars(module).items() if _is_rule(thing, module)}
    if name in candidates:
        return candidates[name]
    if not name and len(candidates) == 1:
        return next(iter(candidates.values()))
    if not candidates:
        raise Refusal("the file has no rule: a class derived from trainwarden.rules.Rule, or a function with @rule")
    wanted = f'no rule "{name}"' if name else "several rules, and none was named"
    raise Refusal(f"the file has {wanted}; it has {', '.join(sorted(candidates))}")


def _is_rule(thing: Any, module: ModuleType) -> bool:
    if inspect.isclass(thing):
        is_kind = issubclass(thing, Rule) or callable(getattr(thing, "for_engine", None))
        is_abstract = inspect.isabstract(thing) or abc.ABC in thing.__bases__
        return is_kind and not is_abstract and thing.__module__ == module.__name__
    return bool(getattr(thing, "makes_rule", False)) and thing.__module__ == module.__name__


def _arguments_of(found: Any, parameters: Mapping[str, str], skip: int) -> dict[str, Any]:
    """The texts as what the rule declares them to be: by annotation, else by the default's type, else text.

    skip: how many parameters of the signature are not the user's (the object itself, and the trial).
    """
    function = found.__init__ if inspect.isclass(found) else found
    if function is object.__init__:
        function, skip = _without_parameters, 0
    try:
        hints = typing.get_type_hints(inspect.unwrap(function))
    except Exception:  # a name that exists for the type checker only
        hints = {}
    signature = list(inspect.signature(function).parameters.values())[skip:]
    takes_any = any(parameter.kind is parameter.VAR_KEYWORD for parameter in signature)
    known = {parameter.name: parameter for parameter in signature if parameter.kind in _BY_NAME}
    arguments = {}
    for name, text in parameters.items():
        if name not in known and not takes_any:
            raise Refusal(f'it has no parameter "{name}"; its parameters are {", ".join(known) or "none"}')
        default = known[name].default if name in known else inspect.Parameter.empty
        arguments[name] = _value(name, text, hints.get(name, type(default)))
    missing = [name for name, parameter in known.items() if parameter.default is parameter.empty]
    missing = [name for name in missing if name not in arguments]
    if missing:
        raise Refusal(f"it needs {', '.join(missing)}; write NAME.py:Rule:{missing[0]}=...")
    return arguments


def _without_parameters() -> None:
    """The signature of a class that has no __init__."""


_BY_NAME = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
_TRUTHS = {"true": True, "1": True, "yes": True, "on": True, "false": False, "0": False, "no": False, "off": False}


def _value(name: str, text: str, kind: Any) -> Any:
    if type(None) in typing.get_args(kind):  # Optional[float]
        kind = typing.get_args(kind)[0]
    try:
        if kind is bool:
            return _TRUTHS[text.lower()]
        return kind(text) if kind in (int, float) else text
    except (KeyError, ValueError):
        raise Refusal(f'parameter {name}: expected {kind.__name__}, found "{text}"') from None


def _need_json(need: str | Collection) -> dict[str, Any]:
    if isinstance(need, str):
        return {"name": need, "include": [], "every": 1, "keep": ["statistics"]}
    if not isinstance(need, Collection):
        raise Refusal(f"needs() gave {need!r}; expected names of collections or Collection objects")
    every = 1 if need.save is None else need.save
    if not isinstance(every, int):
        raise Refusal(f"needs(): collection {need.name} has save={every!r}; expected a number of steps")
    if need.tensor_names:
        raise Refusal(f"needs(): collection {need.name} has tensor_names; expected patterns in include")
    return {"name": need.name, "include": _texts(need.include), "every": every, "keep": _forms(need)}


def _forms(need: Collection) -> list[str]:
    keep = "statistics" if need.keep is None else need.keep
    if isinstance(keep, (str, list, tuple)):
        return _texts(keep)
    values = keep if isinstance(keep, Mapping) else vars(keep)
    return [form for form in _FORMS if values.get(form, False)]


def _texts(texts: str | Iterable[str]) -> list[str]:
    return [texts] if isinstance(texts, str) else list(texts)


def _verdict_json(verdict: Verdict) -> dict[str, Any]:
    return {
        "outcome": verdict.outcome.value,
        "severity": verdict.severity.value,
        "confidence": _number(verdict.confidence),
        "message": verdict.message,
        "advice": verdict.advice,
        "evidence": [
            {
                "tensor": _escaped(evidence.tensor),
                "worker": evidence.worker,
                "quantity": evidence.quantity,
                "value": _number(evidence.value),
                "threshold": _number(evidence.threshold),
                "step": int(evidence.global_step),
            }
            for evidence in verdict.evidence[:_MOST_EVIDENCE]
        ],
    }


def _number(number: float) -> float | str:
    """JSON has no NaN and no infinities."""
    number = float(number)
    if math.isfinite(number):
        return number
    return "NaN" if math.isnan(number) else "Infinity" if number > 0 else "-Infinity"


def _escaped(name: str) -> str:
    """As docs/format/records.md has it: a byte that is not UTF-8 (a surrogate here) is %XX, and % is %25."""
    if name == "__metadata__":
        return "%5F_metadata__"
    return "".join(
        "%25" if c == "%" else f"%{ord(c) - 0xDC00:02X}" if 0xDC80 <= ord(c) <= 0xDCFF else c for c in name
    )


if __name__ == "__main__":
    sys.exit(main())
