"""What an untouched program parsed of its command line: the run's hyper-parameters, unless somebody says others.

argparse is watched, not changed: who parses sees the same results and the same errors. Only the command line of the
process counts, and of that only names and plain values; secrets among them are masked when the run is created.
"""

from __future__ import annotations

import functools
import itertools
import sys
from types import GetSetDescriptorType

from ._passing import passed_over

TYPE_CHECKING = False  # a program that trains nothing does not pay for typing
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any, Callable, Optional

_MAX_PARAMETERS = 200
_MAX_CHARACTERS = 200
_MAX_LOOKED_AT = 10_000

_SPELLINGS: dict[type, Callable[[Any], str]] = {
    bool: bool.__repr__, int: int.__repr__, float: float.__repr__, str: str.__str__,
}  # fmt: skip

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
    @passed_over
    def parse_known_args(self: Any, args: Any = None, namespace: Any = None) -> Any:
        result = original(self, args, namespace)
        _note(args, result)
        return result

    argparse.ArgumentParser.parse_known_args = parse_known_args  # type: ignore[method-assign]


def _note(args: Any, result: Any) -> None:
    try:
        if _is_command_line(args) and type(result) is tuple:
            _keep(_attributes_of(result[0]))
    except Exception:
        pass  # for any kind of namespace, the program parses as it would without us


def _is_command_line(args: Any) -> bool:
    """A stream of words, which is no list, may be read once: argparse has done that."""
    return args is None or (type(args) in (list, tuple) and list(args) == sys.argv[1:])


def _attributes_of(namespace: Any) -> dict[str, Any]:
    """Without a call of the program's code, whatever class it is of and however that gives its attributes."""
    places = (vars(kind).get("__dict__") for kind in type(namespace).__mro__)
    place = next((each for each in places if each is not None), None)
    return place.__get__(namespace) if type(place) is GetSetDescriptorType else {}


def _keep(values: dict[str, Any]) -> None:
    for name, value in itertools.islice(dict.items(values), _MAX_LOOKED_AT):
        text = plain_text(value) if type(name) is str and not name.startswith("_") else None
        if text is not None and (name in _parsed or len(_parsed) < _MAX_PARAMETERS):
            _parsed[name] = text


def plain_text(value: Any, most_characters: int = _MAX_CHARACTERS) -> Optional[str]:
    """Texts, numbers and switches; lists and objects are nobody's hyper-parameter at a glance. Of a class of the
    program's that is made of one of these its own spelling is not asked for."""
    kind = next((each for each in _SPELLINGS if issubclass(type(value), each)), None)
    if kind is None or _is_long(value, kind, most_characters):
        return None
    text = _SPELLINGS[kind](value)
    return text if len(text) <= most_characters else None


def _is_long(value: Any, kind: type, characters: int) -> bool:
    """Before it is spelt: Python refuses to spell numbers of thousands of digits."""
    return (kind is str and str.__len__(value) > characters) or (kind is int and int.bit_length(value) > 4 * characters)
