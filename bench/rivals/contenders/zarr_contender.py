"""Zarr, format 3: an array for each tensor, whose first dimension is the step, a chunk a step, not compressed."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import zarr


def version() -> str:
    return f"Zarr {zarr.__version__}"


class Writer:
    def __init__(self, folder: Path) -> None:
        self._group = zarr.create_group(str(folder), zarr_format=3)
        self._arrays: dict[str, zarr.Array] = {}

    def write_step(self, step: int, tensors: list[tuple[str, np.ndarray]]) -> None:
        for name, array in tensors:
            data = self._arrays.get(name)
            if data is None:
                layout = {"shape": (1, *array.shape), "chunks": (1, *array.shape)}
                data = self._group.create_array(name, dtype=array.dtype, compressors=None, **layout)
                self._arrays[name] = data
            elif data.shape[0] <= step:
                data.resize((step + 1, *array.shape))
            data[step] = array
        self._group.attrs["steps"] = step + 1

    def close(self) -> None:
        pass


class Reader:
    def __init__(self, folder: Path) -> None:
        self._group = zarr.open_group(str(folder), mode="r")

    def names(self) -> list[str]:
        return list(self._group.array_keys())

    def steps(self) -> list[int]:
        return list(range(self._group.attrs["steps"]))

    def tensor(self, name: str, steps: list[int]) -> list[np.ndarray]:
        data = self._group[name]
        return [np.asarray(data[step]) for step in steps]

    def step(self, step: int, names: list[str]) -> dict[str, np.ndarray]:
        return {name: np.asarray(self._group[name][step]) for name in names}


class Follower:
    def __init__(self, folder: Path) -> None:
        self._folder = str(folder)

    def look(self, step: int, name: str) -> np.ndarray | None:
        group = zarr.open_group(self._folder, mode="r")
        if group.attrs.get("steps", 0) <= step:
            return None
        return np.asarray(group[name][step])
