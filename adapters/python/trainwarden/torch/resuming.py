"""Resuming: a program of a job that saves and loads its checkpoints in the job's checkpoint folder counts its steps on.

When torch.save writes a file there (TRAINWARDEN_CHECKPOINT_DIR), it is written under another name first, so that it is
there whole or not at all, and the position of the training (how many steps it has made, in all and in each mode) is
noted beside it, under a name that is made from the file's content. When a later attempt loads that file, its hook begins
to count there. A program that writes and reads in other ways calls checkpoint_saved() and checkpoint_loaded().
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping
from typing import Any, Callable, NamedTuple, Optional

from .. import faults

_NOTES = ".trainwarden"
# The end of an archive of torch.save lists the checksums of all that is in it.
_TAIL_BYTES = 64 << 10
_MAX_NOTE_BYTES = 4096
_MAX_NOTES = 200
_MODES = ("train", "eval", "predict")
_MAX_STEP = 1 << 62


class Position(NamedTuple):
    """Where a training is."""

    global_step: int  # the number of the next step
    mode_steps: dict[str, int]  # the same within train, eval and predict


_folder: Optional[str] = os.environ.get("TRAINWARDEN_CHECKPOINT_DIR") or None
_current: Callable[[], Optional[Position]] = lambda: None  # of the training of this process
_loaded: Optional[Position] = None


def is_on() -> bool:
    return _folder is not None


def follow(current: Callable[[], Optional[Position]]) -> None:
    """`current` gives where this process's training is; None when it has not begun."""
    global _current
    _current = current


def first_position() -> Optional[Position]:
    """Where the training goes on: that of the checkpoint that was loaded last; None when none was."""
    return _loaded


class PartialSave:
    """A checkpoint of the job that torch.save writes under another name first, with these arguments."""

    def __init__(self, path: str, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> None:
        self._path, self._partial = path, f"{path}.partial-{os.getpid()}"
        is_named = len(args) < 2
        self.args = args if is_named else (args[0], self._partial, *args[2:])
        self.kwargs = {**kwargs, "f": self._partial} if is_named else dict(kwargs)

    def put(self) -> None:
        """It is written: it gets its name, with a note of the position."""
        try:
            _sync(self._partial)
            _note(self._partial)
            os.replace(self._partial, self._path)
        except BaseException:
            self.drop()
            raise

    def drop(self) -> None:
        """Saving has failed."""
        _remove(self._partial)


def save_begins(args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Optional[PartialSave]:
    """torch.save is called. None: it writes no checkpoint of the job."""
    path = _path_within(args[1] if len(args) > 1 else kwargs.get("f"))
    return None if path is None else PartialSave(path, args, kwargs)


def loaded(args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> None:
    """torch.load has come to its end; where it was a checkpoint of the job, its position is that of this process."""
    path = _path_within(args[0] if args else kwargs.get("f"))
    if path is not None:
        _take_up(path)


def checkpoint_saved(path: str | os.PathLike[str]) -> None:
    """A checkpoint was written to `path`, a file, in another way than with torch.save. Call it when the file is whole.

    Does nothing outside of a job and outside of its checkpoint folder.
    """
    within = _path_within(path)
    if within is not None:
        _note(within)


def checkpoint_loaded(path: str | os.PathLike[str]) -> None:
    """A checkpoint was read from `path` in another way than with torch.load. Call it before the training begins."""
    within = _path_within(path)
    if within is not None:
        _take_up(within)


def _path_within(file: Any) -> Optional[str]:
    """Its absolute path when it is named by a path in the job's checkpoint folder."""
    if _folder is None or not isinstance(file, (str, os.PathLike)):
        return None
    path = os.path.abspath(os.fspath(file))
    if not isinstance(path, str) or not path.startswith(os.path.abspath(_folder) + os.sep):
        return None
    return path


def _sync(path: str) -> None:
    with open(path, "rb") as file:
        os.fsync(file.fileno())


def _remove(path: str) -> None:
    try:
        os.unlink(path)
    except OSError:
        pass  # it was never made


@faults.guarded("note where the training was when a checkpoint was saved")
def _note(path: str) -> None:
    position = _current()
    if position is None:
        return
    note = _note_of(path)
    os.makedirs(os.path.dirname(note), exist_ok=True)
    partial = f"{note}.partial-{os.getpid()}"
    with open(partial, "w", encoding="utf-8") as file:
        json.dump({"global_step": position.global_step, "mode_steps": position.mode_steps}, file)
    os.replace(partial, note)
    _forget_old(os.path.dirname(note))


@faults.guarded("go on counting where a checkpoint was saved")
def _take_up(path: str) -> None:
    global _loaded
    try:
        with open(_note_of(path), encoding="utf-8") as file:
            note = json.loads(file.read(_MAX_NOTE_BYTES))
    except FileNotFoundError:
        return  # it was not saved by a job of ours
    position = _position_in(note)
    if position is None:
        raise ValueError(f"{_note_of(path)}: expected global_step and mode_steps")
    if _current() is not None:
        raise RuntimeError(f"{path} was loaded when the training had begun; its steps are counted on from there")
    _loaded = position


def _position_in(note: Any) -> Optional[Position]:
    if not isinstance(note, Mapping) or not isinstance(note.get("mode_steps"), Mapping):
        return None
    modes = {str(mode): steps for mode, steps in note["mode_steps"].items()}
    numbers = [note.get("global_step"), *modes.values()]
    if not all(isinstance(number, int) and 0 <= number < _MAX_STEP for number in numbers):
        return None
    return Position(note["global_step"], {mode: steps for mode, steps in modes.items() if mode in _MODES})


def _note_of(path: str) -> str:
    assert _folder is not None
    return os.path.join(os.path.abspath(_folder), _NOTES, _content_id(path) + ".json")


def _content_id(path: str) -> str:
    """Of a file as it is, wherever it lies."""
    with open(path, "rb") as file:
        size = file.seek(0, os.SEEK_END)
        file.seek(max(0, size - _TAIL_BYTES))
        return hashlib.sha256(b"%d:" % size + file.read(_TAIL_BYTES)).hexdigest()


def _forget_old(folder: str) -> None:
    notes = [entry for entry in os.scandir(folder) if entry.name.endswith(".json")]
    if len(notes) > _MAX_NOTES:
        for entry in sorted(notes, key=lambda each: each.stat().st_mtime)[: len(notes) - _MAX_NOTES]:
            _remove(entry.path)
