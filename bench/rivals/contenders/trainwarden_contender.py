"""Our package, as users have it."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from trainwarden import Hook, __version__
from trainwarden import open as open_run  # by name: the package imports what is asked for when it is asked for


def version() -> str:
    return f"trainwarden {__version__}, Python"


class Writer:
    def __init__(self, folder: Path) -> None:
        self._hook = Hook(folder, save_all=True, save=1, when_full="block")

    def write_step(self, step: int, tensors: list[tuple[str, np.ndarray]]) -> None:
        for name, array in tensors:
            self._hook.save_tensor(name, array)
        self._hook.step()

    def close(self) -> None:
        self._hook.close()
        if losses := self._hook.report().losses:
            raise RuntimeError(f"the hook lost tensors: {losses}")


class Reader:
    def __init__(self, folder: Path) -> None:
        self._trial = open_run(folder)

    def names(self) -> list[str]:
        return self._trial.tensor_names()

    def steps(self) -> list[int]:
        return self._trial.steps()

    def tensor(self, name: str, steps: list[int]) -> list[np.ndarray]:
        return [self._trial.value(name, step) for step in steps]

    def step(self, step: int, names: list[str]) -> dict[str, np.ndarray]:
        return {name: self._trial.value(name, step) for name in names}


class Follower:
    def __init__(self, folder: Path) -> None:
        self._trial = open_run(folder)

    def look(self, step: int, name: str) -> np.ndarray | None:
        self._trial.refresh()
        return self._trial.value(name, step) if self._trial.last_complete_step >= step else None
