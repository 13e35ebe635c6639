"""For the tests of the race: SQLite, whose values are not what was written."""

from __future__ import annotations

import numpy as np

from .sqlite_contender import Follower, Reader as SqliteReader, Writer

__all__ = ["Follower", "Reader", "Writer", "version"]


def version() -> str:
    return "broken"


class Reader(SqliteReader):
    def step(self, step: int, names: list[str]) -> dict[str, np.ndarray]:
        return {name: -array for name, array in super().step(step, names).items()}
