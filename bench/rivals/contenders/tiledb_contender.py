"""TileDB: one sparse array of a run, by step and name, with the bytes of each tensor; a step is a fragment.

An array for each tensor, written step by step, would be ten times as slow for many small tensors.
"""

from __future__ import annotations

import warnings
from pathlib import Path

import numpy as np
import tiledb

warnings.filterwarnings("ignore")


def version() -> str:
    return f"TileDB {'.'.join(map(str, tiledb.libtiledb.version()))}"


class Writer:
    def __init__(self, folder: Path) -> None:
        folder.parent.mkdir(parents=True, exist_ok=True)
        self._place = str(folder)
        domain = tiledb.Domain(
            tiledb.Dim(name="step", domain=(0, 1 << 40), tile=1, dtype=np.int64),
            tiledb.Dim(name="name", domain=(None, None), tile=None, dtype="ascii"),
        )
        # The shape is kept beside the values, which are bytes of any number.
        attributes = [tiledb.Attr(name="shape", dtype="ascii", var=True), tiledb.Attr(name="data", dtype=bytes, var=True)]
        tiledb.Array.create(self._place, tiledb.ArraySchema(domain=domain, attrs=attributes, sparse=True, capacity=64))

    def write_step(self, step: int, tensors: list[tuple[str, np.ndarray]]) -> None:
        names = np.array([name for name, _ in tensors], dtype="S")
        shapes = np.array([",".join(map(str, array.shape)) for _, array in tensors], dtype="O")
        data = np.empty(len(tensors), dtype="O")
        data[:] = [array.tobytes() for _, array in tensors]
        with tiledb.open(self._place, "w") as array:
            array[np.full(len(tensors), step, dtype=np.int64), names] = {"shape": shapes, "data": data}

    def close(self) -> None:
        pass


def array_of(shape: bytes | str, data: bytes) -> np.ndarray:
    shape = shape.decode() if isinstance(shape, bytes) else shape
    return np.frombuffer(data, dtype=np.float32).reshape([int(side) for side in shape.split(",")])


class Reader:
    def __init__(self, folder: Path) -> None:
        self._array = tiledb.open(str(folder))

    def names(self) -> list[str]:
        first = self._array.query(dims=["name"], attrs=[])[0, :]
        return [name.decode() for name in first["name"]]

    def steps(self) -> list[int]:
        low, high = self._array.nonempty_domain()[0]
        return list(range(int(low), int(high) + 1))

    def tensor(self, name: str, steps: list[int]) -> list[np.ndarray]:
        found = self._array.multi_index[steps[0] : steps[-1], name]
        by_step = {int(step): i for i, step in enumerate(found["step"])}
        return [array_of(found["shape"][by_step[step]], found["data"][by_step[step]]) for step in steps]

    def step(self, step: int, names: list[str]) -> dict[str, np.ndarray]:
        found = self._array[step, :]
        return {
            name.decode(): array_of(shape, data)
            for name, shape, data in zip(found["name"], found["shape"], found["data"])
        }


class Follower:
    def __init__(self, folder: Path) -> None:
        self._place = str(folder)

    def look(self, step: int, name: str) -> np.ndarray | None:
        with tiledb.open(self._place) as array:
            domain = array.nonempty_domain()
            if domain is None or int(domain[0][1]) < step:
                return None
            found = array.multi_index[step, name]
            return array_of(found["shape"][0], found["data"][0])
