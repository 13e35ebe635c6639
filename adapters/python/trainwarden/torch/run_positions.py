"""Run positions: where the training of a run was when it saved a file, noted in the run's file positions.jsonl.

A note is found by what the saved file holds, wherever that lies by then. It costs who saves a look at the file's end,
the hash of 64 KiB and a line that is appended; where the run cannot be written nothing is noted.
"""

from __future__ import annotations

import hashlib
import json
import os
import stat
from collections.abc import Mapping
from typing import Any, BinaryIO, NamedTuple, Optional

from .. import faults

_FILE = "positions.jsonl"
# The end of an archive of torch.save lists the checksums of all that is in it.
_TAIL_BYTES = 64 << 10
MAX_NOTE_BYTES = 4096
# A file that grows beyond this many bytes keeps its newest notes, about two hundred.
_MAX_BYTES = 64 << 10
_KEPT_BYTES = _MAX_BYTES // 2
_MODES = ("train", "eval", "predict")
_MAX_STEP = 1 << 62
_NO_LINK = getattr(os, "O_NOFOLLOW", 0)


class Position(NamedTuple):
    """Where a training is."""

    global_step: int  # the number of the next step
    mode_steps: dict[str, int]  # the same within train, eval and predict


def note_of(position: Position) -> str:
    return json.dumps({"global_step": position.global_step, "mode_steps": position.mode_steps})


def position_in(note: Any) -> Optional[Position]:
    if not isinstance(note, Mapping) or not isinstance(note.get("mode_steps"), Mapping):
        return None
    modes = {str(mode): steps for mode, steps in note["mode_steps"].items()}
    numbers = [note.get("global_step"), *modes.values()]
    if not all(isinstance(number, int) and 0 <= number < _MAX_STEP for number in numbers):
        return None
    return Position(note["global_step"], {mode: steps for mode, steps in modes.items() if mode in _MODES})


def content_id(file: BinaryIO) -> str:
    """Of a file as it is, wherever it lies."""
    size = file.seek(0, os.SEEK_END)
    file.seek(max(0, size - _TAIL_BYTES))
    return hashlib.sha256(b"%d:" % size + file.read(_TAIL_BYTES)).hexdigest()


class RunPositions:
    """The notes of one run, of all processes that are captured in it and beside it."""

    def __init__(self, run: str) -> None:
        self._path = os.path.join(run, _FILE)
        self._is_off = False

    def note(self, path: str, position: Position) -> None:
        """The training has just saved this file."""
        if self._is_off:
            return
        try:
            content = _content_of(path)
            if content is not None:
                self._append(f'{{"content": "{content}", {note_of(position)[1:]}\n'.encode())
        except OSError as error:
            self._is_off = True
            faults.say_once(f"where the training saves is not noted; who goes on from there counts from 0: {error}")

    def find(self, path: str) -> Optional[Position]:
        """Where the training was that saved this file; None where nobody knows, or where it is no state of one."""
        try:
            notes = self._read()
            content = _content_of(path) if notes else None
        except OSError:  # nobody has saved anything
            return None
        found = [each for each in map(_read_line, notes) if each is not None and each[0] == content]
        # A file that is saved again and again without a change, as options are, holds no state of a training.
        are_one = len({position.mode_steps.get("train", 0) for _, position in found}) == 1
        return found[-1][1] if are_one else None

    def _append(self, line: bytes) -> None:
        file = os.open(self._path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | _NO_LINK, 0o666)
        try:
            os.write(file, line)
            is_full = os.fstat(file).st_size > _MAX_BYTES
        finally:
            os.close(file)
        if is_full:
            self._forget_old()

    def _read(self) -> list[bytes]:
        file = os.open(self._path, os.O_RDONLY | _NO_LINK)
        try:
            return os.read(file, 2 * _MAX_BYTES).splitlines(keepends=True)
        finally:
            os.close(file)

    def _forget_old(self) -> None:
        lines = self._read()
        while lines and sum(map(len, lines)) > _KEPT_BYTES:
            del lines[: max(1, len(lines) // 8)]
        partial = f"{self._path}.{os.getpid()}.tmp"
        file = os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_EXCL | _NO_LINK, 0o666)
        try:
            os.write(file, b"".join(lines))
        finally:
            os.close(file)
        os.replace(partial, self._path)


def _read_line(line: bytes) -> Optional[tuple[Any, Position]]:
    """None of one that is damaged, or cut off as its process was killed."""
    try:
        note = json.loads(line)
    except ValueError:
        return None
    position = position_in(note)
    return None if position is None else (note.get("content"), position)


def _content_of(path: str) -> Optional[str]:
    """None of what is no file, whose reading could wait for somebody."""
    if not stat.S_ISREG(os.stat(path).st_mode):
        return None
    with open(path, "rb", buffering=0) as file:
        return content_id(file)
