"""Resuming: a program that saves and loads its checkpoints counts its steps on where the checkpoint was saved.

When torch.save has written a file, the position of the training (how many steps it has made, in all and in each mode)
is noted under a name that is made from the file's content. When a later process loads that file before it trains, its
hook begins to count there.

In any captured run the note lies in the run itself (run_positions.py), and the file is written as the program writes
it. In a job, files in its checkpoint folder (TRAINWARDEN_CHECKPOINT_DIR) are written under another name first, so that
each is there whole or not at all, and the note lies beside them. A program that writes and reads in other ways calls
checkpoint_saved() and checkpoint_loaded().
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from typing import Any, Callable, Optional

from .. import faults
from .run_positions import MAX_NOTE_BYTES, RunPositions, content_id, note_of, position_in
from .run_positions import Position as Position  # others take it from here

_NOTES = ".trainwarden"
_MAX_NOTES = 200

_folder: Optional[str] = os.environ.get("TRAINWARDEN_CHECKPOINT_DIR") or None
_current: Callable[[], Optional[Position]] = lambda: None  # of the training of this process
_process = os.getpid()  # that trains
_loaded: Optional[Position] = None
_run: Optional[RunPositions] = None  # of the run that this process is captured in, or beside which


def keep_in(run: Optional[str]) -> None:
    """Where the run lies that this process is, or will be, captured in; None: that is not known, or is no folder.

    What was loaded for another run says nothing of this one.
    """
    global _run, _loaded
    _run = RunPositions(run) if run is not None else None
    _loaded = _loaded if _folder is not None else None


def follow(current: Callable[[], Optional[Position]]) -> None:
    """`current` gives where this process's training is; None when it has not begun."""
    global _current, _process
    _current, _process = current, os.getpid()


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


def save_ended(args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> None:
    """torch.save has written another file than a checkpoint of the job."""
    _note_in_run(args[1] if len(args) > 1 else kwargs.get("f"))


def loaded(args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> None:
    """torch.load has come to its end; where it was a checkpoint of the job or the run, its position is that of this process."""
    _see_loaded(args[0] if args else kwargs.get("f"))


def checkpoint_saved(path: str | os.PathLike[str]) -> None:
    """A checkpoint was written to `path`, a file, in another way than with torch.save. Call it when the file is whole.

    Does nothing where nothing is captured.
    """
    within = _path_within(path)
    if within is not None:
        _note(within)
    else:
        _note_in_run(path)


def checkpoint_loaded(path: str | os.PathLike[str]) -> None:
    """A checkpoint was read from `path` in another way than with torch.load. Call it before the training begins."""
    _see_loaded(path)


def _see_loaded(file: Any) -> None:
    path = _path_within(file)
    if path is not None:
        _take_up(path)
    else:
        _take_up_in_run(file)


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


@faults.guarded("note in the run where the training was when a checkpoint was saved")
def _note_in_run(file: Any) -> None:
    """What a forked child saves, as the cache of a loader's worker, is no state of the training."""
    if _run is None or _process != os.getpid() or not isinstance(file, (str, os.PathLike)):
        return
    position = _current()
    if position is not None:
        _run.note(os.fspath(file), position)


@faults.guarded("go on counting where a checkpoint of the run was saved")
def _take_up_in_run(file: Any) -> None:
    """What a training loads when it has begun is no state that it goes on from, but perhaps its best one."""
    global _loaded
    if _run is None or _current() is not None or not isinstance(file, (str, os.PathLike)):
        return
    position = _run.find(os.fspath(file))
    if position is not None:
        _loaded = position


@faults.guarded("note where the training was when a checkpoint was saved")
def _note(path: str) -> None:
    position = _current()
    if position is None:
        return
    note = _note_of(path)
    os.makedirs(os.path.dirname(note), exist_ok=True)
    partial = f"{note}.partial-{os.getpid()}"
    with open(partial, "w", encoding="utf-8") as file:
        file.write(note_of(position))
    os.replace(partial, note)
    _forget_old(os.path.dirname(note))


@faults.guarded("go on counting where a checkpoint was saved")
def _take_up(path: str) -> None:
    global _loaded
    try:
        with open(_note_of(path), encoding="utf-8") as file:
            note = json.loads(file.read(MAX_NOTE_BYTES))
    except FileNotFoundError:
        return  # it was not saved by a job of ours
    position = position_in(note)
    if position is None:
        raise ValueError(f"{_note_of(path)}: expected global_step and mode_steps")
    if _current() is not None:
        raise RuntimeError(f"{path} was loaded when the training had begun; its steps are counted on from there")
    _loaded = position


def _note_of(path: str) -> str:
    assert _folder is not None
    with open(path, "rb") as file:
        return os.path.join(os.path.abspath(_folder), _NOTES, content_id(file) + ".json")


def _forget_old(folder: str) -> None:
    notes = [entry for entry in os.scandir(folder) if entry.name.endswith(".json")]
    if len(notes) > _MAX_NOTES:
        for entry in sorted(notes, key=lambda each: each.stat().st_mtime)[: len(notes) - _MAX_NOTES]:
            _remove(entry.path)
