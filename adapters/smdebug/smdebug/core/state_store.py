"""StateStore: the step counts of a hook, kept beside the checkpoints, so that a continued training counts on."""

from __future__ import annotations

import json
import os
import secrets
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Optional

from . import config_constants
from .logger import get_logger
from .modes import ModeKeys


@dataclass(frozen=True)
class State:
    """Numbers of steps are those of the last one that was seen or saved."""

    training_run: int = 0  # how many times the training was gone on with
    last_saved_step: Optional[int] = None
    step: int = -1
    mode_steps: Mapping[ModeKeys, int] = field(default_factory=dict)

    @classmethod
    def from_record(cls, record: Mapping[str, Any]) -> State:
        """Raises KeyError, TypeError or ValueError when it is none."""
        mode_steps = {ModeKeys[mode]: int(step) for mode, step in record["latest-mode-step"].items()}
        saved = record["latest-global-step-saved"]
        last_saved_step = None if saved is None else int(saved)
        return cls(int(record["training-run"]), last_saved_step, int(record["latest-global-step-seen"]), mode_steps)

    def to_record(self) -> dict[str, Any]:
        return {
            "training-run": self.training_run,
            "latest-global-step-saved": self.last_saved_step,
            "latest-global-step-seen": self.step,
            "latest-mode-step": {mode.name: step for mode, step in self.mode_steps.items()},
        }


class StateStore:
    """The file metadata.json in the folder of the checkpoints: a list of states, one for each time that they changed.

    Without an argument the folder is the LocalPath of the file that CHECKPOINT_CONFIG_FILE_PATH names; without such a
    file there are no states. A file that cannot be read or written is logged once, and the training continues.
    """

    def __init__(self, folder: Optional[str] = None) -> None:
        self._folder = _configured_folder() if folder is None else folder
        self._records = self._read()
        self._checkpoints = self._look()
        self._complained = False

    def last(self) -> Optional[State]:
        """Of the step that is furthest; None when there is none yet."""
        try:
            states = [State.from_record(record) for record in self._records]
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            get_logger().warning("steps are counted from 0: %s holds no states: %r", self._path(), error)
            return None
        return max(states, key=lambda state: state.step, default=None)

    def update(self, state: State) -> None:
        """Adds the state when checkpoints were written since the last look."""
        if self.is_checkpoint_updated():
            self.update_state(state.to_record())

    # As smdebug's programs ask.

    def is_checkpoint_updated(self) -> bool:
        """Were checkpoints written since the last look?"""
        checkpoints = self._look()
        updated = bool(checkpoints) and checkpoints != self._checkpoints
        self._checkpoints = checkpoints
        return updated

    def get_last_saved_state(self) -> Optional[dict[str, Any]]:
        """The record of the step that is furthest; None when there is none yet."""
        last = self.last()
        return None if last is None else last.to_record()

    def update_state(self, ts_state: Mapping[str, Any]) -> None:
        """Adds the record to the file."""
        self._records.append(dict(ts_state))
        self._write()

    def _look(self) -> dict[str, tuple[int, int]]:
        """Size and time of each file in the folder, by its path."""
        found: dict[str, tuple[int, int]] = {}
        if self._folder is None:
            return found
        for folder, _, names in os.walk(self._folder):
            for name in names:
                if name.startswith(config_constants.METADATA_FILENAME) or "sagemaker-uploaded" in name:
                    continue
                path = os.path.join(folder, name)
                try:
                    status = os.stat(path)
                except OSError:
                    continue  # it is gone again
                found[path] = (status.st_size, status.st_mtime_ns)
        return found

    def _path(self) -> str:
        return os.path.join(self._folder or "", config_constants.METADATA_FILENAME)

    def _read(self) -> list[Any]:
        if self._folder is None:
            return []
        try:
            with open(self._path(), encoding="utf-8") as file:
                records = json.load(file)
        except FileNotFoundError:
            return []
        except (OSError, ValueError) as error:
            get_logger().warning("steps are counted from 0: %s cannot be read: %s", self._path(), error)
            return []
        return records if isinstance(records, list) else [records]

    def _write(self) -> None:
        if self._folder is None:
            return
        # Of no other process: those of containers that share a volume may have the same id.
        temporary = f"{self._path()}.{secrets.token_hex(16)}.tmp"
        try:
            with open(temporary, "w", encoding="utf-8") as file:
                json.dump(self._records, file)
            os.replace(temporary, self._path())
        except OSError as error:
            if not self._complained:
                get_logger().warning("where steps are counted to cannot be written to %s: %s", self._path(), error)
            self._complained = True


def _configured_folder() -> Optional[str]:
    path = (
        os.environ.get(config_constants.CHECKPOINT_CONFIG_FILE_PATH_ENV_VAR)
        or config_constants.DEFAULT_CHECKPOINT_CONFIG_FILE
    )
    try:
        with open(path, encoding="utf-8") as file:
            folder = json.load(file).get("LocalPath")
    except FileNotFoundError:
        return None
    except (OSError, ValueError, AttributeError) as error:
        get_logger().warning("steps are counted from 0: %s is no checkpoint configuration: %s", path, error)
        return None
    return str(folder) if folder else None
