"""Running names: of what the modules of a model take and give, numbered through a step."""

from __future__ import annotations


class RunningNames:
    """`conv1_output_0`, `_1`, ...: the index of a name runs on through a step."""

    def __init__(self) -> None:
        self._counts: dict[str, int] = {}
        self._names: dict[str, list[str]] = {}

    def begin_step(self) -> None:
        self._counts.clear()

    def next(self, stem: str) -> str:
        index = self._counts.get(stem, 0)
        self._counts[stem] = index + 1
        names = self._names.setdefault(stem, [])
        while index >= len(names):
            names.append(f"{stem}{len(names)}")
        return names[index]
