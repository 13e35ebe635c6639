"""WorkerNames: workers as smdebug names them."""

from __future__ import annotations

import re

import trainwarden

_RANK = re.compile(r"rank-(\d+)$")


class WorkerNames:
    """"rank-00003" of our runs is "worker_3"; workers of smdebug's runs keep their names."""

    def __init__(self, source: trainwarden.Trial):
        self._source = source
        self._core_names: dict[str, str] = {}

    def shown(self) -> list[str]:
        """Of all workers, sorted."""
        return sorted(self.shown_of(worker) for worker in self._source.workers)

    def shown_of(self, core_name: str) -> str:
        rank = _RANK.match(core_name)
        return f"worker_{int(rank.group(1))}" if rank else core_name

    def core_of(self, worker: str | None) -> str:
        """"" for None. A name that no worker has stays as it is."""
        if not worker:
            return ""
        if worker not in self._core_names:
            self._core_names = {self.shown_of(name): name for name in self._source.workers}
        return self._core_names.get(worker, worker)
