"""Loader queue: how many batches the workers of a data loader have ready when the training thread asks for one."""

from __future__ import annotations

from typing import Any, NamedTuple, Optional


class Queue(NamedTuple):
    ready: int  # batches that workers have finished
    outstanding: int  # that workers were asked for, with these


def look(iterator: Any) -> Optional[Queue]:
    """Costs about a microsecond. None: it has no workers, or this version of PyTorch keeps them otherwise."""
    try:
        outstanding = iterator._tasks_outstanding
        early = sum(len(task) > 1 for task in iterator._task_info.values())  # came before its turn
        results = iterator._worker_result_queue
        ready = early + results.qsize()
        if iterator._data_queue is not results:  # a thread copies them to pinned memory first
            ready += iterator._data_queue.qsize()
        return Queue(min(ready, outstanding), outstanding)
    except (AttributeError, TypeError, NotImplementedError, OSError):  # the system may not count
        return None
