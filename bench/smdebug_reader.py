"""Opens a run through the package `smdebug`, whichever one this Python has, and says how long that took.

    python smdebug_reader.py RUN RESULT [TENSOR]

RESULT gets a line with the nanoseconds of opening (with its lists of tensors and steps), the nanoseconds of reading
TENSOR at all of its steps, and the process's peak memory in KiB; behind it what was read: names, steps, and the bytes
of each value. smdebug_reader.cc does the same in C++.
"""

from __future__ import annotations

import resource
import sys
import time
from typing import Any

from smdebug.trials import create_trial


def read_values(trial: Any, tensor: str) -> list[Any]:
    """The array at each step."""
    found = trial.tensor(tensor)
    return [found.value(step) for step in found.steps()]


def main(run: str, result: str, tensor: str = "") -> None:
    """Writes the file `result`."""
    start = time.perf_counter_ns()
    trial = create_trial(run)
    names = sorted(trial.tensor_names())
    steps = trial.steps()
    opened = time.perf_counter_ns()
    values = read_values(trial, tensor) if tensor else []
    done = time.perf_counter_ns()
    peak_kib = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with open(result, "w", encoding="utf-8") as file:
        print(opened - start, done - opened, peak_kib, file=file)
        print(*names, file=file)
        print(*steps, file=file)
        for value in values:
            print(value.dtype, *value.shape, value.tobytes().hex(), file=file)


if __name__ == "__main__":
    main(*sys.argv[1:])
