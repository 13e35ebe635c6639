"""The process of a contender in Python. It loads the contender once, and a child of it does each piece of work.

    python arm.py CONTENDER POOL

A line of JSON on stdin asks: {"work": "write" | "read" | "live-write" | "live-read", "load": NAME, "folder": PATH,
"tiny": BOOL}. A line of JSON answers; what is live has further lines (see below). So neither start-up nor imports are
measured, and no piece of work finds what the one before has left in memory.
"""

from __future__ import annotations

import ctypes
import gc
import importlib
import json
import os
import sys
import time
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from loads import Load, Pool, all_loads, folder_bytes, tiny_loads

LIBC = ctypes.CDLL(None, use_errno=True)
POLL_SECONDS = 0.0005  # between two looks at a run that is being written
LIVE_SECONDS = 60.0  # after which a step that nobody saw is an error


def read_line() -> str:
    """A line of stdin, without taking more: parent and children read in turn."""
    line = bytearray()
    while not line.endswith(b"\n"):
        byte = os.read(0, 1)
        if not byte:
            return ""
        line += byte
    return line.decode()


def say(answer: dict[str, Any]) -> None:
    os.write(1, (json.dumps(answer) + "\n").encode())


def timed(work: Callable[[], Any]) -> tuple[int, Any]:
    begin = time.perf_counter_ns()
    result = work()
    return time.perf_counter_ns() - begin, result


def sync_file_system(folder: Path) -> None:
    """Everything that was written there is on the medium."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        if LIBC.syncfs(descriptor) != 0:
            raise OSError(ctypes.get_errno(), "syncfs")
    finally:
        os.close(descriptor)


def touch(array: np.ndarray) -> None:
    """A number of each page: what is only promised has to be there."""
    if array.size:
        array.reshape(-1)[::1024].sum()


def must_equal(found: Any, expected: np.ndarray, what: str) -> None:
    found = np.asarray(found)
    if found.shape != expected.shape or found.dtype != expected.dtype or found.tobytes() != expected.tobytes():
        raise ValueError(f"{what} was not read as it was written ({found.dtype} {found.shape})")


def write(module: Any, load: Load, pool: Pool, folder: Path) -> dict[str, Any]:
    steps = [list(pool.step(load, step)) for step in range(load.steps)]

    def work() -> None:
        writer = module.Writer(folder)
        for step, tensors in enumerate(steps):
            writer.write_step(step, tensors)
        writer.close()

    ns, _ = timed(work)
    synced, _ = timed(lambda: sync_file_system(folder))
    return {"write": ns, "synced": ns + synced, "bytes": folder_bytes(folder)}


def read(module: Any, load: Load, pool: Pool, folder: Path) -> dict[str, Any]:
    last = load.steps - 1

    def listed() -> tuple[list[str], list[int]]:
        names, steps = reader.names(), reader.steps()
        return sorted(names), sorted(steps)

    def tensor() -> list[np.ndarray]:
        arrays = reader.tensor(load.middle, list(range(load.steps)))
        for array in arrays:
            touch(array)
        return arrays

    def step() -> dict[str, np.ndarray]:
        arrays = reader.step(last, [tensor.name for tensor in load.tensors])
        for array in arrays.values():
            touch(array)
        return arrays

    open_ns, reader = timed(lambda: module.Reader(folder))
    list_ns, (names, steps) = timed(listed)
    tensor_ns, arrays = timed(tensor)
    step_ns, of_step = timed(step)
    if names != sorted(tensor.name for tensor in load.tensors) or steps != list(range(load.steps)):
        raise ValueError(f"lists {len(names)} names and {len(steps)} steps, of {len(load.tensors)} and {load.steps}")
    middle = next(tensor for tensor in load.tensors if tensor.name == load.middle)
    for number, array in enumerate(arrays):
        must_equal(array, pool.tensor(load, middle, number), f"{load.middle} at step {number}")
    for name, expected in pool.step(load, last):
        must_equal(of_step[name], expected, f"{name} at step {last}")
    return {"open": open_ns, "list": list_ns, "tensor": tensor_ns, "step": step_ns}


def live_write(module: Any, load: Load, pool: Pool, folder: Path) -> dict[str, Any]:
    """Each line on stdin asks for a step; {"begin", "end"} says when it was begun and when it was handed over."""
    writer = getattr(module, "LiveWriter", module.Writer)(folder)
    for step in range(load.steps):
        tensors = list(pool.step(load, step))
        read_line()
        begin = time.monotonic_ns()
        writer.write_step(step, tensors)
        if step == 0 and hasattr(writer, "first_step_done"):
            writer.first_step_done()
        say({"begin": begin, "end": time.monotonic_ns()})
    read_line()
    writer.close()
    return {}


def live_read(module: Any, load: Load, pool: Pool, folder: Path) -> dict[str, Any]:
    """Says {"ready": STEP} before it waits for a step, and {"seen": TIME} when it has the step's last tensor."""
    last = load.tensors[-1]
    follower = module.Follower(folder)
    for step in range(load.steps):
        say({"ready": step})
        end = time.monotonic() + LIVE_SECONDS
        while (array := follower.look(step, last.name)) is None:
            if time.monotonic() > end:
                raise TimeoutError(f"step {step} was not seen within {LIVE_SECONDS:.0f} s")
            time.sleep(POLL_SECONDS)
        touch(array)
        seen = time.monotonic_ns()
        must_equal(array, pool.tensor(load, last, step), f"{last.name} at step {step}, live")
        say({"seen": seen})
    return {}


WORK = {"write": write, "read": read, "live-write": live_write, "live-read": live_read}


def child(module: Any, pool_path: Path, request: dict[str, Any]) -> None:
    try:
        loads = tiny_loads() if request["tiny"] else all_loads()
        pool = Pool(pool_path)
        gc.disable()  # a collection of garbage belongs to no contender
        answer = WORK[request["work"]](module, loads[request["load"]], pool, Path(request["folder"]))
        say({"done": answer})
    except Exception as error:  # the race reports it and goes on with the others
        traceback.print_exc()
        say({"error": f"{type(error).__name__}: {error}"})


def main(contender: str, pool_path: str) -> None:
    output = os.dup(1)
    os.dup2(2, 1)  # what libraries print is no answer
    try:
        module = importlib.import_module(f"contenders.{contender}_contender")
        os.dup2(output, 1)
        say({"version": module.version()})
    except Exception as error:
        os.dup2(output, 1)
        say({"error": f"{type(error).__name__}: {error}"})
        return
    while line := read_line():
        pid = os.fork()
        if pid == 0:
            child(module, Path(pool_path), json.loads(line))
            os._exit(0)
        _, status = os.waitpid(pid, 0)
        if status != 0:
            say({"error": f"its process ended with status {status}"})


if __name__ == "__main__":
    main(*sys.argv[1:])
