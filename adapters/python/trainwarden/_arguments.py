"""What an untouched program parsed of its command line: the run's hyper-parameters, unless somebody says others.

argparse is watched, not changed: who parses sees the same results and the same errors. Only the command line of the
process counts, and of that only names and plain values; secrets among them are masked when the run is created.
"""

from __future__ import annotations

import functools
import sys
from collections.abc import Mapping
from typing import Any, Optional

_MAX_PARAMETERS = 200
_MAX_CHARACTERS = 200

_parsed: dict[str, str] = {}
_known: dict[str, str] = {}


def parsed_parameters() -> dict[str, str]:
    """Name to value, as text; empty when nothing has been parsed yet."""
    return {**_parsed, **_known}


def know(parameters: Mapping[str, str]) -> None:
    """What a library's trainer says of the training that is about to begin, beside what was parsed."""
    _known.clear()
    _known.update(parameters)


def watch_argparse() -> None:
    """From now on what argparse.ArgumentParser makes of the command line is kept. Called once argparse is imported."""
    import argparse

    original = argparse.ArgumentParser.parse_known_args

    @functools.wraps(original)
    def parse_known_args(self: Any, args: Any = None, namespace: Any = None) -> Any:
        result = original(self, args, namespace)
        try:
            if _is_command_line(args):
                _keep(dict(vars(result[0])))
        except Exception:
            pass  # for any kind of namespace, the program parses as it would without us
        return result

    argparse.ArgumentParser.parse_known_args = parse_known_args  # type: ignore[method-assign]


def _is_command_line(args: Any) -> bool:
    return args is None or list(args) == sys.argv[1:]


def _keep(values: dict[str, Any]) -> None:
    for name, value in values.items():
        text = _plain(value)
        if text is not None and not name.startswith("_") and (name in _parsed or len(_parsed) < _MAX_PARAMETERS):
            _parsed[name] = text


def _plain(value: Any) -> Optional[str]:
    """Texts, numbers and switches; lists and objects are nobody's hyper-parameter at a glance."""
    if not isinstance(value, (bool, int, float, str)):
        return None
    text = str(value)
    return text if len(text) <= _MAX_CHARACTERS else None
