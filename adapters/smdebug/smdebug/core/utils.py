"""Small helpers that programs of smdebug's import."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from typing import Any

from ..exceptions import SMDebugRuntimeError


def match_inc(tname: str, include: Iterable[str | re.Pattern[str]]) -> bool:
    """Is one of the patterns (`re`) found anywhere in the name?"""
    return any(re.search(pattern, tname) for pattern in include)


def flatten(lis: Iterable[Any]) -> list[Any]:
    """The elements of a list and of the lists in it, in order."""
    flat: list[Any] = []
    for item in lis:
        if isinstance(item, list):
            flat.extend(flatten(item))
        else:
            flat.append(item)
    return flat


def split(comma_separated_string: str) -> list[str]:
    """ "a, b,c" → ["a", "b", "c"]"""
    return [part.strip() for part in comma_separated_string.split(",")]


def is_s3(path: str | os.PathLike[str]) -> tuple[bool, str | None, str | None]:
    """Is it an address in S3? Then its bucket and prefix, too."""
    found = re.match(r"s3://([^/]+)/?(.*)", os.fspath(path))
    return (True, found.group(1), found.group(2)) if found else (False, None, None)


def number_in(variable: str, default: int) -> int:
    """The number in an environment variable. SMDebugRuntimeError when it holds none from 0 on."""
    text = os.environ.get(variable, str(default)).strip()
    if not text.isdecimal():
        raise SMDebugRuntimeError(f"expected a number from 0 on in {variable}, found {text!r}")
    return int(text)
