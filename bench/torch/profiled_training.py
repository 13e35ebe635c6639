"""The training of training.py in small blocks, with a profiler of others in its process, as its parent asks for.

    profiled_training.py PROGRAM off|torch_profiler|psutil

torch_profiler: `torch.profiler` over the steps 5 to 15, without shapes, as its documents schedule it. psutil: a thread
that reads the machine, the disks, the networks and this process ten times a second.
"""

from __future__ import annotations

import sys
import threading
import time
from typing import Any

import torch
from torch import nn
from training import PROGRAMS


def read_machine(every_s: float) -> None:
    import psutil

    process = psutil.Process()
    read: Any = None
    while True:
        read = (
            psutil.cpu_times(percpu=True), psutil.virtual_memory(), psutil.disk_io_counters(), psutil.net_io_counters(),
            process.cpu_times(), process.memory_info(), process.num_threads(),
        )  # fmt: skip
        time.sleep(every_s)


def main() -> None:
    torch.manual_seed(1)
    torch.set_num_threads(1)
    model, data, target = PROGRAMS[sys.argv[1]]()
    criterion = nn.CrossEntropyLoss()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    profiler = None
    if sys.argv[2] == "torch_profiler":
        schedule = torch.profiler.schedule(wait=3, warmup=1, active=11, repeat=1)
        profiler = torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU], schedule=schedule)
        profiler.start()
    elif sys.argv[2] == "psutil":
        threading.Thread(target=read_machine, args=(0.1,), daemon=True).start()
    for line in sys.stdin:
        begin = time.perf_counter_ns()
        for _ in range(int(line)):
            optimizer.zero_grad()
            criterion(model(data), target).backward()
            optimizer.step()
            if profiler is not None:
                profiler.step()
        print(time.perf_counter_ns() - begin, flush=True)


if __name__ == "__main__":
    main()
