"""Printed: the lines in which a program says how an evaluation went, as `epoch 3: val acc 0.91`. Most programs compute what
they evaluate by in ways that nothing else sees; nearly all of them say it."""

from __future__ import annotations

import io
import re
import sys
from typing import Any, Callable, NamedTuple, Optional

from ...faults import is_of_signal_handler
from .. import gates
from ..contents import attributes_of

_MAX_LINE = 400
# Lines are kept as they come, up to so many, and later each time after this many more steps than before.
_DENSE_LINES = 300
_GROWTH = 1.02
_MAX_WAITING = 64
# What a line has that may be of an evaluation; what it means is read where it is judged.
_TELLING = re.compile(
    r"val|test|eval|dev|hold|acc|auc|f1|iou|dice|recall|precision|score|hit|ndcg|mrr|bleu|psnr|r2|rmse|mse|mae|err|ppl|perplex|cer|wer",
    re.IGNORECASE,
)
_DIGIT = re.compile(r"\d")


class Line(NamedTuple):
    step: int  # the train step that was the last one then
    is_after_evaluation: bool
    text: str


# Where a line goes that a program has printed; None: nowhere.
_sink: Optional[Callable[[str], None]] = None


def send_to(sink: Optional[Callable[[str], None]]) -> None:
    """From here on what goes through standard output and standard error is told."""
    global _sink
    _sink = sink
    if sink is not None:
        for stream in (sys.stdout, sys.stderr):
            _watch(stream)


def _watch(stream: Any) -> None:
    if not isinstance(stream, io.TextIOBase) or "write" in attributes_of(stream):
        return  # a class of the program's own, or somebody stands there already, perhaps we
    rest = [""]

    def begins(text: Any = None, *more: Any) -> Any:
        return (text,) if type(text) is str else None

    def ends(note: Any, _: Any) -> None:
        try:
            _see(note[0], rest)
        except Exception as error:  # what is printed is never in the way of the program
            rest[0] = ""
            if is_of_signal_handler(error):
                raise

    stream.write = gates.stand_in(stream.write, gates.Around(begins, ends))  # type: ignore[method-assign]


def _see(text: str, rest: list[str]) -> None:
    if _sink is None:
        return
    if "\n" not in text and "\r" not in text:
        if len(rest[0]) < _MAX_LINE:
            rest[0] += text
        return
    *lines, rest[0] = (rest[0] + text).replace("\r", "\n").split("\n")
    for line in lines[-_MAX_WAITING:]:
        send(line)


def send(line: str) -> None:
    """Of one line, where it may be of an evaluation."""
    if _sink is not None and line and len(line) <= _MAX_LINE and _TELLING.search(line) and _DIGIT.search(line):
        _sink(line)


class Printed:
    """Lines of one training that wait to be written."""

    def __init__(self) -> None:
        self._waiting: list[Line] = []
        self._kept = 0
        self._next_step = 0

    def add(self, step: int, is_after_evaluation: bool, text: str) -> None:
        if self._kept >= _DENSE_LINES:
            if step < self._next_step:
                return
            self._next_step = max(step + 1, round(step * _GROWTH))
        self._kept += 1
        self._waiting = [*self._waiting[1 - _MAX_WAITING :], Line(step, is_after_evaluation, text)]

    @property
    def is_empty(self) -> bool:
        return not self._waiting

    def take(self) -> list[Line]:
        taken, self._waiting = self._waiting, []
        return taken
