"""The metrics of a training: from its result file, or from the lines that it prints."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Optional

_NUMBER = r"[-+]?(?:(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?|(?i:nan|inf(?:inity)?))(?![\w.])"
_MOST_BYTES = 1 << 20


class ResultError(Exception):
    """A training has no result; the message says what was expected."""


class PrintedMetrics:
    """The last value of each metric in the lines that it is shown: `f1: 9.09`, `f1 = 9.09`, `"f1": 9.09`, `f1 9.09`."""

    def __init__(self, names: Iterable[str]):
        self.values: dict[str, float] = {}
        self._patterns = {
            name: re.compile(rf"(?<![\w/.-]){re.escape(name)}[\"']?\s*[:=]?\s*({_NUMBER})") for name in names
        }

    def take(self, line: str) -> None:
        for name, pattern in self._patterns.items():
            for found in pattern.finditer(line):
                self.values[name] = float(found[1])


class ResultFile:
    """A file that a training writes: one number, a JSON object, or lines such as `f1: 9.09`. What lay there before it
    began is no result of it."""

    def __init__(self, name: str, folder: Path, part: Optional[str] = None):
        """`part`: the object in the file that has the metrics."""
        self._part = part
        self._paths = [folder / name, Path(name)]
        self._before = {path: _mark(path) for path in self._paths}

    @property
    def place(self) -> Path:
        """Where it is expected first."""
        return self._paths[0]

    def read(self, names: list[str]) -> dict[str, float]:
        """ResultError when it was not written, or has none of `names`."""
        for path in self._paths:
            mark = _mark(path)
            if mark is not None and mark != self._before[path]:
                return _metrics_in(path, names, self._part)
        raise ResultError(f"no result file was written: neither {self._paths[0]} nor {self._paths[1]}")


def _mark(path: Path) -> Optional[tuple[int, int, int]]:
    try:
        stat = path.stat()
    except OSError:
        return None
    return stat.st_mtime_ns, stat.st_size, stat.st_ino


def _metrics_in(path: Path, names: list[str], part: Optional[str]) -> dict[str, float]:
    with open(path, encoding="utf-8", errors="replace") as file:
        text = file.read(_MOST_BYTES)
    lines = text.strip().splitlines()
    if lines and re.fullmatch(_NUMBER, lines[-1].strip()):
        if len(names) != 1:
            raise ResultError(f"{path}: expected lines NAME: NUMBER of {', '.join(names)}, found one number")
        return {names[0]: float(lines[-1])}
    return _of_object(text, names, part) or _of_lines(lines, names)


def _of_object(text: str, names: list[str], part: Optional[str]) -> dict[str, float]:
    try:
        content = json.loads(text)
    except ValueError:
        return {}
    if part is not None and isinstance(content, dict):
        content = content.get(part)
    if not isinstance(content, dict):
        return {}
    found = {name: content[name] for name in names if isinstance(content.get(name), (int, float))}
    return {name: float(value) for name, value in found.items()}


def _of_lines(lines: list[str], names: list[str]) -> dict[str, float]:
    printed = PrintedMetrics(names)
    for line in lines:
        printed.take(line)
    return printed.values
