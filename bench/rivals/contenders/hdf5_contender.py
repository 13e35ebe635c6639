"""HDF5 by h5py: a group for each step, a contiguous dataset for each tensor in it.

A file that is read while it is written (SWMR) may get no new datasets. So the run that is followed has a dataset for
each tensor, made with the first step, whose first dimension grows by the step.
"""

from __future__ import annotations

from pathlib import Path

import h5py
import numpy as np


def version() -> str:
    return f"HDF5 {h5py.version.hdf5_version}, h5py {h5py.__version__}"


def group_of(step: int) -> str:
    return f"step-{step:06d}"


class Writer:
    def __init__(self, folder: Path) -> None:
        folder.mkdir(parents=True)
        self._file = h5py.File(folder / "run.h5", "w", libver="latest")

    def write_step(self, step: int, tensors: list[tuple[str, np.ndarray]]) -> None:
        group = self._file.create_group(group_of(step))
        for name, array in tensors:
            group.create_dataset(name, data=array)

    def close(self) -> None:
        self._file.close()


class Reader:
    def __init__(self, folder: Path) -> None:
        self._file = h5py.File(folder / "run.h5", "r", libver="latest")

    def names(self) -> list[str]:
        return list({name for step in self._file.values() for name in step})

    def steps(self) -> list[int]:
        return [int(name[5:]) for name in self._file]

    def tensor(self, name: str, steps: list[int]) -> list[np.ndarray]:
        return [self._file[group_of(step)][name][()] for step in steps]

    def step(self, step: int, names: list[str]) -> dict[str, np.ndarray]:
        group = self._file[group_of(step)]
        return {name: group[name][()] for name in names}


class LiveWriter:
    def __init__(self, folder: Path) -> None:
        folder.mkdir(parents=True)
        self._file = h5py.File(folder / "run.h5", "w", libver="latest")

    def write_step(self, step: int, tensors: list[tuple[str, np.ndarray]]) -> None:
        if step == 0:
            self._file.create_dataset("steps", shape=(0,), maxshape=(None,), dtype="i8", chunks=(64,))
            for name, array in tensors:
                layout = {"maxshape": (None, *array.shape), "chunks": (1, *array.shape)}
                self._file.create_dataset(name, shape=(0, *array.shape), dtype=array.dtype, **layout)
            self._file.swmr_mode = True
        for name, array in tensors:
            data = self._file[name]
            data.resize(step + 1, axis=0)
            data[step] = array
            data.flush()
        steps = self._file["steps"]
        steps.resize(step + 1, axis=0)
        steps[step] = step
        steps.flush()

    def close(self) -> None:
        self._file.close()


class Follower:
    def __init__(self, folder: Path) -> None:
        self._file = h5py.File(folder / "run.h5", "r", libver="latest", swmr=True)

    def look(self, step: int, name: str) -> np.ndarray | None:
        steps = self._file["steps"]
        steps.refresh()
        if steps.shape[0] <= step:
            return None
        data = self._file[name]
        data.refresh()
        return data[step] if data.shape[0] > step else None
