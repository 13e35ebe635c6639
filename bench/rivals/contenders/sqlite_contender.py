"""SQLite: a table of blobs by step and name, a transaction a step."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import numpy as np


def version() -> str:
    return f"SQLite {sqlite3.sqlite_version}, blobs"


def shape_text(array: np.ndarray) -> str:
    return ",".join(map(str, array.shape))


def array_of(shape: str, data: bytes) -> np.ndarray:
    return np.frombuffer(data, dtype=np.float32).reshape([int(side) for side in shape.split(",")])


class Writer:
    def __init__(self, folder: Path) -> None:
        folder.mkdir(parents=True)
        self._base = sqlite3.connect(folder / "run.sqlite", isolation_level=None)
        self._base.execute("PRAGMA journal_mode=WAL")  # so that it can be read meanwhile
        self._base.execute("PRAGMA synchronous=OFF")
        self._base.execute("CREATE TABLE name (id INTEGER PRIMARY KEY, name TEXT UNIQUE, shape TEXT)")
        self._base.execute("CREATE TABLE tensor (name INTEGER, step INTEGER, data BLOB, PRIMARY KEY (name, step))")
        self._base.execute("CREATE TABLE step (step INTEGER PRIMARY KEY)")
        self._ids: dict[str, int] = {}

    def _id(self, name: str, array: np.ndarray) -> int:
        number = self._ids.get(name)
        if number is None:
            number = self._ids[name] = len(self._ids)
            self._base.execute("INSERT INTO name VALUES (?, ?, ?)", (number, name, shape_text(array)))
        return number

    def write_step(self, step: int, tensors: list[tuple[str, np.ndarray]]) -> None:
        self._base.execute("BEGIN")
        for name, array in tensors:
            self._base.execute("INSERT INTO tensor VALUES (?, ?, ?)", (self._id(name, array), step, array.data))
        self._base.execute("INSERT INTO step VALUES (?)", (step,))
        self._base.execute("COMMIT")

    def close(self) -> None:
        self._base.close()


class Reader:
    def __init__(self, folder: Path) -> None:
        self._base = sqlite3.connect(f"file:{folder / 'run.sqlite'}?mode=ro", uri=True)

    def names(self) -> list[str]:
        return [name for (name,) in self._base.execute("SELECT name FROM name")]

    def steps(self) -> list[int]:
        return [step for (step,) in self._base.execute("SELECT step FROM step")]

    def tensor(self, name: str, steps: list[int]) -> list[np.ndarray]:
        rows = self._base.execute(
            "SELECT shape, data FROM tensor JOIN name ON id = tensor.name WHERE name.name = ? ORDER BY step", (name,)
        )
        return [array_of(*row) for row in rows]

    def step(self, step: int, names: list[str]) -> dict[str, np.ndarray]:
        rows = self._base.execute(
            "SELECT name.name, shape, data FROM name CROSS JOIN tensor ON tensor.name = id AND step = ?", (step,)
        )
        return {name: array_of(shape, data) for name, shape, data in rows}


class Follower(Reader):
    def look(self, step: int, name: str) -> np.ndarray | None:
        row = self._base.execute(
            "SELECT shape, data FROM tensor JOIN name ON id = tensor.name WHERE name.name = ? AND step = ?", (name, step)
        ).fetchone()
        return None if row is None else array_of(*row)
