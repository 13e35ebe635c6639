"""One safetensors file a step."""

from __future__ import annotations

import os
from importlib.metadata import version as version_of
from pathlib import Path

import numpy as np
from safetensors import safe_open
from safetensors.numpy import load_file, save_file


def version() -> str:
    return f"safetensors {version_of('safetensors')}, a file a step"


def file_of(folder: Path, step: int) -> Path:
    return folder / f"step-{step:06d}.safetensors"


class Writer:
    def __init__(self, folder: Path) -> None:
        self._folder = folder
        folder.mkdir(parents=True)

    def write_step(self, step: int, tensors: list[tuple[str, np.ndarray]]) -> None:
        file = file_of(self._folder, step)
        part = file.with_suffix(".part")
        save_file(dict(tensors), part)
        os.rename(part, file)  # whole, for whoever looks

    def close(self) -> None:
        pass


class Reader:
    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._files = {int(file.stem[5:]): safe_open(file, "numpy") for file in sorted(folder.glob("*.safetensors"))}

    def names(self) -> list[str]:
        return list({name for file in self._files.values() for name in file.keys()})

    def steps(self) -> list[int]:
        return list(self._files)

    def tensor(self, name: str, steps: list[int]) -> list[np.ndarray]:
        return [self._files[step].get_tensor(name) for step in steps]

    def step(self, step: int, names: list[str]) -> dict[str, np.ndarray]:
        return load_file(file_of(self._folder, step))


class Follower:
    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def look(self, step: int, name: str) -> np.ndarray | None:
        file = file_of(self._folder, step)
        if not file.exists():
            return None
        with safe_open(file, "numpy") as opened:
            return opened.get_tensor(name)
